/* Episodes made by hand, for tests of what is computed from records. */
#ifndef GG_TESTS_EPISODE_MAKE_H
#define GG_TESTS_EPISODE_MAKE_H

#include <guessgym/record.h>

typedef struct made_play {
    int64_t group, sample;
    gg_outcome outcome;
    int64_t moves;
    double measure, reward;
    int64_t prompt, completion, reasoning; /* tokens of each of `turns` replies */
    int turns;
    const char *started;
    int64_t duration_ms;
    const char *repair; /* of the first call, or NULL */
} made_play;

/* A whole record; the task's key is the SHA-256 of its group's number. The caller frees. */
gg_episode *make_episode(const made_play *play);

#endif
