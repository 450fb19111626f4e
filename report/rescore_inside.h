/* Inside of gg_rescore, shared by rescore.c (plays and groups) and rescore_calls.c (what single
 * calls were worth). */
#ifndef GG_REPORT_RESCORE_INSIDE_H
#define GG_REPORT_RESCORE_INSIDE_H

#include "report/rescore.h"
#include "report/values.h"

enum { CLASS_SOLVED, CLASS_LOST, CLASS_GIVEN_UP };

typedef struct gg_rescore_member {
    char id[GG_RESCORE_ID];
    gg_outcome outcome;
    double reward[GG_RESCORE_REWARDS];
} gg_rescore_member;

typedef struct gg_rescore_group {
    int64_t step, group;
    bool errored;
    size_t count;
    gg_rescore_member *members; /* group_size of them */
} gg_rescore_group;

struct gg_rescore {
    const gg_game *game;
    size_t count, group_size;
    const gg_reward *rewards[GG_RESCORE_REWARDS];
    gg_rescore_tally *tally; /* one a reward */
    gg_values *values;       /* one a reward */
    gg_rescore_group *open;  /* oldest first */
    size_t open_count, open_room;
    gg_rescore_figures figures;
};

/* Looks at the episode's repeated and refused calls. */
gg_status gg_rescore_calls(gg_rescore *rescore, gg_episode *episode, gg_error *error);

#endif
