#include "agent/offload.h"

#include <stdlib.h>
#include <string.h>

struct gg_offload {
    uv_work_t request;
    gg_job job;
    gg_buf text, facts;
    char *tool, *input;
    gg_offload_done done; /* NULL = left behind */
    void *context;
    gg_offload_list *behind;
    gg_offload *next; /* among those left behind */
};

static void free_offload(gg_offload *o)
{
    gg_buf_free(&o->text);
    gg_buf_free(&o->facts);
    free(o->tool);
    free(o->input);
    free(o);
}

static void run(uv_work_t *request)
{
    gg_offload *o = request->data;
    gg_job_run(&o->job);
}

static void take_off(gg_offload *o)
{
    gg_offload **at = o->behind ? &o->behind->first : NULL;
    while (at && *at != o)
        at = &(*at)->next;
    if (at)
        *at = o->next;
}

static void came_back(uv_work_t *request, int cancelled)
{
    gg_offload *o = request->data;
    (void)cancelled; /* never: nothing calls uv_cancel */
    if (o->done) {
        o->done(o->context, &o->job);
    } else {
        take_off(o);
        o->job.game->api->finish(o->job.play);
    }
    free_offload(o);
}

static bool own_texts(gg_offload *o, const gg_job *job)
{
    o->job = *job;
    gg_buf_init(&o->text, job->result.text->maximum);
    gg_buf_init(&o->facts, job->result.facts->maximum);
    o->job.result.text = &o->text;
    o->job.result.facts = &o->facts;
    o->tool = job->tool ? strdup(job->tool) : NULL;
    o->input = strdup(job->input);
    o->job.tool = o->tool;
    o->job.input = o->input;
    return o->input && (o->tool || !job->tool);
}

gg_status gg_offload_start(uv_loop_t *loop, const gg_job *job, gg_offload_done done, void *context,
                           gg_offload **out, gg_error *error)
{
    gg_offload *o = calloc(1, sizeof *o);
    *out = NULL;
    if (!o)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a call");
    if (!own_texts(o, job)) {
        free_offload(o);
        return gg_fail(error, GG_E_MEMORY, "out of memory for a call");
    }
    o->done = done;
    o->context = context;
    o->request.data = o;
    int code = uv_queue_work(loop, &o->request, run, came_back);
    if (code != 0) {
        free_offload(o);
        return gg_fail(error, GG_E_LIMIT, "cannot start a call on the thread pool: %s",
                       uv_strerror(code));
    }
    *out = o;
    return GG_OK;
}

void gg_offload_leave(gg_offload *o, gg_offload_list *behind)
{
    o->done = NULL;
    o->behind = behind;
    o->next = behind->first;
    behind->first = o;
}

size_t gg_offload_count(const gg_offload_list *behind)
{
    size_t count = 0;
    for (const gg_offload *o = behind->first; o; o = o->next)
        count++;
    return count;
}

void gg_offload_forget(gg_offload_list *behind)
{
    for (gg_offload *o = behind->first; o; o = o->next)
        o->behind = NULL;
    behind->first = NULL;
}
