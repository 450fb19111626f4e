#include "service/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "service/job_inside.h"

#define SUFFIX   ".json"
#define FILE_MAX (4u << 20)

struct gg_jobs {
    pthread_mutex_t lock;
    const gg_job_site *site;
    gg_job **items; /* by creation */
    size_t count, room;
};

/* ---- entries; under the lock ---- */

static bool is(const gg_job *job, gg_job_category category, const char *name)
{
    return job->o.category == category && strcmp(job->o.name, name) == 0;
}

static gg_job *find(const gg_jobs *jobs, gg_job_category category, const char *name)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (is(jobs->items[i], category, name))
            return jobs->items[i];
    return NULL;
}

static bool insert(gg_jobs *jobs, gg_job *job)
{
    if (jobs->count == jobs->room) {
        size_t room = jobs->room ? jobs->room * 2 : 16;
        gg_job **items = realloc(jobs->items, room * sizeof(gg_job *));
        if (!items)
            return false;
        jobs->items = items;
        jobs->room = room;
    }
    size_t at = jobs->count++;
    for (; at > 0 && jobs->items[at - 1]->info.created > job->info.created; at--)
        jobs->items[at] = jobs->items[at - 1];
    jobs->items[at] = job;
    return true;
}

static gg_job_state state_of(gg_job *job)
{
    pthread_mutex_lock(&job->lock);
    gg_job_state state = job->info.state;
    pthread_mutex_unlock(&job->lock);
    return state;
}

static size_t running(const gg_jobs *jobs, gg_job_category category)
{
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        count +=
            jobs->items[i]->o.category == category && state_of(jobs->items[i]) < GG_JOB_COMPLETED;
    return count;
}

static gg_jobs_answer add(gg_jobs *jobs, const gg_job_options *options, gg_error *error)
{
    gg_job *job = NULL;
    const char *category = gg_job_category_name(options->category);
    if (find(jobs, options->category, options->name)) {
        gg_fail(error, GG_E_STATE, "Job already exists: %s", options->arn);
        return GG_JOBS_TAKEN;
    }
    if (running(jobs, options->category) >= GG_JOBS_RUNNING_MAX) {
        gg_fail(error, GG_E_LIMIT,
                "The account-level service limit for concurrent %s jobs is %d, with current "
                "utilization of %d and a request delta of 1",
                category, GG_JOBS_RUNNING_MAX, GG_JOBS_RUNNING_MAX);
        return GG_JOBS_FULL;
    }
    gg_status status = gg_job_new(options, &job, error);
    if (status == GG_OK)
        status = gg_job_save(job, error);
    if (status == GG_OK && !insert(jobs, job))
        status = gg_fail(error, GG_E_MEMORY, "out of memory for a job");
    if (status != GG_OK) {
        gg_job_release(job);
        return GG_JOBS_BROKEN;
    }
    return gg_job_start(job, error) == GG_OK ? GG_JOBS_OK : GG_JOBS_BROKEN;
}

gg_jobs_answer gg_jobs_add(gg_jobs *jobs, const gg_job_options *options, gg_error *error)
{
    pthread_mutex_lock(&jobs->lock);
    gg_jobs_answer answer = add(jobs, options, error);
    pthread_mutex_unlock(&jobs->lock);
    return answer;
}

