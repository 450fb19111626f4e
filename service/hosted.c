#include "service/hosted.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/rng.h"
#include "service/hosted_queue.h"
#include "service/hosted_run.h"

#define TRAINING_ID "op-"
#define SAMPLING_ID "sample-"

static const char *const states[GG_HOSTED_STATE_COUNT] = {
    [GG_HOSTED_RUNNING] = "Running",   [GG_HOSTED_BLOCKED] = "Blocked",
    [GG_HOSTED_STOPPING] = "Stopping", [GG_HOSTED_STOPPED] = "Stopped",
    [GG_HOSTED_FAILED] = "Failed",
};

struct gg_hosted {
    atomic_long holders;
    gg_hosted_options options; /* its strings are ours */
    pthread_mutex_t lock;
    pthread_cond_t work;  /* for the worker: something to do, or to end */
    pthread_cond_t ended; /* for a stop: the worker is done */
    pthread_t thread;
    bool started, done;    /* the worker: was started, has left its loop */
    gg_hosted_info info;   /* state RUNNING also while blocked: that is worked out when looked at */
    int64_t blocked_since; /* ms of the monotonic clock; 0 = not blocked */
    int64_t next;          /* number that runs next */
    gg_op *running;        /* the operation in hand */
    gg_op *training;       /* waiting, by number */
    gg_op *sampling, **sampling_end;
    size_t waiting, waiting_bytes;
    gg_op_log trained, sampled;
    gg_engine *engine; /* the worker's */
    gg_version *bound; /* weights for sampling; NULL = base */
};

const char *gg_hosted_state_name(gg_hosted_state state)
{
    return states[state];
}

gg_hosted_state gg_hosted_state_parse(const char *name)
{
    size_t i = 0;
    while (name && i < GG_HOSTED_STATE_COUNT && strcmp(states[i], name) != 0)
        i++;
    return name ? (gg_hosted_state)i : GG_HOSTED_STATE_COUNT;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)(t.tv_nsec / 1000000) / 1000;
}

static int64_t ticks(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 + 1;
}

/* ---- state; under the lock ---- */

static void set_state(gg_hosted *s, gg_hosted_state state, const char *detail)
{
    s->info.state = state;
    s->info.modified = now();
    snprintf(s->info.detail, sizeof s->info.detail, "%s", detail ? detail : "");
    if (state == GG_HOSTED_STOPPED || state == GG_HOSTED_FAILED)
        s->info.ended = s->info.modified;
}

static void skip_waiting(gg_hosted *s, const char *why)
{
    gg_op *training = s->training, *sampling = s->sampling;
    s->training = s->sampling = NULL;
    s->sampling_end = &s->sampling;
    s->waiting = s->waiting_bytes = 0;
    for (gg_op *op = training, *next; op; op = next) {
        next = op->next;
        gg_op_end(op, GG_OP_SKIPPED, NULL, 0, NULL);
    }
    for (gg_op *op = sampling, *next; op; op = next) {
        next = op->next;
        gg_op_end(op, GG_OP_FAILED, NULL, 0, why);
    }
}

static void fail_session(gg_hosted *s, const char *detail)
{
    set_state(s, GG_HOSTED_FAILED, detail);
    skip_waiting(s, detail);
    pthread_cond_broadcast(&s->work);
}

static bool gap(const gg_hosted *s)
{
    bool busy = s->running && s->running->sequence;
    return s->training && !busy && s->training->sequence != s->next;
}

/* Running or Blocked, or Failed once the gap has lasted too long. */
static gg_hosted_state refresh(gg_hosted *s)
{
    if (s->info.state != GG_HOSTED_RUNNING)
        return s->info.state;
    if (!gap(s)) {
        s->blocked_since = 0;
        return GG_HOSTED_RUNNING;
    }
    if (!s->blocked_since)
        s->blocked_since = ticks();
    if (ticks() - s->blocked_since <= s->options.gap_ms)
        return GG_HOSTED_BLOCKED;
    char detail[160];
    snprintf(detail, sizeof detail,
             "operation %" PRId64 " did not arrive within %" PRId64 " ms, while later ones waited",
             s->next, s->options.gap_ms);
    fail_session(s, detail);
    return GG_HOSTED_FAILED;
}

