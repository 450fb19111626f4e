/* The runtime operations on a job's trajectories. Called from the server's threads; nothing of a
 * trajectory is held on to between two looks under the lock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "service/job_inside.h"

/* ---- finding; under the lock ---- */

static gg_job_answer unknown(const char *id, gg_error *error)
{
    gg_fail(error, GG_E_ARGUMENT, "Could not find trajectory %.256s", id);
    return GG_JOB_UNKNOWN;
}

/* Whether the id is that of a trajectory that is over and forgotten, or of an earlier try. */
static bool is_past(const gg_job *job, const gg_trajectory_place *place)
{
    bool inside = place->start == job->info.starts && place->group >= 0 && place->sample >= 0 &&
                  place->try >= 0;
    return inside && place->kind == 's' && place->step >= 1 && place->step <= job->done &&
           place->group < job->config.hyper.batch && place->sample < job->config.hyper.group_size;
}

static gg_trajectory *slot_of(const gg_job *job, const gg_trajectory_place *p, gg_window **window)
{
    for (gg_window *w = job->windows; w; w = w->after)
        if (w->kind == p->kind && w->step == p->step && p->start == job->info.starts &&
            p->group >= 0 && (size_t)p->group < w->groups && p->sample >= 0 &&
            (size_t)p->sample < w->group_size) {
            *window = w;
            return &w->slots[(size_t)p->group * w->group_size + (size_t)p->sample];
        }
    return NULL;
}

typedef struct look {
    gg_window *window;
    gg_trajectory *t; /* NULL = over and forgotten */
    size_t slot;
    const char *state; /* as messages name it */
    bool failed;       /* an earlier try that the agent called failed: its reward may still come */
} look;

static gg_job_answer find(const gg_job *job, const char *id, look *out, gg_error *error)
{
    gg_trajectory_place place;
    *out = (look){.state = "finished"};
    if (job->info.state != GG_JOB_IN_PROGRESS) {
        gg_fail(error, GG_E_STATE, "Job %s is not in valid status: %s", job->o.arn,
                gg_job_state_name(job->info.state));
        return GG_JOB_INVALID;
    }
    if (!gg_trajectory_parse(id, &place))
        return unknown(id, error);
    gg_trajectory *t = slot_of(job, &place, &out->window);
    if (!t)
        return is_past(job, &place) ? GG_JOB_OK : unknown(id, error);
    if (place.try > t->try || place.try < 0)
        return unknown(id, error);
    if (place.try < t->try || t->state == GG_TRAJECTORY_WAITING) {
        out->failed = t->failed_try == place.try;
        out->state = out->failed ? "failed" : "timed_out";
        return GG_JOB_OK;
    }
    out->t = t;
    out->slot = (size_t)(t - out->window->slots);
    out->state = gg_trajectory_state_name(t->state);
    t->touched_ms = gg_job_ticks();
    return GG_JOB_OK;
}

/* ---- Sample ---- */

typedef struct sampling {
    gg_job *job;
    const char *id;
    gg_error error;
} sampling;

static gg_job_answer not_open(const char *id, const look *l, gg_error *error)
{
    gg_fail(error, GG_E_STATE, "Trajectory %.256s is not in valid status for sampling: %s", id,
            l->state);
    return GG_JOB_INVALID;
}

static bool keep(void *context, const gg_policy_reply *reply)
{
    sampling *x = context;
    look l;
    pthread_mutex_lock(&x->job->lock);
    bool open =
        find(x->job, x->id, &l, &x->error) == GG_JOB_OK && l.t && l.t->state == GG_TRAJECTORY_OPEN;
    bool fine = open && gg_trajectory_add_turn(l.t, reply, &x->error) == GG_OK;
    if (fine) {
        x->job->info.usage.prefill += (int64_t)reply->prompt_count;
        x->job->info.usage.sampled += (int64_t)reply->count;
    }
    pthread_mutex_unlock(&x->job->lock);
    return fine;
}

