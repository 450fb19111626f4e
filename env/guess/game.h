/* The word game's own structs, shared by its files. Contract: include/guessgym/env.h. */
#ifndef GG_ENV_GUESS_GAME_H
#define GG_ENV_GUESS_GAME_H

#include "env/guess/fits.h"
#include "env/guess/known.h"

#define GG_ARGUMENT_MAX  4096  /* bytes of a guess's text; longer ones are malformed */
#define GG_OPENING_MAX   65536 /* bytes of a row's own opening message */
#define GG_CALLS_A_GUESS 2     /* tool calls an episode, by its guesses: 12 for 6 */
#define GG_SPARE_TURNS   4     /* replies without a call (nudges) beyond max_calls */

typedef struct gg_guess_config {
    int length, guesses;
    bool hard;   /* a guess that ignores a hint is refused */
    bool reject; /* an unlisted guess is refused; else it is played */
} gg_guess_config;

struct gg_env {
    gg_guess_config config;
    gg_words *words;
    gg_fits *fits;
    gg_buf system, opening, tools; /* texts that are the same in every play */
    gg_buf splits[3];              /* paths of the shipped splits, empty when there are none */
};

typedef struct gg_guessed {
    char word[GG_WORD_MAX + 1];
} gg_guessed;

struct gg_play {
    const gg_env *env;
    char hidden[GG_WORD_MAX + 1];
    bool over;
    int count; /* guesses used */
    gg_guessed guessed[GG_GUESSES_MAX];
    gg_known known;
    gg_buf argument;   /* the guess's text, reused by every call */
    gg_buf opening;    /* the row's own opening; empty = the usual one */
    size_t open_count; /* answers that fit the marks ... */
    uint64_t open[];   /* ... and which ones they are */
};

/* Reads a dataset row or list line; `opening` (or NULL) gets the row's own message. */
gg_status gg_guess_read_task(const gg_env *env, const char *prompt, char word[GG_WORD_MAX + 1],
                             gg_buf *opening, gg_error *error);

/* Why a guess's text is no guess. */
typedef enum gg_flaw {
    GG_FLAW_NONE,
    GG_FLAW_TOOL,
    GG_FLAW_MISSING,
    GG_FLAW_TYPE,
    GG_FLAW_EMPTY,
    GG_FLAW_CHARACTER,
    GG_FLAW_LENGTH,
    GG_FLAW_COUNT
} gg_flaw;

/* Trims ASCII white space, folds ASCII capitals and checks. On a flaw *detail is the number of
 * letters or the code point, -1 where the text is not UTF-8. */
gg_flaw gg_guess_normalise(const char *text, size_t len, int length, char word[GG_WORD_MAX + 1],
                           long *detail);

/* A guess that was played, as the writers need it. */
typedef struct gg_guess_step {
    const char *word;
    gg_marks marks;
    bool listed, repeat, solved;
    gg_use use;
    size_t before, after; /* open answers */
    bool first;
    uint32_t entropy; /* of the first guess, in GG_ENTROPY_UNIT */
} gg_guess_step;

/* Texts and facts, appended to the caller's buffers. */
void gg_guess_write_system(gg_env *env);
void gg_guess_write_tools(gg_env *env);
void gg_guess_say_step(const gg_play *play, const gg_guess_step *step, gg_buf *text);
void gg_guess_say_flaw(const gg_play *play, gg_flaw flaw, long detail, gg_buf *text);
void gg_guess_say_unlisted(const gg_play *play, gg_buf *text);
void gg_guess_say_hard(const gg_play *play, const gg_use *use, gg_buf *text);
void gg_guess_fact_step(const gg_play *play, const gg_guess_step *step, gg_buf *facts);
void gg_guess_fact_flaw(gg_flaw flaw, gg_buf *facts);
/* `why` is "unlisted" or "hard". */
void gg_guess_fact_refused(const gg_play *play, const char *why, const gg_guess_step *step,
                           gg_buf *facts);

gg_status gg_guess_call(gg_play *play, const char *tool, const char *arguments, gg_result *result,
                        gg_error *error);

/* score.c and render.c */
#define GG_GUESS_PARTS 21
extern const gg_part_info gg_guess_part_table[GG_GUESS_PARTS];
double gg_guess_measure(const gg_env *env, const gg_episode *episode);
void gg_guess_parts(const gg_env *env, const gg_episode *episode, gg_part_fn each, void *context);
void gg_guess_labels(const gg_env *env, const gg_episode *episode, gg_label_fn each, void *context);
/* Word and marks of a call that was played; false for any other. */
bool gg_guess_played(const gg_env *env, const gg_call *call, char word[GG_WORD_MAX + 1],
                     char marks[GG_WORD_MAX + 1]);
gg_status gg_guess_render(const gg_env *env, const gg_episode *episode, gg_render_style style,
                          gg_buf *out, gg_error *error);

#endif
