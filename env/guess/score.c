/* Pure functions of a finished record: measure, parts, labels. All read the facts of its calls. */
#include "env/guess/game.h"

#include <math.h>
#include <string.h>

#include "core/json.h"
#include "env/guess/tutorial.h"

enum part {
    SPEED,
    GREENS,
    YELLOWS,
    NEW_GREENS,
    NEW_YELLOWS,
    NEW_LETTERS,
    PLACES,
    LETTERS,
    NARROWED,
    GREENS_DROPPED,
    YELLOWS_MISSING,
    GREYS_USED,
    HINTS_IGNORED,
    REPEATS,
    UNLISTED,
    REFUSED,
    MALFORMED,
    TUTORIAL,
    TUTORIAL_POINTS,
    TUTORIAL_BONUS,
    TUTORIAL_CHARGES,
    PARTS
};
_Static_assert(PARTS == GG_GUESS_PARTS, "the table has one row a part");

const gg_part_info gg_guess_part_table[GG_GUESS_PARTS] = {
    [SPEED] = {"speed", "solved with guess n of N: (N-n)/(N-1), so 1 at once, 0 with the last; "
                        "unsolved 0"},
    [GREENS] = {"greens", "green letters of the best guess, as a share of the word"},
    [YELLOWS] = {"yellows", "yellow letters of the guess that had most, as a share of the word"},
    [NEW_GREENS] = {"new_greens", "places found, each counted when it was first known"},
    [NEW_YELLOWS] = {"new_yellows", "copies of letters found before their place was known"},
    [NEW_LETTERS] = {"new_letters", "letters tried for the first time, summed over the guesses"},
    [PLACES] = {"places", "places known at the end, as a share of the word"},
    [LETTERS] = {"letters", "letters known at the end whose place is not, as a share of the word"},
    [NARROWED] = {"narrowed", "share of the bits learned: log(N/left)/log(N), N answers in all, "
                              "left those that fit at the end"},
    [GREENS_DROPPED] = {"greens_dropped", "known green places without their letter, summed"},
    [YELLOWS_MISSING] = {"yellows_missing", "known yellow letters left out, summed"},
    [GREYS_USED] = {"greys_used", "letters used more often than the marks allow, summed"},
    [HINTS_IGNORED] = {"hints_ignored", "greens_dropped + yellows_missing + greys_used"},
    [REPEATS] = {"repeats", "guesses that were played before"},
    [UNLISTED] = {"unlisted", "guesses outside the allowed list, played or refused"},
    [REFUSED] = {"refused", "well-formed guesses refused by --hard or --unlisted reject"},
    [MALFORMED] = {"malformed", "calls whose guess was no word of the right form"},
    [TUTORIAL] = {"tutorial", "the reward of the managed service's tutorial, -1.5 to 1.59"},
    [TUTORIAL_POINTS] = {"tutorial_points", "its shaping points: bonus less charges"},
    [TUTORIAL_BONUS] = {"tutorial_bonus", "its points for guesses, opening, new letters, answers "
                                          "ruled out"},
    [TUTORIAL_CHARGES] = {"tutorial_charges", "its points against ignored hints, repeats, time "
                                              "and form"},
};

/* What a fact adds to the parts. */
typedef enum fact_kind {
    ADD_NUMBER, /* its number */
    ADD_TRUE,   /* 1 when true */
    ADD_FALSE,  /* 1 when false */
    ADD_ANY,    /* 1 when it is there */
    MARKS,
    BEFORE,
    AFTER
} fact_kind;

#define TEXT(literal) literal, sizeof(literal) - 1

static const struct {
    const char *name;
    size_t len;
    fact_kind kind;
    enum part part;
} facts[] = {
    {TEXT("marks"), MARKS, PARTS},
    {TEXT("candidates_before"), BEFORE, PARTS},
    {TEXT("candidates_after"), AFTER, PARTS},
    {TEXT("new_greens"), ADD_NUMBER, NEW_GREENS},
    {TEXT("new_yellows"), ADD_NUMBER, NEW_YELLOWS},
    {TEXT("new_letters"), ADD_NUMBER, NEW_LETTERS},
    {TEXT("greens_dropped"), ADD_NUMBER, GREENS_DROPPED},
    {TEXT("yellows_missing"), ADD_NUMBER, YELLOWS_MISSING},
    {TEXT("greys_used"), ADD_NUMBER, GREYS_USED},
    {TEXT("repeat"), ADD_TRUE, REPEATS},
    {TEXT("listed"), ADD_FALSE, UNLISTED},
    {TEXT("refused"), ADD_ANY, REFUSED},
    {TEXT("malformed"), ADD_ANY, MALFORMED},
};

typedef struct sums {
    double part[PARTS];
    double before, after; /* open answers at the first guess and after the last; 0 = none seen */
    int length;
    gg_known known;
    gg_tutorial_book book;
} sums;

static void add_marks(gg_json_name marks, sums *into)
{
    int greens = 0, yellows = 0;
    for (size_t i = 0; i < marks.len; i++) {
        greens += marks.bytes[i] == 'G';
        yellows += marks.bytes[i] == 'Y';
    }
    into->part[GREENS] = fmax(into->part[GREENS], (double)greens / into->length);
    into->part[YELLOWS] = fmax(into->part[YELLOWS], (double)yellows / into->length);
}