/* What the turn is sampled with and from. Counts the turn. */
static gg_job_answer begin(gg_job *job, const char *id, gg_chat_turn *turn, int64_t *number,
                           gg_version **weights, gg_error *error)
{
    look l;
    gg_job_answer answer = find(job, id, &l, error);
    if (answer != GG_JOB_OK)
        return answer;
    if (!l.t || l.t->state != GG_TRAJECTORY_OPEN)
        return not_open(id, &l, error);
    if (l.t->turns == GG_JOB_TURNS_MAX) {
        gg_fail(error, GG_E_LIMIT, "Trajectory %.256s has %d turns already", id, GG_JOB_TURNS_MAX);
        return GG_JOB_INVALID;
    }
    gg_episode *e = l.t->episode;
    *number = l.t->turns++;
    *weights = gg_version_keep(job->weights);
    if (l.t->first_step < 0) {
        l.t->first_step = job->done;
        e->policy.weight_version_first =
            *weights ? gg_version_adapter(*weights)->weights.version : 0;
    }
    e->policy.weight_version_last = *weights ? gg_version_adapter(*weights)->weights.version : 0;
    turn->temperature = l.window->temperature;
    turn->top_p = l.window->top_p;
    turn->max_tokens = job->config.hyper.max_tokens;
    turn->seed = gg_request_seed(job->o.site->seed, e->step, e->group, e->sample, *number);
    return GG_JOB_OK;
}

/* A turn that came to nothing leaves its number to the next one. */
static void take_back(gg_job *job, const char *id, int64_t number)
{
    look l;
    gg_error error;
    pthread_mutex_lock(&job->lock);
    if (find(job, id, &l, &error) == GG_JOB_OK && l.t && l.t->turns == number + 1)
        l.t->turns = number;
    pthread_mutex_unlock(&job->lock);
}

gg_job_answer gg_job_sample(gg_job *job, const char *id, const char *body, size_t len,
                            gg_chat_reply *reply, gg_error *error)
{
    sampling x = {.job = job, .id = id};
    int64_t number = 0;
    gg_version *weights = NULL;
    gg_chat_turn how = {.keep = keep,
                        .context = &x,
                        .late = "Trajectory is not in valid status for sampling: it has ended"};
    pthread_mutex_lock(&job->lock);
    gg_job_answer answer = begin(job, id, &how, &number, &weights, error);
    pthread_mutex_unlock(&job->lock);
    if (answer != GG_JOB_OK)
        return answer;
    gg_chat_model model = {.policy = job->o.policy, .name = "default"};
    if (weights) {
        const gg_adapter *adapter = gg_version_adapter(weights);
        model.weights = &adapter->weights;
        model.scale = gg_adapter_scale(adapter->rank, adapter->alpha);
    }
    gg_chat_answer_turn(&model, body, len, &how, reply);
    gg_version_release(weights);
    if (reply->status != 200)
        take_back(job, id, number);
    return GG_JOB_OK;
}

/* ---- CompleteRollout, UpdateReward ---- */

/* First 64 bits of SHA-256, never 0. */
static uint64_t hash(const void *bytes, size_t len)
{
    uint8_t digest[32];
    uint64_t out;
    gg_sha256(bytes, len, digest);
    memcpy(&out, digest, sizeof out);
    return out ? out : 1;
}

/* Whether a call was made before with the same token; *clash when its contents were others. */
static bool repeated(const gg_repeat *before, const gg_repeat *now, bool *clash)
{
    bool same = now->token && before->token == now->token;
    *clash = same && before->call != now->call;
    return same;
}

static gg_repeat make_repeat(const char *token, const void *call, size_t len)
{
    return (gg_repeat){token && *token ? hash(token, strlen(token)) : 0, hash(call, len)};
}

static gg_job_answer token_clash(gg_error *error)
{
    gg_fail(error, GG_E_ARGUMENT, "ClientToken was used before with other parameters");
    return GG_JOB_INVALID;
}

static gg_job_answer cannot(const char *id, const char *from, const char *to, gg_error *error)
{
    gg_fail(error, GG_E_STATE, "Cannot transition trajectory %.256s from %s to %s", id, from, to);
    return GG_JOB_CONFLICT;
}