gg_job *gg_jobs_find(gg_jobs *jobs, gg_job_category category, const char *name)
{
    pthread_mutex_lock(&jobs->lock);
    gg_job *job = find(jobs, category, name);
    if (job)
        gg_job_keep(job);
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

void gg_jobs_remove(gg_jobs *jobs, gg_job *job)
{
    bool found = false;
    pthread_mutex_lock(&jobs->lock);
    for (size_t i = 0; i < jobs->count && !found; i++)
        if (jobs->items[i] == job) {
            found = true;
            memmove(&jobs->items[i], &jobs->items[i + 1], (jobs->count - i - 1) * sizeof(gg_job *));
            jobs->count--;
        }
    /* The worker first: it may still be writing down how it ended. */
    if (found) {
        gg_job_suspend(job);
        gg_job_files_remove(job);
    }
    pthread_mutex_unlock(&jobs->lock);
    if (found)
        gg_job_release(job);
}

gg_job **gg_jobs_list(gg_jobs *jobs, gg_job_category category, size_t *count)
{
    pthread_mutex_lock(&jobs->lock);
    gg_job **list = calloc(jobs->count + 1, sizeof(gg_job *));
    *count = 0;
    for (size_t i = 0; list && i < jobs->count; i++)
        if (jobs->items[i]->o.category == category)
            list[(*count)++] = gg_job_keep(jobs->items[i]);
    pthread_mutex_unlock(&jobs->lock);
    return list;
}

/* ---- opening ---- */

typedef struct opening {
    gg_jobs *jobs;
    gg_policy_fn policy;
    void *context;
    gg_error *error;
} opening;

static gg_status restore(opening *x, const cJSON *root, const char *path)
{
    gg_job *job = NULL;
    gg_job_config config;
    int64_t bytes = 0;
    gg_job_options o = {.site = x->jobs->site,
                        .name = gg_json_text(root, "name"),
                        .arn = gg_json_text(root, "arn"),
                        .region = gg_json_text(root, "region"),
                        .role = gg_json_text(root, "role"),
                        .tags = gg_json_text(root, "tags"),
                        .schema_version = gg_json_text(root, "schema_version"),
                        .document = gg_json_text(root, "document"),
                        .category = gg_job_category_parse(gg_json_text(root, "category"))};
    bool whole = o.name && o.arn && o.document && o.category < GG_JOB_CATEGORIES &&
                 gg_job_state_parse(gg_json_text(root, "state")) < GG_JOB_STATES;
    if (!whole ||
        gg_job_config_read(o.category, o.document, &config, NULL, NULL, x->error) != GG_OK)
        return gg_fail(x->error, GG_E_FORMAT, "%s is damaged; remove it", path);
    gg_status status = x->policy(x->context, config.base_id, &o.policy, x->error);
    gg_job_config_free(&config);
    if (status == GG_OK)
        status = gg_job_new(&o, &job, x->error);
    if (status != GG_OK)
        return status;
    gg_job_read_info(root, &job->info);
    gg_json_int(root, "metrics_bytes", &bytes);
    gg_job_recover_metrics(job, bytes);
    if (insert(x->jobs, job))
        return GG_OK;
    gg_job_release(job);
    return gg_fail(x->error, GG_E_MEMORY, "out of memory for the jobs");
}

static gg_status read_file(opening *x, const char *folder, const char *name)
{
    gg_buf path, text;
    cJSON *root = NULL;
    gg_buf_init(&path, strlen(folder) + strlen(name) + 2);
    gg_buf_init(&text, FILE_MAX);
    gg_buf_printf(&path, "%s/%s", folder, name);
    gg_status status = gg_buf_status(&path, "a path", x->error);
    if (status == GG_OK)
        status = gg_file_read(path.data, &text, x->error);
    if (status == GG_OK)
        status = gg_json_parse(gg_buf_cstr(&text), text.len, &root, x->error);
    if (status == GG_E_FORMAT)
        status = gg_fail(x->error, GG_E_FORMAT, "%s is damaged; remove it", path.data);
    if (status == GG_OK)
        status = restore(x, root, path.data);
    cJSON_Delete(root);
    gg_buf_free(&path);
    gg_buf_free(&text);
    return status;
}

static bool is_state_file(const char *name)
{
    size_t len = strlen(name), end = strlen(SUFFIX);
    return len > end && strcmp(name + len - end, SUFFIX) == 0;
}

static gg_status read_category(opening *x, gg_job_category category)
{
    gg_buf folder;
    struct dirent *entry;
    const char *state_dir = x->jobs->site->state_dir;
    gg_buf_init(&folder, strlen(state_dir) + 64);
    gg_buf_printf(&folder, "%s/jobs/%s", state_dir, gg_job_category_name(category));
    gg_status status = gg_buf_status(&folder, "a path", x->error);
    DIR *dir = status == GG_OK ? opendir(folder.data) : NULL;
    if (status == GG_OK && !dir && errno != ENOENT)
        status = gg_fail(x->error, GG_E_IO, "cannot read %s: %s", folder.data, strerror(errno));
    while (dir && status == GG_OK && (entry = readdir(dir)))
        if (is_state_file(entry->d_name))
            status = read_file(x, folder.data, entry->d_name);
    if (dir)
        closedir(dir);
    gg_buf_free(&folder);
    return status;
}

gg_status gg_jobs_open(const gg_job_site *site, gg_policy_fn policy, void *context, gg_jobs **out,
                       gg_error *error)
{
    gg_jobs *jobs = calloc(1, sizeof *jobs);
    *out = NULL;
    if (!jobs)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the jobs");
    pthread_mutex_init(&jobs->lock, NULL);
    jobs->site = site;
    opening x = {jobs, policy, context, error};
    gg_status status = GG_OK;
    for (gg_job_category c = 0; site->state_dir && c < GG_JOB_CATEGORIES && status == GG_OK; c++)
        status = read_category(&x, c);
    if (status == GG_OK)
        *out = jobs;
    else
        gg_jobs_close(jobs);
    return status;
}

gg_status gg_jobs_resume(gg_jobs *jobs, gg_error *error)
{
    gg_status status = GG_OK;
    for (size_t i = 0; i < jobs->count && status == GG_OK; i++) {
        bool waits = !jobs->site->agent_url && state_of(jobs->items[i]) < GG_JOB_COMPLETED;
        if (waits)
            gg_job_say(jobs->items[i], "it goes on once the service is started with --agent");
        else
            status = gg_job_start(jobs->items[i], error);
    }
    return status;
}

void gg_jobs_suspend(gg_jobs *jobs)
{
    for (size_t i = 0; jobs && i < jobs->count; i++)
        gg_job_suspend(jobs->items[i]);
}

void gg_jobs_close(gg_jobs *jobs)
{
    if (!jobs)
        return;
    for (size_t i = 0; i < jobs->count; i++)
        gg_job_release(jobs->items[i]);
    free(jobs->items);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}
