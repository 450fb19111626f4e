#include "train/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "core/rng.h"

#define SESSION_NAME 64

/* ---- opening ---- */

/* Names must differ between folders, so the id is no function of the seed; nothing that is trained
 * depends on it. */
static gg_status draw_id(gg_checkpoint *checkpoint, gg_error *error)
{
    uint32_t id;
    if (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id)
        return gg_fail(error, GG_E_IO, "cannot draw a random session name");
    snprintf(checkpoint->session, sizeof checkpoint->session, "%08x", id);
    return GG_OK;
}

static void session_name(const gg_train *t, char name[SESSION_NAME])
{
    snprintf(name, SESSION_NAME, "%.40s-%s-%lld", t->o.session_name, t->checkpoint.session,
             (long long)t->checkpoint.sessions);
}

/* Stops what a killed process left running, and notes the next session's name before it is opened:
 * whenever a kill comes, the folder knows the name of what may be billing. */
static gg_status name_session(gg_train *t, bool found, gg_error *error)
{
    char left[SESSION_NAME];
    gg_status status = GG_OK;
    if (found) {
        session_name(t, left);
        status = gg_session_stop_left(t->o.loop, t->control, left, t->o.given_up, error);
    } else {
        status = draw_id(&t->checkpoint, error);
    }
    t->checkpoint.sessions++;
    return status == GG_OK ? gg_checkpoint_write(t->o.run, &t->checkpoint, error) : status;
}

static gg_status open_session(gg_train *t, gg_error *error)
{
    char name[SESSION_NAME];
    session_name(t, name);
    gg_session_options options = {.loop = t->o.loop,
                                  .control = t->control,
                                  .runtime = t->runtime,
                                  .name = name,
                                  .base_model_arn = t->o.base_model_arn,
                                  .role_arn = t->o.role_arn,
                                  .s3_path = t->o.s3_path,
                                  .package_group_arn = t->o.package_group_arn,
                                  .rank = GG_SESSION_RANK,
                                  .alpha = GG_SESSION_ALPHA,
                                  .token_seed = t->o.seed,
                                  .given_up = t->o.given_up};
    return gg_session_open(&options, &t->session, error);
}

/* Marks `keep` of all planned plays, drawn without replacement by the seed. */
static gg_status draw_kept(gg_train *t, gg_error *error)
{
    size_t total = (size_t)t->o.steps * t->o.batch * t->o.group_size;
    gg_rng rng;
    if (t->o.keep == GG_KEEP_ALL)
        return GG_OK;
    t->kept = calloc(total + 1, 1);
    if (!t->kept)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu plays", total);
    gg_rng_seed(&rng, gg_derive_seed(t->o.seed, "keep", 0));
    size_t wanted = (size_t)t->o.keep < total ? (size_t)t->o.keep : total;
    /* Floyd's sampling (Bentley and Floyd 1987): no list of all plays is needed. */
    for (size_t j = total - wanted; j < total; j++) {
        size_t pick = (size_t)gg_rng_below(&rng, j + 1);
        t->kept[t->kept[pick] ? j : pick] = 1;
    }
    return GG_OK;
}

/* Brings the session to where the folder stands, and saves and binds its weights. */
static gg_status restore(gg_train *t, bool found, gg_error *error)
{
    gg_status status = GG_OK;
    if (found && t->checkpoint.state_arn[0])
        status = gg_session_load_state(t->session, t->checkpoint.state_arn, true, error);
    else if (t->o.start_arn)
        status = gg_session_load_state(t->session, t->o.start_arn, false, error);
    if (status == GG_OK && !t->checkpoint.weights_arn[0])
        status = gg_session_save_weights(t->session, t->checkpoint.weights_arn, error);
    if (status == GG_OK)
        status = gg_session_bind(t->session, t->checkpoint.weights_arn, error);
    return status;
}

