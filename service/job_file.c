/* The state file of a job: what DescribeJob tells, and where the work goes on. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "service/job_inside.h"

#define FOLDER        "jobs"
#define FILE_MAX      (4u << 20)
#define PATH_MAX_HERE 4096

void gg_job_file_path(const gg_job *job, const char *suffix, gg_buf *out)
{
    gg_buf_init(out, PATH_MAX_HERE);
    gg_buf_printf(out, "%s/" FOLDER "/%s/%s%s", job->o.site->state_dir,
                  gg_job_category_name(job->o.category), job->o.name, suffix);
}

static void write_texts(const gg_job *job, gg_buf *out)
{
    const gg_job_options *o = &job->o;
    const gg_job_info *info = &job->info;
    const char *const texts[][2] = {
        {"name", o->name},
        {"arn", o->arn},
        {"region", o->region},
        {"role", o->role},
        {"tags", o->tags},
        {"schema_version", o->schema_version},
        {"document", o->document},
        {"category", gg_job_category_name(o->category)},
        {"state", gg_job_state_name(info->state)},
        {"phase", gg_job_phase_name(info->phase)},
        {"reason", info->reason},
        {"model_arn", info->model_arn},
        {"state_arn", info->state_arn},
        {"output_arn", info->output_arn},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gg_buf_printf(out, "\"%s\":", texts[i][0]);
        gg_buf_json_str(out, texts[i][1]);
        gg_buf_char(out, ',');
    }
}

typedef struct number {
    const char *name;
    size_t at;
    bool whole;
} number;

#define WHOLE(name)                                                                                \
    {                                                                                              \
#name, offsetof(gg_job_info, name), true                                                   \
    }
#define REAL(name)                                                                                 \
    {                                                                                              \
#name, offsetof(gg_job_info, name), false                                                  \
    }
static const number numbers[] = {
    REAL(created),
    REAL(modified),
    REAL(ended),
    WHOLE(step),
    WHOLE(steps),
    WHOLE(epoch),
    WHOLE(epochs),
    WHOLE(steps_per_epoch),
    WHOLE(batch),
    WHOLE(seconds),
    WHOLE(starts),
    WHOLE(rollouts),
    WHOLE(rollouts_done),
    {"prefill", offsetof(gg_job_info, usage.prefill), true},
    {"sampled", offsetof(gg_job_info, usage.sampled), true},
    {"trained", offsetof(gg_job_info, usage.trained), true},
};
#define NUMBERS (sizeof numbers / sizeof *numbers)

static void write_numbers(const gg_job_info *info, gg_buf *out)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        const char *at = (const char *)info + numbers[i].at;
        int64_t whole;
        double real;
        memcpy(&whole, at, sizeof whole);
        memcpy(&real, at, sizeof real);
        gg_buf_printf(out, "\"%s\":", numbers[i].name);
        if (numbers[i].whole)
            gg_buf_int(out, whole);
        else
            gg_buf_double(out, real);
        gg_buf_char(out, ',');
    }
}

static void write_transitions(const gg_job_info *info, gg_buf *out)
{
    gg_buf_str(out, "\"transitions\":[");
    for (size_t i = 0; i < info->transition_count; i++) {
        const gg_job_transition *t = &info->transitions[i];
        gg_buf_printf(out, "%s{\"phase\":\"%s\",\"start\":", i ? "," : "",
                      gg_job_phase_name(t->phase));
        gg_buf_double(out, t->start);
        gg_buf_str(out, ",\"end\":");
        gg_buf_double(out, t->end);
        gg_buf_str(out, ",\"message\":");
        gg_buf_json_str(out, t->message);
        gg_buf_char(out, '}');
    }
    gg_buf_char(out, ']');
}

static void write_state(gg_job *job, gg_buf *out)
{
    gg_buf_char(out, '{');
    write_texts(job, out);
    write_numbers(&job->info, out);
    gg_buf_printf(out, "\"metrics_bytes\":%zu,", job->metrics.len);
    write_transitions(&job->info, out);
    gg_buf_str(out, "}\n");
}

static gg_status make_folder(const gg_buf *path, gg_error *error)
{
    char folder[PATH_MAX_HERE];
    const char *slash = strrchr(path->data, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path->data), path->data);
    return gg_dir_make(folder, error);
}

gg_status gg_job_save(gg_job *job, gg_error *error)
{
    gg_buf text, path;
    if (!job->o.site->state_dir)
        return GG_OK;
    gg_buf_init(&text, FILE_MAX);
    gg_job_file_path(job, ".json", &path);
    pthread_mutex_lock(&job->file);
    pthread_mutex_lock(&job->lock);
    write_state(job, &text);
    pthread_mutex_unlock(&job->lock);
    gg_status status = gg_buf_status(&text, "a job's state", error);
    if (status == GG_OK)
        status = gg_buf_status(&path, "a path", error);
    if (status == GG_OK)
        status = make_folder(&path, error);
    if (status == GG_OK)
        status = gg_file_write(path.data, text.data, text.len, error);
    pthread_mutex_unlock(&job->file);
    gg_buf_free(&text);
    gg_buf_free(&path);
    return status;
}

void gg_job_files_remove(const gg_job *job)
{
    static const char *const suffixes[] = {".json", ".metrics.jsonl"};
    for (size_t i = 0; job->o.site->state_dir && i < sizeof suffixes / sizeof *suffixes; i++) {
        gg_buf path;
        gg_job_file_path(job, suffixes[i], &path);
        if (path.status == GG_OK)
            unlink(path.data);
        gg_buf_free(&path);
    }
}

/* ---- reading ---- */

static void read_text(const cJSON *root, const char *name, char *out, size_t room)
{
    const char *text = gg_json_text(root, name);
    snprintf(out, room, "%s", text ? text : "");
}

static void read_transitions(const cJSON *list, gg_job_info *info)
{
    const cJSON *item;
    info->transition_count = 0;
    cJSON_ArrayForEach(item, list)
    {
        gg_job_transition t = {.phase = gg_job_phase_parse(gg_json_text(item, "phase"))};
        gg_json_number(item, "start", &t.start);
        gg_json_number(item, "end", &t.end);
        read_text(item, "message", t.message, sizeof t.message);
        if (t.phase < GG_PHASES && info->transition_count < GG_JOB_TRANSITIONS)
            info->transitions[info->transition_count++] = t;
    }
}

void gg_job_read_info(const cJSON *root, gg_job_info *info)
{
    info->state = gg_job_state_parse(gg_json_text(root, "state"));
    info->phase = gg_job_phase_parse(gg_json_text(root, "phase"));
    read_text(root, "reason", info->reason, sizeof info->reason);
    read_text(root, "model_arn", info->model_arn, sizeof info->model_arn);
    read_text(root, "state_arn", info->state_arn, sizeof info->state_arn);
    read_text(root, "output_arn", info->output_arn, sizeof info->output_arn);
    for (size_t i = 0; i < NUMBERS; i++) {
        char *at = (char *)info + numbers[i].at;
        int64_t whole = 0;
        double real = 0;
        if (numbers[i].whole && gg_json_int(root, numbers[i].name, &whole))
            memcpy(at, &whole, sizeof whole);
        else if (!numbers[i].whole && gg_json_number(root, numbers[i].name, &real))
            memcpy(at, &real, sizeof real);
    }
    read_transitions(gg_json_get(root, "transitions"), info);
}
