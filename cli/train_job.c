#include "cli/train_job.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "cli/game.h"
#include "cli/job_follow.h"
#include "cli/job_plan.h"
#include "cli/objects.h"
#include "cli/plan.h"
#include "cli/term.h"
#include "core/file.h"
#include "core/json.h"
#include "train/package.h"

#define CONFIG_MAX  (16u << 20)
#define PATH_ROOM   4096
#define NAME_SHOWN  40
#define ADAPTER     "adapter.json"
#define OWN_REGION  "us-west-2"
#define OWN_ACCOUNT "arn:aws:sagemaker:" OWN_REGION ":123456789012:"

/* Names for a service of the user's own, which checks their form alone. */
static const struct {
    size_t at;
    const char *value;
} own_names[] = {
    {offsetof(gg_job_plan, region), OWN_REGION},
    {offsetof(gg_job_plan, role), "arn:aws:iam::123456789012:role/guessgym-local"},
    {offsetof(gg_job_plan, agent), "arn:aws:lambda:" OWN_REGION ":123456789012:function:guessgym"},
    {offsetof(gg_job_plan, output), "s3://guessgym/jobs"},
    {offsetof(gg_job_plan, package_group), OWN_ACCOUNT "model-package-group/guessgym"},
    {offsetof(gg_job_plan, checkpoint_group),
     OWN_ACCOUNT "model-package-group/guessgym-checkpoints"},
};

typedef struct setup {
    gg_cli *cli;
    gg_game *game;
    gg_reward *reward;
    gg_tasks rows, val, held_out;
    gg_run *run;
    gg_managed managed;
    bool managed_open;
    gg_price price;
    gg_job_plan plan;
    char name[GG_JOB_NAME_MAX + 1];
    gg_buf dir, train_uri, val_uri;
} setup;

/* ---- what is trained on ---- */

static gg_status load_list(setup *s, gg_opt_id option, const char *split, gg_tasks *out,
                           gg_error *error)
{
    const char *path = gg_opt_text(s->cli->opts, option);

    if (!path)
        path = s->game->api->default_tasks(s->game->env, split);
    return path ? gg_tasks_load(s->game, path, out, error) : GG_OK;
}

static gg_status load_rows(setup *s, gg_error *error)
{
    gg_status status = gg_cli_tasks(s->cli, s->game, "train", &s->rows, error);
    if (status == GG_OK)
        status = load_list(s, GG_OPT_VAL, "val", &s->val, error);
    if (status == GG_OK)
        status = load_list(s, GG_OPT_HELD_OUT, "test", &s->held_out, error);
    if (status == GG_OK && s->held_out.count)
        status = gg_tasks_disjoint(&s->rows, &s->held_out, error);
    return status == GG_OK && s->val.count ? gg_tasks_disjoint(&s->rows, &s->val, error) : status;
}

/* ---- the plan ---- */

static void fill_own_names(setup *s)
{
    for (size_t i = 0; i < sizeof own_names / sizeof *own_names; i++) {
        const char **member = (const char **)(void *)((char *)&s->plan + own_names[i].at);
        *member = *member ? *member : own_names[i].value;
    }
    if (!s->plan.base_model)
        s->plan.base_model = s->game->info.default_policy;
}

/* Stops at the first fault; `guessgym preflight` tells all. */
static gg_status check_plan(setup *s, gg_error *error)
{
    gg_findings findings = {0};
    const gg_preflight what = {.plan = &s->plan, .rows = &s->rows, .val = &s->val};
    gg_status status = GG_OK;

    gg_check_values(&what, &findings);
    gg_check_rows(&what, &findings);
    if (!gg_opt_text(s->cli->opts, GG_OPT_SERVICE_URL))
        gg_check_places(&what, &findings);
    for (size_t i = 0; i < findings.count && status == GG_OK; i++)
        if (findings.items[i].severity == GG_FAULT)
            status =
                gg_fail(error, GG_E_CONFIG, "%s; see `guessgym preflight`", findings.items[i].text);
    gg_findings_free(&findings);
    return status;
}

static gg_status make_plan(setup *s, gg_error *error)
{
    gg_status status = gg_cli_job_plan(s->cli, s->rows.count, &s->plan, error);
    if (status == GG_OK && gg_opt_text(s->cli->opts, GG_OPT_SERVICE_URL))
        fill_own_names(s);
    return status == GG_OK ? check_plan(s, error) : status;
}

/* ---- the folder ---- */