static gg_status open_all(gg_train *t, gg_error *error)
{
    bool found = false;
    gg_status status = gg_train_connect(t, error);
    if (status == GG_OK)
        status = gg_checkpoint_read(t->o.run, &t->checkpoint, &found, error);
    if (status == GG_OK && found)
        status = gg_train_cut_back(t, error);
    if (status == GG_OK)
        status = draw_kept(t, error);
    if (status == GG_OK)
        status = name_session(t, found, error);
    if (status == GG_OK)
        status = open_session(t, error);
    if (status == GG_OK)
        status = restore(t, found, error);
    if (status == GG_OK)
        status = gg_checkpoint_write(t->o.run, &t->checkpoint, error);
    if (status == GG_OK)
        status = gg_train_open_rollout(t, error);
    if (status == GG_OK && t->o.probe && !found && !t->o.from)
        status = gg_train_probe(t, error);
    return status;
}

gg_status gg_train_open(const gg_train_options *options, gg_train **out, gg_error *error)
{
    gg_train *t = calloc(1, sizeof *t);
    *out = NULL;
    if (t)
        t->rows = calloc(options->batch + 1, sizeof *t->rows);
    if (!t || !t->rows) {
        free(t);
        return gg_fail(error, GG_E_MEMORY, "out of memory opening a training");
    }
    t->o = *options;
    gg_status status = open_all(t, error);
    if (status == GG_OK)
        *out = t;
    else
        (void)gg_train_close(t, NULL); /* the first error is the one to tell */
    return status;
}

gg_status gg_train_close(gg_train *t, gg_error *error)
{
    if (!t)
        return GG_OK;
    gg_rollout_free(t->rollout);
    if (t->ahead)
        gg_step_free(t->ahead);
    free(t->ahead);
    gg_status status = gg_session_close(t->session, error);
    gg_train_disconnect(t);
    free(t->kept);
    free(t->rows);
    free(t);
    return status;
}

void gg_train_stop(gg_train *t)
{
    t->stopped = true;
    if (t->playing)
        gg_rollout_stop(t->rollout);
}

bool gg_train_look(const gg_train *t, int64_t *step, gg_rollout_state *out)
{
    *step = t->step;
    if (t->playing)
        gg_rollout_look(t->rollout, out);
    return t->playing;
}

int64_t gg_train_done(const gg_train *t)
{
    return t->checkpoint.step;
}

gg_status gg_train_location(gg_train *t, gg_buf *uri, gg_error *error)
{
    return gg_session_location(t->session, t->checkpoint.weights_arn, uri, error);
}

const char *gg_train_budget_reason(const gg_train *t)
{
    return t->budget[0] ? t->budget : NULL;
}

/* ---- the loop ---- */

static bool validation_due(const gg_train *t, int64_t step)
{
    if (!t->o.val)
        return false;
    return step == 0 || step == t->o.steps || (t->o.val_every > 0 && step % t->o.val_every == 0);
}

static bool over_budget(gg_train *t)
{
    const gg_checkpoint *c = &t->checkpoint;
    bool known = c->prefill != GG_TOKENS_UNKNOWN && c->sample != GG_TOKENS_UNKNOWN;
    double cost = gg_train_cost(t);
    if (t->o.max_total_tokens > 0 && known &&
        c->prefill + c->sample + c->train >= t->o.max_total_tokens)
        snprintf(t->budget, sizeof t->budget, "--max-total-tokens %lld is used up",
                 (long long)t->o.max_total_tokens);
    else if (t->o.max_cost > 0 && cost >= t->o.max_cost)
        snprintf(t->budget, sizeof t->budget, "--max-cost %g is used up", t->o.max_cost);
    return t->budget[0] != '\0';
}

static void add_tokens(int64_t *sum, int64_t tokens)
{
    *sum = *sum == GG_TOKENS_UNKNOWN || tokens == GG_TOKENS_UNKNOWN ? GG_TOKENS_UNKNOWN
                                                                    : *sum + tokens;
}

static gg_status close_step(gg_train *t, gg_step *s, gg_error *error)
{
    gg_status status = GG_OK;
    add_tokens(&t->checkpoint.prefill, s->count.prefill);
    add_tokens(&t->checkpoint.sample, s->count.sample);
    add_tokens(&t->checkpoint.train, s->count.train);
    if (validation_due(t, s->number))
        status = gg_step_validate(t, &s->metrics, error);
    if (status == GG_OK)
        status = gg_train_append_records(t, &s->plays, &s->groups, error);
    if (status == GG_OK)
        status = gg_train_append_metrics(t, &s->metrics, &s->count,
                                         gg_seconds(s->started, uv_hrtime()), error);
    return status == GG_OK ? gg_train_commit(t, error) : status;
}