static bool hand_over(gg_job *job, const look *l)
{
    if (job->ended_count == job->ended_room) {
        size_t room = job->ended_room ? job->ended_room * 2 : 64;
        gg_ended *ended = realloc(job->ended, room * sizeof *ended);
        if (!ended)
            return false;
        job->ended = ended;
        job->ended_room = room;
    }
    job->ended[job->ended_count++] = (gg_ended){l->window, l->slot, l->t->try};
    gg_job_poke(job);
    return true;
}

static gg_job_answer no_memory(gg_error *error)
{
    gg_fail(error, GG_E_MEMORY, "out of memory for a trajectory");
    return GG_JOB_BROKEN;
}

static gg_job_answer complete(gg_job *job, const char *id, bool failed, const gg_repeat *call,
                              gg_error *error)
{
    look l;
    bool clash;
    const char *to = failed ? "failed" : "ready";
    gg_job_answer answer = find(job, id, &l, error);
    if (answer != GG_JOB_OK)
        return answer;
    if (l.t && repeated(&l.t->complete, call, &clash))
        return clash ? token_clash(error) : GG_JOB_OK;
    if (!l.t || l.t->state != GG_TRAJECTORY_OPEN)
        return cannot(id, l.state, to, error);
    if (failed && !hand_over(job, &l))
        return no_memory(error);
    l.t->state = failed ? GG_TRAJECTORY_FAILED : GG_TRAJECTORY_READY;
    l.t->complete = *call;
    return GG_JOB_OK;
}

gg_job_answer gg_job_complete(gg_job *job, const char *id, bool failed, const char *token,
                              gg_error *error)
{
    gg_repeat call = make_repeat(token, &failed, sizeof failed);
    pthread_mutex_lock(&job->lock);
    gg_job_answer answer = complete(job, id, failed, &call, error);
    pthread_mutex_unlock(&job->lock);
    return answer;
}

static gg_job_answer check_rewards(const gg_trajectory *t, const double *rewards, size_t count,
                                   gg_error *error)
{
    size_t turns = t->episode->turn_count;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(rewards[i])) {
            gg_fail(error, GG_E_ARGUMENT, "Rewards must be finite numbers");
            return GG_JOB_INVALID;
        }
    if (count == 1 || (count && count == turns))
        return GG_JOB_OK;
    gg_fail(error, GG_E_ARGUMENT,
            "Rewards must hold one value, or one for each of the %zu turns; it holds %zu", turns,
            count);
    return GG_JOB_INVALID;
}

static gg_job_answer reward(gg_job *job, const char *id, const double *rewards, size_t count,
                            const gg_repeat *call, gg_error *error)
{
    look l;
    bool clash;
    gg_job_answer answer = find(job, id, &l, error);
    if (answer != GG_JOB_OK)
        return answer;
    if (l.t && repeated(&l.t->reward, call, &clash))
        return clash ? token_clash(error) : GG_JOB_OK;
    bool failed = l.failed || (l.t && l.t->state == GG_TRAJECTORY_FAILED);
    if (!failed && (!l.t || l.t->state != GG_TRAJECTORY_READY))
        return cannot(id, l.state, "rewarded", error);
    if (failed)
        return GG_JOB_OK; /* nothing is made of it */
    answer = check_rewards(l.t, rewards, count, error);
    if (answer != GG_JOB_OK)
        return answer;
    if (gg_trajectory_take_reward(l.t, rewards, count, job->config.hyper.success_threshold,
                                  error) != GG_OK ||
        !hand_over(job, &l))
        return no_memory(error);
    l.t->state = GG_TRAJECTORY_REWARDED;
    l.t->reward = *call;
    return GG_JOB_OK;
}

gg_job_answer gg_job_reward(gg_job *job, const char *id, const double *rewards, size_t count,
                            const char *token, gg_error *error)
{
    gg_repeat call = make_repeat(token, rewards, count * sizeof *rewards);
    pthread_mutex_lock(&job->lock);
    gg_job_answer answer = reward(job, id, rewards, count, &call, error);
    pthread_mutex_unlock(&job->lock);
    return answer;
}