static gg_status open_folder(setup *s, gg_error *error)
{
    const gg_player nobody = {.model = NULL};
    const gg_plan_facts facts = {.game = s->game,
                                 .reward = s->reward,
                                 .tasks = &s->rows,
                                 .player = &nobody,
                                 .val = s->val.count ? &s->val : NULL,
                                 .held_out = s->held_out.count ? &s->held_out : NULL};
    gg_buf config;

    gg_buf_init(&config, CONFIG_MAX);
    gg_plan_config(s->cli, &facts, &config);
    gg_status status = gg_buf_status(&config, "run.json", error);
    if (status == GG_OK)
        status = gg_run_open(gg_buf_cstr(&s->dir), gg_buf_cstr(&config),
                             gg_opt_flag(s->cli->opts, GG_OPT_RESUME), &s->run, error);
    gg_buf_free(&config);
    return status;
}

/* --job-name, else the folder's own name and a random end: names are unique in an account, also
 * those of jobs that have ended. */
static gg_status draw_name(setup *s, gg_error *error)
{
    const char *dir = gg_buf_cstr(&s->dir), *slash = strrchr(dir, '/');
    uint32_t id = 0;
    size_t len = 0;

    if (s->plan.name) {
        snprintf(s->name, sizeof s->name, "%s", s->plan.name);
        return GG_OK;
    }
    for (const char *p = slash && slash[1] ? slash + 1 : dir; *p && len < NAME_SHOWN; p++)
        if (isalnum((unsigned char)*p) || (len && *p == '-'))
            s->name[len++] = *p;
    if (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id)
        return gg_fail(error, GG_E_IO, "cannot draw a random job name");
    snprintf(s->name + len, sizeof s->name - len, "%s%08x", len ? "-" : "job", (unsigned)id);
    return GG_OK;
}

static gg_status write_note(setup *s, gg_error *error)
{
    gg_buf note;

    gg_buf_init(&note, PATH_ROOM);
    gg_buf_str(&note, "{\"name\":");
    gg_buf_json_str(&note, s->name);
    gg_buf_str(&note, "}\n");
    gg_status status = gg_run_write_file(s->run, "job.json", gg_buf_cstr(&note), note.len, error);
    gg_buf_free(&note);
    return status;
}

/* The job of an earlier process; false when there is none. */
static bool read_note(setup *s)
{
    cJSON *root = NULL;
    gg_buf path, text;

    gg_buf_init(&path, PATH_ROOM);
    gg_buf_init(&text, PATH_ROOM);
    gg_buf_printf(&path, "%s/job.json", gg_buf_cstr(&s->dir));
    if (gg_file_read(gg_buf_cstr(&path), &text, NULL) == GG_OK &&
        gg_json_parse(gg_buf_cstr(&text), text.len, &root, NULL) == GG_OK) {
        const char *name = gg_json_text(root, "name");
        snprintf(s->name, sizeof s->name, "%s", name ? name : "");
    }
    cJSON_Delete(root);
    gg_buf_free(&path);
    gg_buf_free(&text);
    return s->name[0] != '\0';
}

/* ---- the data ---- */

static gg_status open_store(setup *s, gg_store **out, gg_error *error)
{
    const gg_aws_keys *keys;
    gg_aws_keys storage;
    gg_status status = gg_managed_keys(&s->managed, &storage, &keys, error);

    return status == GG_OK ? gg_cli_store(s->cli, NULL, s->plan.region, keys, out, error) : status;
}

/* Rows as the job takes them: one column, the prompt, whatever the file was. */
static void write_rows(const gg_tasks *tasks, gg_buf *out)
{
    for (size_t i = 0; i < tasks->count; i++) {
        gg_buf_str(out, "{\"prompt\":");
        gg_buf_json_str(out, tasks->items[i].prompt);
        gg_buf_str(out, "}\n");
    }
}

static gg_status upload(setup *s, const gg_store *store, const gg_tasks *tasks, const char *file,
                        gg_buf *uri, gg_error *error)
{
    size_t len = strlen(s->plan.output);
    gg_buf bytes;

    gg_buf_init(&bytes, GG_FILE_MAX);
    write_rows(tasks, &bytes);
    gg_buf_printf(uri, "%.*s/%s/data/%s",
                  (int)(len && s->plan.output[len - 1] == '/' ? len - 1 : len), s->plan.output,
                  s->name, file);
    gg_status status = gg_buf_status(&bytes, "rows", error);
    if (status == GG_OK)
        status = gg_store_write(store, gg_buf_cstr(uri), gg_buf_cstr(&bytes), bytes.len, error);
    gg_buf_free(&bytes);
    return status;
}