/* ---- the worker ---- */

static gg_op *take(gg_hosted *s)
{
    gg_op *op = s->sampling;
    if (op) {
        s->sampling = op->next;
        if (!s->sampling)
            s->sampling_end = &s->sampling;
    } else if (s->training && s->training->sequence == s->next) {
        op = s->training;
        s->training = op->next;
    } else {
        return NULL;
    }
    s->waiting--;
    s->waiting_bytes -= op->request.bytes;
    op->next = NULL;
    op->status = GG_OP_IN_PROGRESS;
    return op;
}

static void finish(gg_hosted *s, gg_op *op, gg_status status, const gg_buf *result,
                   const gg_op_context *context, const char *detail)
{
    char text[GG_DETAIL_MAX];
    s->running = NULL;
    if (op->sequence)
        s->next = op->sequence + 1;
    s->info.usage.prefill += context->usage.prefill;
    s->info.usage.sampled += context->usage.sampled;
    s->info.usage.trained += context->usage.trained;
    s->info.modified = now();
    if (status == GG_OK) {
        gg_op_end(op, GG_OP_COMPLETED, result, context->usage.trained, NULL);
    } else if (!op->sequence) {
        gg_op_end(op, GG_OP_FAILED, NULL, 0, detail);
    } else {
        snprintf(text, sizeof text, "operation %" PRId64 " (%s) failed: %s", op->sequence,
                 gg_op_kind_name(op->request.kind), detail);
        gg_op_end(op, GG_OP_FAILED, NULL, 0, detail);
        if (s->info.state == GG_HOSTED_RUNNING)
            fail_session(s, text);
    }
    gg_op_log_charge(op->sequence ? &s->trained : &s->sampled, op);
    refresh(s);
}

/* Runs one operation with the lock released. Only the worker touches the engine. */
static void run_one(gg_hosted *s, gg_op *op)
{
    gg_buf result;
    gg_error error = {0};
    gg_op_context context = {.session = &s->options,
                             .engine = s->engine,
                             .bound = gg_version_keep(s->bound),
                             .seed = gg_derive_seed(s->options.seed, "sampling", op->number)};
    s->running = op;
    pthread_mutex_unlock(&s->lock);
    gg_buf_init(&result, GG_RESULT_MAX);
    gg_status status = gg_op_run(&context, &op->request, &result, &error);
    pthread_mutex_lock(&s->lock);
    gg_version *old = s->bound;
    s->bound = context.bound;
    finish(s, op, status, &result, &context, error.text);
    gg_version_release(old);
    gg_buf_free(&result);
}

static void *worker(void *argument)
{
    gg_hosted *s = argument;
    pthread_mutex_lock(&s->lock);
    while (s->info.state == GG_HOSTED_RUNNING) {
        gg_op *op = take(s);
        if (op)
            run_one(s, op);
        else
            pthread_cond_wait(&s->work, &s->lock);
    }
    if (s->info.state == GG_HOSTED_STOPPING) {
        skip_waiting(s, "the training session was stopped");
        set_state(s, GG_HOSTED_STOPPED, NULL);
    }
    s->done = true;
    pthread_cond_broadcast(&s->ended);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- life ---- */

static bool copy(const char **text)
{
    *text = strdup(*text ? *text : "");
    return *text != NULL;
}

static void destroy(gg_hosted *s)
{
    const char *const texts[] = {s->options.name,         s->options.arn,     s->options.region,
                                 s->options.account,      s->options.base_id, s->options.group,
                                 s->options.base_version, s->options.s3_path, s->options.request};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((char *)(uintptr_t)texts[i]);
    gg_op_log_free(&s->trained);
    gg_op_log_free(&s->sampled);
    gg_engine_free(s->engine);
    gg_version_release(s->bound);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->ended);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static gg_hosted *make(const gg_hosted_options *options)
{
    gg_hosted *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    atomic_init(&s->holders, 1);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->ended, NULL);
    s->options = *options;
    s->options.gap_ms = options->gap_ms > 0 ? options->gap_ms : GG_GAP_MS;
    s->next = 1;
    s->sampling_end = &s->sampling;
    const char **const texts[] = {
        &s->options.name,         &s->options.arn,     &s->options.region,
        &s->options.account,      &s->options.base_id, &s->options.group,
        &s->options.base_version, &s->options.s3_path, &s->options.request};
    bool fine = true;
    /* All of them, even after a failure: what is freed later must be ours. */
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fine = copy(texts[i]) && fine;
    if (fine)
        return s;
    destroy(s);
    return NULL;
}

