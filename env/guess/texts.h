/*
 * Every piece of text that the word game writes. The writers and the phrase list (phrases.c) both
 * take it from here, so a tokenizer that knows the phrases reads a whole game in few tokens.
 *
 * Rules for a new piece: what varies (letters, numbers) stands between pieces, never inside; a list
 * item begins with its space, so that the text before it can end in a colon.
 */
#ifndef GG_ENV_GUESS_TEXTS_H
#define GG_ENV_GUESS_TEXTS_H

#define T_TOOL_NAME "guess_word"
#define T_ARGUMENT  "guess"

/* The tool, as JSON: OPEN length MIDDLE. */
#define T_TOOL_OPEN                                                                                \
    "[{\"type\":\"function\",\"function\":{\"name\":\"" T_TOOL_NAME                                \
    "\",\"description\":\"Plays one guess and returns the marks of its letters and what is known " \
    "so far.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"" T_ARGUMENT                  \
    "\":{\"type\":\"string\",\"description\":\"One English word of exactly "
#define T_TOOL_CLOSE " letters, a-z.\"}},\"required\":[\"" T_ARGUMENT "\"]}}}]"
/* A call's arguments as the policies write them: OPEN word CLOSE. */
#define T_ARGUMENTS_OPEN  "{\"" T_ARGUMENT "\":\""
#define T_ARGUMENTS_CLOSE "\"}"

/* System prompt, in this order; numbers between. */
#define T_SYSTEM_ROLE  "You are playing a word game: find one hidden English word of "
#define T_SYSTEM_TRIES " letters in at most "
#define T_SYSTEM_TOOL                                                                              \
    " guesses.\n\nRules:\n- Guess by calling the tool " T_TOOL_NAME " with one word of "
#define T_SYSTEM_MARKS                                                                             \
    " letters, a to z.\n- Every letter of a guess is marked. green: the right letter in the "      \
    "right "                                                                                       \
    "place. yellow: the letter is in the hidden word, but at another place. grey: no further "     \
    "copy "                                                                                        \
    "of that letter is in the hidden word, beyond those marked green or yellow.\n"
#define T_SYSTEM_PLAY                                                                              \
    "- A guess that is not in the game's word list is played all the same and uses a guess.\n"
#define T_SYSTEM_REJECT                                                                            \
    "- A guess that is not in the game's word list is refused and uses no guess.\n"
#define T_SYSTEM_REPEAT "- Guessing a word a second time uses a guess.\n"
#define T_SYSTEM_HARD                                                                              \
    "- Hard mode: green letters must stay at their places and yellow letters must be used again; " \
    "a guess that ignores such a hint is refused and uses no guess.\n"
#define T_SYSTEM_MALFORMED "- Anything that is not "
#define T_SYSTEM_CALLS                                                                             \
    " letters a to z is refused and uses no guess.\n- The game ends after the last guess, or "     \
    "unsolved after "
#define T_SYSTEM_ADVICE                                                                            \
    " calls of the tool, refused ones included.\n\nAdvice:\n- Open with different, common "        \
    "letters.\n- Keep green letters, move yellow ones, use no letter more often than the marks "   \
    "allow, and try new letters at the open places.\n- Do not repeat a word.\n\nCall the tool at " \
    "once, with one short sentence before it at most and without lists of candidates. When the "   \
    "game is over, stop with one short sentence."

/* Opening message when the row brings none. */
#define T_OPENING_OPEN  "Guess the "
#define T_OPENING_CLOSE "-letter word"

/* Feedback of a guess: NUMBER, marks, then one of the endings. */
#define T_GUESS_OPEN   "Guess "
#define T_GUESS_CLOSE  ":"
#define T_GREEN        "=green"
#define T_YELLOW       "=yellow"
#define T_GREY         "=grey"
#define T_KNOWN_PLACES "\nCurrent knowledge:\n- Right places:"
#define T_KNOWN_YELLOW "\n- In the word, place still open (least number of copies):"
#define T_KNOWN_GREY   "\n- No further copies of:"
#define T_KNOWN_WORDS  "\n- Words guessed:"
#define T_KNOWN_LEFT   "\n- Guesses left: "
#define T_BLANK        " _"
/* Spelled out, the places would be the hidden word. */
#define T_ALL_PLACES " all known, by green letters of different guesses"
#define T_NOTHING    " -"
#define T_AT_LEAST   ">="
#define T_SOLVED     "\nSolved. The game is over."
#define T_LOST_OPEN  "\nNo guesses left. The hidden word was "
#define T_LOST_CLOSE ". The game is over."
#define T_REPEATED   "You have guessed this word before; it uses a guess all the same.\n"
#define T_UNLISTED   "This word is not in the word list; it is played all the same.\n"
#define T_OVER       "The game is over and nothing was played. Do not call the tool again."

/* Refusals: what was wrong, then GUESSES_LEFT. */
#define T_BAD_OPEN    "Not a guess: "
#define T_BAD_TOOL    "the only tool is " T_TOOL_NAME "."
#define T_BAD_MISSING "the argument " T_ARGUMENT " is missing."
#define T_BAD_TYPE    "the argument " T_ARGUMENT " must be a string."
#define T_BAD_EMPTY   "it is empty."
#define T_BAD_LENGTH  "its number of letters is "
#define T_BAD_LONG    "it is far too long."
#define T_BAD_CHAR    "only the letters a to z may stand in it, not "
#define T_BAD_BYTES   "it is not valid UTF-8 text."
#define T_BAD_STOP    "."
#define T_BAD_WANTED  " Call " T_TOOL_NAME " with one word of "
#define T_BAD_CLOSE   " letters, a to z. No guess was used."
#define T_NOT_LISTED  "Refused: this word is not in the game's word list. No guess was used."
#define T_HARD_GREEN  "Refused by hard mode: a known green letter must stay at its place:"
#define T_HARD_YELLOW "Refused by hard mode: a known yellow letter must be used again:"
#define T_HARD_CLOSE  ". No guess was used."

#endif