static gg_status create(setup *s, gg_error *error)
{
    char arn[GG_JOB_ARN_MAX + 1];
    gg_store *store = NULL;

    gg_status status = open_store(s, &store, error);
    if (status == GG_OK)
        status = upload(s, store, &s->rows, "train.jsonl", &s->train_uri, error);
    if (status == GG_OK && s->val.count)
        status = upload(s, store, &s->val, "val.jsonl", &s->val_uri, error);
    gg_store_close(store);
    if (status != GG_OK)
        return status;
    const gg_remote_job_data data = {gg_buf_cstr(&s->train_uri),
                                     s->val.count ? gg_buf_cstr(&s->val_uri) : NULL};
    s->plan.name = s->name;
    status = gg_remote_job_create(&s->managed.client, &s->plan, &data, arn, error);
    if (status == GG_OK)
        gg_remark(s->cli, "job %s is created; guessgym job follow %s watches it from anywhere", arn,
                  s->name);
    return status;
}

/* ---- its end ---- */

static gg_status fetch(setup *s, const gg_remote_job_state *job, gg_error *error)
{
    gg_store *store = NULL;
    gg_buf uri, bytes;

    gg_buf_init(&uri, PATH_ROOM);
    gg_buf_init(&bytes, GG_FILE_MAX);
    gg_status status = gg_package_location(&s->managed.loop, s->managed.control, job->package,
                                           &s->managed.given_up, &uri, error);
    if (status == GG_OK)
        status = open_store(s, &store, error);
    if (status == GG_OK &&
        gg_cli_store_file(store, gg_buf_cstr(&uri), ADAPTER, &bytes, NULL) == GG_OK) {
        status = gg_run_write_file(s->run, ADAPTER, gg_buf_cstr(&bytes), bytes.len, error);
        gg_remark(s->cli, "weights: %s/" ADAPTER, gg_run_dir(s->run));
    } else if (status == GG_OK) {
        gg_remark(s->cli, "weights: %s", gg_buf_cstr(&uri)); /* a hub model's stay there */
    }
    gg_store_close(store);
    gg_buf_free(&uri);
    gg_buf_free(&bytes);
    return status;
}

static gg_status prepare(setup *s, gg_error *error)
{
    gg_status status = gg_plan_resume(s->cli, error);
    if (status == GG_OK)
        status = gg_cli_game(s->cli, gg_opt_text(s->cli->opts, GG_OPT_ENV), &s->game, error);
    if (status == GG_OK)
        status = gg_cli_reward(s->cli, s->game, &s->reward, error);
    if (status == GG_OK)
        status = load_rows(s, error);
    if (status == GG_OK)
        status = make_plan(s, error);
    if (status == GG_OK)
        status = gg_plan_price(s->cli, &s->price, error);
    if (status == GG_OK)
        status = open_folder(s, error);
    return status;
}

static gg_status work(setup *s, gg_remote_job_state *job, gg_error *error)
{
    bool known = gg_opt_flag(s->cli->opts, GG_OPT_RESUME) && read_note(s);
    gg_error said = {0};

    s->managed_open = true;
    gg_status status = gg_managed_open(s->cli, &s->managed, error);
    if (status == GG_OK && !known)
        status = draw_name(s, error);
    if (status == GG_OK && !known)
        status = write_note(s, error);
    /* A kill may have come between the note and the job. */
    if (status == GG_OK && (!known || gg_remote_job_describe(&s->managed.client, s->name, job,
                                                             &said) == GG_E_PROTOCOL))
        status = create(s, error);
    if (status == GG_OK)
        status = gg_job_follow(s->cli, &s->managed, s->name, &s->price, job, error);
    if (status == GG_OK && gg_remote_job_completed(job) && job->package[0])
        status = fetch(s, job, error);
    return status;
}

gg_exit gg_train_on_job(gg_cli *cli)
{
    const gg_player nobody = {.model = (char *)(uintptr_t) "job"};
    setup s = {.cli = cli};
    gg_remote_job_state job = {.step = -1};
    gg_error error = {0};

    gg_plan_folder(cli, &nobody, &s.dir);
    gg_buf_init(&s.train_uri, PATH_ROOM);
    gg_buf_init(&s.val_uri, PATH_ROOM);
    gg_status status = prepare(&s, &error);
    gg_phase phase = status == GG_OK ? GG_WORKING : GG_STARTING;
    if (status == GG_OK)
        status = work(&s, &job, &error);
    if (status == GG_OK)
        gg_job_print(cli, &job, &s.price);
    gg_exit code = status != GG_OK                 ? gg_give_up(phase, &error)
                   : gg_remote_job_completed(&job) ? GG_EXIT_OK
                                                   : GG_EXIT_UNREACHABLE;
    if (s.managed_open)
        gg_managed_close(&s.managed);
    gg_run_close(s.run);
    gg_tasks_free(&s.held_out);
    gg_tasks_free(&s.val);
    gg_tasks_free(&s.rows);
    gg_reward_free(s.reward);
    gg_game_close(s.game);
    gg_buf_free(&s.dir);
    gg_buf_free(&s.train_uri);
    gg_buf_free(&s.val_uri);
    return code;
}
