/* The first reading: what is counted, by task and by label. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "report/report_inside.h"

#define SLOTS_AT_FIRST 1024
#define ANSWER_MAX     200
#define SAME           1e-12

static gg_status no_memory(gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory while reading a run");
}

/* ---- tasks ---- */

static size_t slot_of(const gg_report *r, const char *key)
{
    uint64_t h = 14695981039346656037u;
    for (const char *p = key; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    size_t at = (size_t)(h % r->slot_count);
    while (r->task_slots[at] && strcmp(r->tasks[r->task_slots[at] - 1].key, key) != 0)
        at = (at + 1) % r->slot_count;
    return at;
}

size_t gg_report_task_at(const gg_report *r, const char *key)
{
    uint32_t place = r->slot_count ? r->task_slots[slot_of(r, key)] : 0;
    return place ? place - 1 : SIZE_MAX;
}

static bool grow_slots(gg_report *r)
{
    size_t count = r->slot_count ? 4 * r->slot_count : SLOTS_AT_FIRST;
    uint32_t *fresh = calloc(count, sizeof *fresh);
    if (!fresh)
        return false;
    free(r->task_slots);
    r->task_slots = fresh;
    r->slot_count = count;
    for (size_t i = 0; i < r->task_count; i++)
        fresh[slot_of(r, r->tasks[i].key)] = (uint32_t)(i + 1);
    return true;
}

/* An answer that is a short text; a list of documents would say nothing in a heading. */
static char *answer_text(const gg_episode *e)
{
    cJSON *value = NULL;
    char *out = NULL;
    const char *text = e->answer ? e->answer : "";
    if (*text == '"' && gg_json_parse(text, strlen(text), &value, NULL) == GG_OK &&
        strlen(value->valuestring) <= ANSWER_MAX)
        out = strdup(value->valuestring);
    cJSON_Delete(value);
    return out ? out : strdup("");
}

static gg_report_task *need_task(gg_report *r, const gg_episode *e)
{
    const char *key = e->task_key ? e->task_key : "";
    if (2 * (r->task_count + 1) > r->slot_count && !grow_slots(r))
        return NULL;
    size_t slot = slot_of(r, key);
    if (r->task_slots[slot])
        return &r->tasks[r->task_slots[slot] - 1];
    if (r->task_count == r->task_room) {
        size_t room = r->task_room ? 2 * r->task_room : 256;
        gg_report_task *grown = realloc(r->tasks, room * sizeof *grown);
        if (!grown)
            return NULL;
        r->tasks = grown;
        r->task_room = room;
    }
    gg_report_task *task = &r->tasks[r->task_count];
    *task = (gg_report_task){.id = strdup(e->task_id ? e->task_id : ""), .answer = answer_text(e)};
    snprintf(task->key, sizeof task->key, "%s", key);
    r->task_slots[slot] = (uint32_t)++r->task_count;
    return task->id && task->answer ? task : NULL;
}

/* ---- labels ---- */

size_t gg_report_label_at(const gg_report *r, const char *name, const char *value)
{
    for (size_t i = 0; i < r->label_count; i++)
        if (strcmp(r->labels[i].value, value) == 0 && strcmp(r->labels[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

static bool add_label(gg_report *r, size_t run, const gg_label *label, const gg_episode *e)
{
    size_t at = gg_report_label_at(r, label->name, label->value);
    if (at == SIZE_MAX && r->label_count == GG_REPORT_LABELS)
        return true; /* the table would help nobody */
    if (at == SIZE_MAX && r->label_count == r->label_room) {
        size_t room = r->label_room ? 2 * r->label_room : 64;
        gg_report_label *grown = realloc(r->labels, room * sizeof *grown);
        if (!grown)
            return false;
        r->labels = grown;
        r->label_room = room;
    }
    if (at == SIZE_MAX) {
        at = r->label_count++;
        r->labels[at] =
            (gg_report_label){.name = strdup(label->name), .value = strdup(label->value)};
        if (!r->labels[at].name || !r->labels[at].value)
            return false;
    }
    r->labels[at].plays[run]++;
    r->labels[at].solved[run] += e->outcome == GG_SOLVED;
    r->labels[at].reward[run] += e->reward;
    return true;
}

/* ---- plays ---- */

bool gg_report_repaired(const gg_episode *e)
{
    for (size_t t = 0; t < e->turn_count; t++)
        for (size_t c = 0; c < e->turns[t].call_count; c++)
            if (e->turns[t].calls[c].repair_count)
                return true;
    return false;
}

typedef struct reading {
    gg_report *report;
    size_t run;
} reading;

static gg_status take(const reading *from, const gg_episode *e, gg_error *error)
{
    gg_report *r = from->report;
    gg_report_run *run = &r->runs[from->run];
    bool counts = e->outcome != GG_ERRORED;
    gg_report_task *task = need_task(r, e);
    bool fine = task != NULL;
    if (fine && counts) {
        task->plays[from->run]++;
        task->solved[from->run] += e->outcome == GG_SOLVED;
        task->measure[from->run] += isnan(e->measure.value) ? 0 : e->measure.value;
        for (size_t i = 0; i < e->label_count && fine; i++)
            fine = add_label(r, from->run, &e->labels[i], e);
    }
    if (fine && !r->measure && e->measure.name)
        fine = (r->measure = strdup(e->measure.name)) != NULL;
    run->plays++;
    run->by_stop[e->stop]++;
    r->total++;
    r->flagged += e->outcome == GG_ERRORED || gg_report_repaired(e);
    if (!fine)
        return no_memory(error);
    return run->summary ? gg_summary_add(run->summary, e, error) : GG_OK;
}

static gg_status each(void *context, gg_episode *episode, gg_error *error)
{
    gg_status status = take(context, episode, error);
    gg_episode_free(episode);
    return status;
}

/* ---- one run ---- */

/* How large the plan was, as run.json has it. */
static gg_status open_summary(const gg_run *run, gg_report_run *out, gg_error *error)
{
    cJSON *root = NULL;
    const char *text = gg_run_config(run);
    int64_t tasks = 0, samples = 0;
    gg_status status = gg_json_parse(text, strlen(text), &root, error);
    if (status != GG_OK)
        return status;
    const cJSON *config = gg_json_get(root, "config");
    const char *command = gg_json_text(config, "command");
    out->trained = command && strcmp(command, "train") == 0;
    bool known =
        gg_json_int(gg_json_get(config, "list"), "count", &tasks) &&
        (gg_json_int(config, "samples", &samples) || gg_json_int(config, "group_size", &samples));
    if (!out->trained && !known)
        status = gg_fail(error, GG_E_FORMAT, "%s/run.json does not say how many plays were planned",
                         gg_run_dir(run));
    else if (!out->trained)
        status = gg_summary_new((size_t)tasks, (size_t)samples, &out->summary, error);
    cJSON_Delete(root);
    return status;
}

static gg_status collect_run(gg_report *r, size_t i, gg_error *error)
{
    gg_report_run *run = &r->runs[i];
    reading from = {r, i};
    gg_damage damage = {0};
    gg_status status = open_summary(r->o->runs[i], run, error);
    if (status == GG_OK)
        status = gg_run_each_episode(r->o->runs[i], GG_JOURNAL_EPISODES, GG_READ_PLAY, each, &from,
                                     &damage, error);
    if (status == GG_OK && run->trained)
        status = gg_training_read(r->o->runs[i], &run->training, error);
    else if (status == GG_OK)
        status = gg_summary_figures(run->summary, &run->figures, error);
    return status;
}

static void mark_flips(gg_report *r)
{
    for (size_t i = 0; i < r->task_count; i++) {
        gg_report_task *t = &r->tasks[i];
        if (!t->plays[0] || !t->plays[1])
            continue;
        double before = t->measure[0] / (double)t->plays[0],
               after = t->measure[1] / (double)t->plays[1];
        t->flipped = fabs(after - before) > SAME;
        r->flagged += t->flipped ? t->plays[0] + t->plays[1] : 0;
    }
}

gg_status gg_report_collect(gg_report *r, gg_error *error)
{
    gg_status status = GG_OK;
    for (size_t i = 0; i < r->run_count && status == GG_OK; i++)
        status = collect_run(r, i, error);
    if (status != GG_OK || r->run_count < 2)
        return status;
    const gg_compare_options options = {.by = GG_BY_MEASURE, .common = true, .seed = r->o->seed};
    status = gg_compare_runs(r->o->runs[0], r->o->runs[1], &options, &r->comparison, error);
    r->compared = status == GG_OK;
    mark_flips(r);
    return status;
}

void gg_report_free(gg_report *r)
{
    for (size_t i = 0; i < r->task_count; i++) {
        free(r->tasks[i].id);
        free(r->tasks[i].answer);
    }
    for (size_t i = 0; i < r->label_count; i++) {
        free(r->labels[i].name);
        free(r->labels[i].value);
    }
    for (size_t i = 0; i < r->run_count; i++)
        gg_summary_free(r->runs[i].summary);
    free(r->tasks);
    free(r->task_slots);
    free(r->labels);
    free(r->measure);
    gg_buf_free(&r->out);
}