gg_status gg_hosted_new(const gg_hosted_options *options, gg_hosted **out, gg_error *error)
{
    *out = NULL;
    gg_hosted *s = make(options);
    if (!s)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a training session");
    s->info.created = s->info.modified = now();
    gg_status status =
        gg_engine_new(options->policy, options->rank, options->alpha, &s->engine, error);
    if (status == GG_OK && pthread_create(&s->thread, NULL, worker, s) != 0)
        status = gg_fail(error, GG_E_IO, "cannot start a thread for a training session");
    if (status != GG_OK) {
        destroy(s);
        return status;
    }
    s->started = true;
    *out = s;
    return GG_OK;
}

gg_status gg_hosted_restore(const gg_hosted_options *options, const gg_hosted_info *info,
                            gg_hosted **out, gg_error *error)
{
    *out = make(options);
    if (!*out)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a training session");
    (*out)->info = *info;
    (*out)->done = true;
    return GG_OK;
}

gg_hosted *gg_hosted_keep(gg_hosted *s)
{
    atomic_fetch_add(&s->holders, 1);
    return s;
}

void gg_hosted_release(gg_hosted *s)
{
    if (!s || atomic_fetch_sub(&s->holders, 1) > 1)
        return;
    pthread_mutex_lock(&s->lock);
    if (s->info.state == GG_HOSTED_RUNNING)
        set_state(s, GG_HOSTED_STOPPING, NULL);
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    if (s->started)
        pthread_join(s->thread, NULL);
    destroy(s);
}

const gg_hosted_options *gg_hosted_made_with(const gg_hosted *s)
{
    return &s->options;
}

void gg_hosted_look(gg_hosted *s, gg_hosted_info *info)
{
    pthread_mutex_lock(&s->lock);
    gg_hosted_state state = refresh(s);
    *info = s->info;
    info->state = state;
    if (state == GG_HOSTED_BLOCKED)
        snprintf(info->detail, sizeof info->detail,
                 "operation %" PRId64 " has not arrived; later ones wait for it", s->next);
    pthread_mutex_unlock(&s->lock);
}

static gg_status bad_transition(gg_hosted_state from, const char *to, gg_error *error)
{
    return gg_fail(error, GG_E_STATE, "invalid session state transition from %s to %s",
                   states[from], to);
}

/* An idle worker is gone at once, so that the usual stop is over when it is answered. */
static void wait_for_end(gg_hosted *s)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += GG_STOP_WAIT_MS * 1000000L;
    limit.tv_sec += limit.tv_nsec / 1000000000L;
    limit.tv_nsec %= 1000000000L;
    while (!s->done && pthread_cond_timedwait(&s->ended, &s->lock, &limit) != ETIMEDOUT)
        continue;
}

