#include "env/guess/guess.h"
#include "env/guess/texts.h"

/* clang-format off */
#define LETTERS(X)                                                                                 \
    X("a") X("b") X("c") X("d") X("e") X("f") X("g") X("h") X("i") X("j") X("k") X("l") X("m")     \
    X("n") X("o") X("p") X("q") X("r") X("s") X("t") X("u") X("v") X("w") X("x") X("y") X("z")

/* GG_GUESSES_MAX of them. */
#define NUMBERS(X)                                                                                 \
    X("1") X("2") X("3") X("4") X("5") X("6") X("7") X("8") X("9") X("10") X("11") X("12")         \
    X("13") X("14") X("15") X("16") X("17") X("18") X("19") X("20") X("21") X("22") X("23")        \
    X("24") X("25") X("26") X("27") X("28") X("29") X("30") X("31") X("32")
/* clang-format on */

/* Least numbers of copies beyond three are rare enough to be spelled out. */
#define OF_LETTER(l)                                                                               \
    " " l, " " l T_GREEN, " " l T_YELLOW, " " l T_GREY, " " l T_AT_LEAST "1",                      \
        " " l T_AT_LEAST "2", " " l T_AT_LEAST "3",
#define OF_NUMBER(n) T_GUESS_OPEN n T_GUESS_CLOSE, T_KNOWN_LEFT n,

#define BLANK_2  T_BLANK T_BLANK
#define BLANK_3  BLANK_2 T_BLANK
#define BLANK_4  BLANK_2 BLANK_2
#define BLANK_5  BLANK_4 T_BLANK
#define BLANK_6  BLANK_4 BLANK_2
#define BLANK_7  BLANK_4 BLANK_3
#define BLANK_8  BLANK_4 BLANK_4
#define BLANK_9  BLANK_8 T_BLANK
#define BLANK_10 BLANK_8 BLANK_2
#define BLANK_11 BLANK_8 BLANK_3
#define BLANK_12 BLANK_8 BLANK_4

/* clang-format off */
static const char *const phrases[] = {
    LETTERS(OF_LETTER)
    NUMBERS(OF_NUMBER)
    T_BLANK, BLANK_2, BLANK_3, BLANK_4, BLANK_5, BLANK_6, BLANK_7, BLANK_8, BLANK_9, BLANK_10,
    BLANK_11, BLANK_12,
    T_KNOWN_PLACES, T_KNOWN_YELLOW, T_KNOWN_GREY, T_KNOWN_WORDS, T_KNOWN_LEFT, T_NOTHING, T_ALL_PLACES,
    /* An empty list and the next heading in one. */
    T_KNOWN_YELLOW T_NOTHING, T_KNOWN_GREY T_NOTHING, T_KNOWN_YELLOW T_NOTHING T_KNOWN_GREY,
    T_SOLVED, T_LOST_OPEN, T_LOST_CLOSE, T_KNOWN_LEFT "0",
    T_REPEATED, T_UNLISTED, T_OVER,
    T_TOOL_NAME, T_TOOL_OPEN, T_TOOL_CLOSE, T_ARGUMENTS_OPEN, T_ARGUMENTS_CLOSE,
    T_SYSTEM_ROLE, T_SYSTEM_TRIES, T_SYSTEM_TOOL, T_SYSTEM_MARKS, T_SYSTEM_PLAY, T_SYSTEM_REJECT,
    T_SYSTEM_REPEAT, T_SYSTEM_HARD, T_SYSTEM_MALFORMED, T_SYSTEM_CALLS, T_SYSTEM_ADVICE,
    /* Both rules stand in every prompt of one setting. */
    T_SYSTEM_PLAY T_SYSTEM_REPEAT T_SYSTEM_MALFORMED,
    T_SYSTEM_REJECT T_SYSTEM_REPEAT T_SYSTEM_MALFORMED,
    T_OPENING_OPEN, T_OPENING_CLOSE,
    T_BAD_OPEN, T_BAD_TOOL, T_BAD_MISSING, T_BAD_TYPE, T_BAD_EMPTY, T_BAD_LENGTH, T_BAD_LONG,
    T_BAD_CHAR, T_BAD_BYTES, T_BAD_STOP T_BAD_WANTED, T_BAD_WANTED, T_BAD_CLOSE, T_NOT_LISTED,
    T_HARD_GREEN, T_HARD_YELLOW, T_HARD_CLOSE,
};
/* clang-format on */

const char *const *gg_guess_phrases(size_t *count)
{
    *count = sizeof phrases / sizeof *phrases;
    return phrases;
}
