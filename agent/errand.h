/*
 * One rollout for the managed service, from its invocation to its report: play one episode against
 * the runtime's model, seal the trajectory, give its reward, answer.
 *
 * The service stops a whole job over a rollout that says it failed or that never reports, so a
 * reward is reported whatever happened: a play that errs counts what its record gives (0 when there
 * is none). A trajectory that has ended or is not known is skipped, which is no error. A play in
 * which no reply was ever had is tried once more while the budget lasts.
 *
 * Threads: the loop's thread.
 */
#ifndef GG_AGENT_ERRAND_H
#define GG_AGENT_ERRAND_H

#include "agent/episode.h"
#include "agent/invocation.h"
#include "agent/runtime.h"

#define GG_ERRAND_TRIES     2
#define GG_ERRAND_REPORT_MS 120000 /* for the two closing calls, beside the budget */

typedef struct gg_errands gg_errands; /* all of one server */

typedef struct gg_errand_report {
    const char *id;
    int status;          /* of the answer: 200, 400, 403, 409, 500 */
    const char *json;    /* its body */
    const char *problem; /* for the log; "" = nothing to say */
    bool played, skipped, reported;
    gg_outcome outcome;
    double reward; /* the sum of a list */
} gg_errand_report;
/* Called once for each errand, from the loop, not from inside gg_errand_begin. */
typedef void (*gg_errand_done)(void *context, const gg_errand_report *report);

typedef struct gg_errands_options {
    const gg_game *game;
    const gg_reward *reward;
    gg_ask ask; /* what an invocation does not say; its pointers outlive the errands */
    gg_runtime_options runtime; /* http is filled in */
    int64_t budget_ms;          /* of a play, its second try included */
    uint64_t seed;
} gg_errands_options;

gg_status gg_errands_new(uv_loop_t *loop, const gg_errands_options *options, gg_errands **out,
                         gg_error *error);
/* Ends all errands without a report; the caller lets the loop run once more. NULL is fine. */
void gg_errands_free(gg_errands *errands);
size_t gg_errands_count(const gg_errands *errands); /* in hand */
/* Calls of a blocking environment that were given up and still run: see gg_rollout_hanging. */
size_t gg_errands_hanging(const gg_errands *errands);

/* Takes the invocation over, also when it fails (GG_E_MEMORY: `done` is then not called). */
gg_status gg_errand_begin(gg_errands *errands, gg_invocation *invocation, gg_errand_done done,
                          void *context, gg_error *error);

#endif