gg_status gg_hosted_stop(gg_hosted *s, gg_error *error)
{
    pthread_mutex_lock(&s->lock);
    gg_hosted_state state = refresh(s);
    gg_status status = GG_OK;
    if (state == GG_HOSTED_RUNNING || state == GG_HOSTED_BLOCKED) {
        set_state(s, GG_HOSTED_STOPPING, NULL);
        pthread_cond_broadcast(&s->work);
        wait_for_end(s);
    } else {
        status = bad_transition(state, states[GG_HOSTED_STOPPING], error);
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

gg_status gg_hosted_may_delete(gg_hosted *s, gg_error *error)
{
    pthread_mutex_lock(&s->lock);
    gg_hosted_state state = refresh(s);
    pthread_mutex_unlock(&s->lock);
    return state == GG_HOSTED_STOPPED || state == GG_HOSTED_FAILED
               ? GG_OK
               : bad_transition(state, "Deleting", error);
}

/* ---- submitting; under the lock ---- */

static gg_hosted_answer accepts(gg_hosted *s, gg_error *error)
{
    gg_hosted_state state = refresh(s);
    if (state == GG_HOSTED_RUNNING || state == GG_HOSTED_BLOCKED)
        return GG_ANSWER_OK;
    gg_fail(error, GG_E_STATE, "training session %s is %s and takes no operations%s%s",
            s->options.name, states[state], s->info.detail[0] ? ": " : "", s->info.detail);
    return GG_ANSWER_CONFLICT;
}

static gg_hosted_answer has_room(const gg_hosted *s, const gg_op_request *request, gg_error *error)
{
    if (s->waiting < GG_QUEUE_MAX && s->waiting_bytes + request->bytes <= GG_QUEUE_BYTES)
        return GG_ANSWER_OK;
    gg_fail(error, GG_E_LIMIT,
            "%zu operations of training session %s wait already; come again later", s->waiting,
            s->options.name);
    return GG_ANSWER_LATER;
}

/* *same is set when the operation is one that was accepted before. */
static gg_hosted_answer check_number(const gg_hosted *s, int64_t sequence, const char *token,
                                     const uint8_t digest[32], gg_op **same, gg_error *error)
{
    gg_op *known = gg_op_log_token(&s->trained, token);
    *same = NULL;
    if (known && memcmp(known->digest, digest, sizeof known->digest) == 0) {
        *same = known;
        return GG_ANSWER_OK;
    }
    if (known) {
        gg_fail(error, GG_E_ARGUMENT,
                "clientToken %s was used before with other parameters; use a new one", token);
        return GG_ANSWER_INVALID;
    }
    bool used = sequence < s->next;
    for (const gg_op *op = s->training; op && !used; op = op->next)
        used = op->sequence == sequence;
    used = used || (s->running && s->running->sequence == sequence);
    if (!used)
        return GG_ANSWER_OK;
    gg_fail(error, GG_E_ARGUMENT,
            "sequenceNumber %" PRId64 " was accepted before; the highest so far is %" PRId64,
            sequence, s->info.last_received);
    return GG_ANSWER_INVALID;
}

static void enqueue_training(gg_hosted *s, gg_op *op)
{
    gg_op **at = &s->training;
    while (*at && (*at)->sequence < op->sequence)
        at = &(*at)->next;
    op->next = *at;
    *at = op;
    s->waiting++;
    s->waiting_bytes += op->request.bytes;
    if (op->sequence > s->info.last_received)
        s->info.last_received = op->sequence;
    s->info.modified = now();
    refresh(s);
    pthread_cond_broadcast(&s->work);
}

static gg_hosted_answer no_memory(gg_error *error)
{
    gg_fail(error, GG_E_MEMORY, "out of memory for an operation");
    return GG_ANSWER_BROKEN;
}

gg_hosted_answer gg_hosted_submit(gg_hosted *s, int64_t sequence, const char *token,
                                  const uint8_t digest[32], gg_op_request *request,
                                  char id[GG_OPERATION_ID_MAX + 1], gg_error *error)
{
    gg_op *op = NULL;
    pthread_mutex_lock(&s->lock);
    /* A repeated submit is answered in any state: its first answer may have been lost. */
    gg_hosted_answer answer = check_number(s, sequence, token, digest, &op, error);
    bool repeated = op != NULL;
    if (!repeated && answer == GG_ANSWER_OK)
        answer = accepts(s, error);
    if (!repeated && answer == GG_ANSWER_OK)
        answer = has_room(s, request, error);
    if (!repeated && answer == GG_ANSWER_OK) {
        op = gg_op_log_add(&s->trained, request);
        if (op) {
            op->sequence = sequence;
            snprintf(op->token, sizeof op->token, "%s", token);
            memcpy(op->digest, digest, sizeof op->digest);
            enqueue_training(s, op);
        } else {
            answer = no_memory(error);
        }
    }
    if (answer == GG_ANSWER_OK)
        snprintf(id, GG_OPERATION_ID_MAX + 1, TRAINING_ID "%" PRId64, op->number);
    pthread_mutex_unlock(&s->lock);
    gg_op_request_free(request);
    return answer;
}

gg_hosted_answer gg_hosted_submit_sampling(gg_hosted *s, gg_op_request *request,
                                           char id[GG_OPERATION_ID_MAX + 1], gg_error *error)
{
    pthread_mutex_lock(&s->lock);
    gg_hosted_answer answer = accepts(s, error);
    if (answer == GG_ANSWER_OK)
        answer = has_room(s, request, error);
    gg_op *op = answer == GG_ANSWER_OK ? gg_op_log_add(&s->sampled, request) : NULL;
    if (op) {
        *s->sampling_end = op;
        s->sampling_end = &op->next;
        s->waiting++;
        s->waiting_bytes += op->request.bytes;
        snprintf(id, GG_OPERATION_ID_MAX + 1, SAMPLING_ID "%" PRId64, op->number);
        pthread_cond_broadcast(&s->work);
    } else if (answer == GG_ANSWER_OK) {
        answer = no_memory(error);
    }
    pthread_mutex_unlock(&s->lock);
    gg_op_request_free(request);
    return answer;
}

/* ---- results and weights ---- */

/* True when the operation will run soon without anything more arriving. */
static bool soon(const gg_hosted *s, const gg_op *op)
{
    if (!op->sequence || op->status == GG_OP_IN_PROGRESS)
        return true;
    int64_t number = s->next + (s->running && s->running->sequence ? 1 : 0);
    const gg_op *at = s->training;
    for (int i = 0; i < GG_HOLD_AHEAD && at && at->sequence == number; i++, number++) {
        if (at == op)
            return true;
        at = at->next;
    }
    return false;
}

static int64_t number_of(const char *id, const char *prefix)
{
    size_t len = strlen(prefix);
    if (strncmp(id, prefix, len) != 0 || strspn(id + len, "0123456789") != strlen(id + len) ||
        strlen(id + len) > 18)
        return 0;
    return strtoll(id + len, NULL, 10);
}

bool gg_hosted_result(gg_hosted *s, bool sampling, const char *id, gg_result_fn then, void *context)
{
    int64_t number = number_of(id, sampling ? SAMPLING_ID : TRAINING_ID);
    pthread_mutex_lock(&s->lock);
    refresh(s);
    gg_op *op = gg_op_log_find(sampling ? &s->sampled : &s->trained, number);
    bool wait = op && !gg_op_ended(op) && soon(s, op);
    if (op && !(wait && gg_op_wait(op, then, context)))
        gg_op_answer(op, then, context);
    pthread_mutex_unlock(&s->lock);
    return op != NULL;
}

gg_hosted_answer gg_hosted_weights(gg_hosted *s, const char *arn, gg_version **out, gg_error *error)
{
    *out = NULL;
    pthread_mutex_lock(&s->lock);
    gg_hosted_answer answer = accepts(s, error);
    if (answer == GG_ANSWER_OK && !arn)
        *out = gg_version_keep(s->bound);
    pthread_mutex_unlock(&s->lock);
    if (answer != GG_ANSWER_OK || !arn)
        return answer;
    gg_status status = gg_packages_version(s->options.packages, s->options.policy, arn, out, error);
    if (status == GG_OK)
        return GG_ANSWER_OK;
    return status == GG_E_ARGUMENT ? GG_ANSWER_UNKNOWN : GG_ANSWER_BROKEN;
}

void gg_hosted_count(gg_hosted *s, int64_t prefill, int64_t sampled)
{
    pthread_mutex_lock(&s->lock);
    s->info.usage.prefill += prefill;
    s->info.usage.sampled += sampled;
    pthread_mutex_unlock(&s->lock);
}