/* With a staleness bound above 0, plays the next step on the present weights while the service
 * trains. */
static gg_status play_ahead(gg_train *t, int64_t present, gg_error *error)
{
    bool wanted = t->o.max_staleness > 0 && !t->o.from && present < t->o.steps && !t->stopped;
    if (!wanted)
        return GG_OK;
    gg_step *next = calloc(1, sizeof *next);
    if (!next)
        return gg_fail(error, GG_E_MEMORY, "out of memory for step %lld", (long long)present + 1);
    next->number = t->step = present + 1;
    next->behind = 1;
    next->started = uv_hrtime();
    t->ahead = next;
    gg_status status = gg_step_play(t, next, error);
    next->played = uv_hrtime();
    /* The present step is still to be settled; the loop finds out about the signal itself. */
    return status == GG_E_INTERRUPTED ? GG_OK : status;
}

/* From the plays to the commit. */
static gg_status learn(gg_train *t, gg_step *s, gg_error *error)
{
    gg_status status = gg_step_submit(t, s, error);
    if (status == GG_OK)
        status = play_ahead(t, s->number, error);
    if (status == GG_OK)
        status = gg_step_settle(t, s, error);
    s->trained = uv_hrtime();
    if (status == GG_OK)
        status = gg_step_measure(t, s, error);
    if (status == GG_OK)
        status = close_step(t, s, error);
    if (status == GG_OK && t->ahead)
        status = gg_plays_write_down(&t->ahead->plays, error);
    return status;
}

/* The step that was played ahead, or a new one; fully played when this returns GG_OK. */
static gg_status next_step(gg_train *t, gg_step *s, gg_error *error)
{
    gg_step *ahead = t->ahead;
    bool whole = ahead && gg_plays_plan(&ahead->plays) == 0;
    t->ahead = NULL;
    if (whole)
        *s = *ahead;
    else if (ahead)
        gg_step_free(ahead); /* cut short by a signal: what was played is in the step files */
    free(ahead);
    if (whole)
        return GG_OK;
    *s = (gg_step){.number = t->checkpoint.step + 1, .started = uv_hrtime()};
    gg_status status = gg_step_play(t, s, error);
    s->played = uv_hrtime();
    return status;
}

static gg_status do_step(gg_train *t, gg_error *error)
{
    gg_step s = {0};
    t->step = t->checkpoint.step + 1;
    gg_status status = next_step(t, &s, error);
    if (status == GG_OK)
        status = learn(t, &s, error);
    if (status == GG_OK && t->o.progress)
        t->o.progress(t->o.context, s.number, &s.metrics);
    gg_step_free(&s);
    return status;
}

/* Step 0: the untrained policy on the validation rows. */
static gg_status first_validation(gg_train *t, gg_error *error)
{
    gg_metrics metrics = {0};
    gg_step_count none = {0};
    int64_t have = 0;
    uint64_t started = uv_hrtime();
    gg_status status = gg_run_size(t->o.run, GG_JOURNAL_METRICS, &have, error);
    if (status != GG_OK || have > 0 || !validation_due(t, 0))
        return status;
    status = gg_step_validate(t, &metrics, error);
    if (status == GG_OK)
        status =
            gg_train_append_metrics(t, &metrics, &none, gg_seconds(started, uv_hrtime()), error);
    if (status == GG_OK)
        status = gg_train_commit(t, error);
    if (status == GG_OK && t->o.progress)
        t->o.progress(t->o.context, 0, &metrics);
    gg_metrics_free(&metrics);
    return status;
}

gg_status gg_train_run(gg_train *t, gg_error *error)
{
    gg_status status = GG_OK;
    if (t->checkpoint.step == 0)
        status = first_validation(t, error);
    while (status == GG_OK && t->checkpoint.step < t->o.steps && !over_budget(t))
        status = do_step(t, error);
    return status;
}