/* Reads one fact's value. A value of another type than the game writes adds nothing. */
static void add_fact(size_t index, gg_json_name value, sums *into)
{
    double number = 0;
    bool flag = value.len == 4 && memcmp(value.bytes, "true", 4) == 0;
    bool off = value.len == 5 && memcmp(value.bytes, "false", 5) == 0;
    gg_json_reader r = gg_json_reader_make(value.bytes, value.len);
    double *part = &into->part[facts[index].part];
    switch (facts[index].kind) {
    case ADD_TRUE:
        *part += flag;
        break;
    case ADD_FALSE:
        *part += off;
        break;
    case ADD_ANY:
        *part += 1;
        break;
    case MARKS:
        add_marks(value, into);
        break;
    case ADD_NUMBER:
        *part += gg_read_double(&r, &number) ? number : 0;
        break;
    case BEFORE:
        if (into->before == 0 && gg_read_double(&r, &number))
            into->before = number;
        break;
    case AFTER:
        if (gg_read_double(&r, &number))
            into->after = fmax(number, 1);
        break;
    }
}

static void learn(const gg_guess_facts *f, sums *into)
{
    gg_marks marks = 0;
    gg_use use = {0};
    for (int i = into->length; i-- > 0;)
        marks = marks * 3 + (f->marks[i] == 'G' ? 2 : f->marks[i] == 'Y');
    gg_known_learn(&into->known, f->word, marks, &use);
}

static void add_call(const gg_env *env, const gg_call *call, sums *into)
{
    gg_guess_facts of_guess = {0};
    gg_json_name name, value;
    if (!call->facts)
        return;
    gg_json_reader r = gg_json_reader_make(call->facts, strlen(call->facts));
    if (!gg_read_object(&r))
        return;
    while (gg_read_name(&r, &name) && gg_read_raw(&r, &value)) {
        gg_guess_read_fact(name, value, into->length, &of_guess);
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
            if (gg_name_is(name, facts[i].name)) {
                add_fact(i, value, into);
                break;
            }
    }
    if (of_guess.has_word && of_guess.has_marks)
        learn(&of_guess, into);
    gg_tutorial_add(&into->book, env->fits, &of_guess);
}

/* What is known at the end, by the game's own rules. */
static void end_known(sums *into)
{
    double placed = 0, open = 0;
    for (int letter = 0; letter < GG_LETTERS; letter++) {
        placed += into->known.placed[letter];
        open += into->known.least[letter] - into->known.placed[letter];
    }
    into->part[PLACES] = placed / into->length;
    into->part[LETTERS] = open / into->length;
}

static void end_tutorial(const gg_env *env, const gg_episode *episode, sums *into)
{
    gg_tutorial tutorial;
    gg_tutorial_end(&into->book, episode->outcome == GG_SOLVED, env->config.guesses, &tutorial);
    into->part[TUTORIAL] = tutorial.reward;
    into->part[TUTORIAL_POINTS] = tutorial.points;
    into->part[TUTORIAL_BONUS] = tutorial.bonus;
    into->part[TUTORIAL_CHARGES] = tutorial.charges;
}

static double speed(const gg_env *env, const gg_episode *episode)
{
    double guesses = env->config.guesses;
    if (episode->outcome != GG_SOLVED || guesses < 2)
        return 0;
    return (guesses - (double)episode->moves) / (guesses - 1);
}

void gg_guess_parts(const gg_env *env, const gg_episode *episode, gg_part_fn each, void *context)
{
    sums total = {.length = env->config.length, .book.length = env->config.length};
    gg_known_init(&total.known, env->config.length);
    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++)
            add_call(env, &episode->turns[t].calls[c], &total);
    total.part[SPEED] = speed(env, episode);
    total.part[HINTS_IGNORED] =
        total.part[GREENS_DROPPED] + total.part[YELLOWS_MISSING] + total.part[GREYS_USED];
    if (total.before > 1 && total.after > 0)
        total.part[NARROWED] = log(total.before / total.after) / log(total.before);
    end_known(&total);
    end_tutorial(env, episode, &total);
    for (size_t i = 0; i < PARTS; i++)
        each(context, gg_guess_part_table[i].name, total.part[i]);
}

double gg_guess_measure(const gg_env *env, const gg_episode *episode)
{
    (void)env;
    return episode->outcome == GG_SOLVED;
}

/* The word of a played guess; false for any other call, or when the facts are not the game's. */
bool gg_guess_played(const gg_env *env, const gg_call *call, char word[GG_WORD_MAX + 1],
                     char marks[GG_WORD_MAX + 1])
{
    size_t length = (size_t)env->config.length;
    bool has_word = false, has_marks = false;
    gg_json_reader r =
        gg_json_reader_make(call->facts ? call->facts : "", call->facts ? strlen(call->facts) : 0);
    gg_json_name name, value;
    if (!gg_read_object(&r))
        return false;
    while (gg_read_name(&r, &name) && gg_read_raw(&r, &value)) {
        bool text = value.len == length + 2 && *value.bytes == '"';
        if (text && gg_name_is(name, "guess")) {
            memcpy(word, value.bytes + 1, length);
            word[length] = '\0';
            has_word = strspn(word, "abcdefghijklmnopqrstuvwxyz") == length;
        } else if (text && gg_name_is(name, "marks")) {
            memcpy(marks, value.bytes + 1, length);
            marks[length] = '\0';
            has_marks = strspn(marks, "GYB") == length;
        }
    }
    return has_word && has_marks;
}

void gg_guess_labels(const gg_env *env, const gg_episode *episode, gg_label_fn each, void *context)
{
    char word[GG_WORD_MAX + 1], marks[GG_WORD_MAX + 1];
    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++)
            if (gg_guess_played(env, &episode->turns[t].calls[c], word, marks)) {
                each(context, "opening", word);
                return;
            }
}
