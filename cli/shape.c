/* guessgym shape: which reward makes the policy solve more, by training it under each. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/children.h"
#include "cli/game.h"
#include "cli/shape_text.h"
#include "cli/term.h"
#include "core/file.h"
#include "core/json.h"
#include "report/shape.h"

#define TEXT_ROOM     4200 /* of a reward's text, of a path */
#define CONFIG_MAX    (1u << 20)
#define CELL_ROOM     64
#define EFFORT        "low" /* unless another is asked for: it costs least */
#define AFTER_SAMPLES 8     /* plays a task after a training ... */
#define BEFORE_GROUPS 2     /* ... and group sizes of plays before: enough for the expectation */

enum { TRAINING, AFTER, PARTS }; /* of one seed of one reward */

typedef struct lab {
    gg_cli *cli;
    gg_game *game;
    gg_buf dir, config, val;
    size_t count, seeds, group_size;
    int64_t steps[GG_SHAPE_POINTS];
    char *reward[GG_SHAPE_REWARDS];
    gg_reward *parsed[GG_SHAPE_REWARDS];
    gg_child *children; /* before, then PARTS for each reward and seed */
    size_t child_count;
    char **texts; /* what the children's arguments point to */
    size_t text_count, text_room;
    gg_shape *shape;
    gg_shape_figures figures;
} lab;

/* ---- what is asked ---- */

static gg_status check_rewards(lab *l, gg_error *error)
{
    char text[TEXT_ROOM];
    gg_status status = GG_OK;

    for (size_t i = 0;
         status == GG_OK && gg_opt_item(l->cli->opts, GG_OPT_SHAPED, i, text, sizeof text); i++) {
        gg_reward *reward = NULL;
        if (l->count == GG_SHAPE_REWARDS)
            return gg_fail(error, GG_E_CONFIG, "at most %d rewards can be tried together",
                           GG_SHAPE_REWARDS);
        status = gg_reward_parse(l->game, text, &reward, error);
        l->parsed[l->count] = reward;
        for (size_t k = 0; k < l->count && status == GG_OK; k++)
            if (strcmp(l->reward[k], text) == 0)
                status = gg_fail(error, GG_E_CONFIG, "reward \"%s\" is given twice", text);
        if (status == GG_OK && !(l->reward[l->count++] = strdup(text)))
            status = gg_fail(error, GG_E_MEMORY, "out of memory for a reward");
    }
    return status;
}

static void set_steps(lab *l)
{
    int64_t steps = gg_opt_int(l->cli->opts, GG_OPT_SHAPE_STEPS), quarter = steps / 4;

    l->steps[0] = 0;
    l->steps[1] = quarter;
    l->steps[2] = 2 * quarter;
    l->steps[GG_SHAPE_POINTS - 1] = steps;
}

static void name_folder(lab *l)
{
    const char *dir = gg_opt_text(l->cli->opts, GG_OPT_OUTPUT);
    time_t now = time(NULL);
    struct tm at = {0};
    char day[32] = "";

    localtime_r(&now, &at);
    strftime(day, sizeof day, "%Y%m%d-%H%M%S", &at);
    gg_buf_printf(&l->dir, dir ? "%s" : "runs/%s-shape", dir ? dir : day);
}

/* Appends the options that trainings share as members of an object. */
static void add_shared(const lab *l, gg_buf *out)
{
    static const gg_opt_id own[] = {GG_OPT_SEED, GG_OPT_EFFORT};
    const char *effort = gg_opt_text(l->cli->opts, GG_OPT_EFFORT);

    gg_buf_str(out, "\"reasoning_effort\":");
    gg_buf_json_str(out, effort ? effort : EFFORT);
    gg_opts_write_run(l->cli->opts, own, sizeof own / sizeof *own, out);
}

/* All that a lab's trainings depend on; more seeds may be added later. */
static void add_identity(const lab *l, gg_buf *out)
{
    gg_buf_char(out, '{');
    add_shared(l, out);
    gg_buf_printf(out, ",\"seed\":%lld,\"steps\":%lld,\"val\":",
                  (long long)gg_opt_int(l->cli->opts, GG_OPT_SEED),
                  (long long)l->steps[GG_SHAPE_POINTS - 1]);
    gg_buf_json_str(out, gg_buf_cstr(&l->val));
    for (size_t i = 0; i < l->count; i++) {
        gg_buf_printf(out, ",\"reward %zu\":", i + 1);
        gg_buf_json_str(out, gg_reward_text(l->parsed[i]));
    }
    gg_buf_str(out, "}\n");
}

static const char *changed_key(const cJSON *was, const cJSON *now)
{
    for (const cJSON *item = was->child; item; item = item->next)
        if (!cJSON_Compare(item, cJSON_GetObjectItemCaseSensitive(now, item->string), true))
            return item->string;
    for (const cJSON *item = now->child; item; item = item->next)
        if (!cJSON_GetObjectItemCaseSensitive(was, item->string))
            return item->string;
    return NULL;
}

/* The lab in the folder is the one that is asked for. */
static gg_status check_same(const char *path, const gg_buf *identity, gg_error *error)
{
    cJSON *was = NULL, *now = NULL;
    gg_buf text;

    gg_buf_init(&text, CONFIG_MAX);
    gg_status status = gg_file_read(path, &text, error);
    if (status == GG_OK)
        status = gg_json_parse(gg_buf_cstr(&text), text.len, &was, error);
    if (status == GG_OK)
        status = gg_json_parse(gg_buf_cstr(identity), identity->len, &now, error);
    const char *key = status == GG_OK ? changed_key(was, now) : NULL;
    if (key)
        status =
            gg_fail(error, GG_E_CONFIG,
                    "%s is of another lab: \"%s\" has changed, so it cannot be resumed", path, key);
    cJSON_Delete(was);
    cJSON_Delete(now);
    gg_buf_free(&text);
    return status;
}

/* The options that trainings share, as a file of their own, and what the lab is, to go on by. */
static gg_status write_config(lab *l, gg_error *error)
{
    bool resume = gg_opt_flag(l->cli->opts, GG_OPT_RESUME);
    gg_buf text, identity, path;

    gg_buf_init(&text, CONFIG_MAX);
    gg_buf_init(&identity, CONFIG_MAX);
    gg_buf_init(&path, TEXT_ROOM);
    gg_buf_char(&text, '{');
    add_shared(l, &text);
    gg_buf_str(&text, "}\n");
    add_identity(l, &identity);
    gg_buf_printf(&l->config, "%s/shape.json", gg_buf_cstr(&l->dir));
    gg_buf_printf(&path, "%s/lab.json", gg_buf_cstr(&l->dir));
    bool there = access(gg_buf_cstr(&path), F_OK) == 0;
    gg_status status = gg_buf_status(&text, "the lab's options", error);
    if (status == GG_OK)
        status = gg_buf_status(&identity, "the lab's options", error);
    if (status == GG_OK && resume && !there)
        status = gg_fail(error, GG_E_CONFIG, "nothing to resume at %s: it holds no lab",
                         gg_buf_cstr(&l->dir));
    if (status == GG_OK && !resume && access(gg_buf_cstr(&l->config), F_OK) == 0)
        status = gg_fail(error, GG_E_CONFIG,
                         "%s holds a lab already; go on with --resume, or name another folder with "
                         "--output",
                         gg_buf_cstr(&l->dir));
    if (status == GG_OK && resume)
        status = check_same(gg_buf_cstr(&path), &identity, error);
    if (status == GG_OK)
        status = gg_dir_make(gg_buf_cstr(&l->dir), error);
    if (status == GG_OK)
        status = gg_file_write(gg_buf_cstr(&l->config), text.data, text.len, error);
    if (status == GG_OK)
        status = gg_file_write(gg_buf_cstr(&path), identity.data, identity.len, error);
    gg_buf_free(&text);
    gg_buf_free(&identity);
    gg_buf_free(&path);
    return status;
}

static gg_status find_val(lab *l, gg_error *error)
{
    const char *path = gg_opt_text(l->cli->opts, GG_OPT_VAL);

    if (!path)
        path = l->game->api->default_tasks(l->game->env, "val");
    if (!path)
        return gg_fail(error, GG_E_CONFIG, "%s ships no validation list; give one with --val FILE",
                       l->game->name);
    gg_buf_str(&l->val, path);
    return GG_OK;
}

/* ---- the children ---- */

/* Keeps a text as long as the lab; NULL when memory is short, which ends the arguments early and is
 * noticed before anything is started. */
static const char *keep(lab *l, const char *format, ...) GG_PRINTF(2, 3);
static const char *keep(lab *l, const char *format, ...)
{
    va_list arguments;
    char text[TEXT_ROOM];

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return l->text_count < l->text_room && (l->texts[l->text_count] = strdup(text))
               ? l->texts[l->text_count++]
               : NULL;
}

static void plan_eval(lab *l, gg_child *child, const char *name, const char *adapter,
                      int64_t samples, int64_t seed)
{
    const char *const arguments[] = {"eval",
                                     "--config",
                                     gg_buf_cstr(&l->config),
                                     "--tasks",
                                     gg_buf_cstr(&l->val),
                                     "--samples",
                                     keep(l, "%lld", (long long)samples),
                                     "--seed",
                                     keep(l, "%lld", (long long)seed),
                                     "--quiet",
                                     "--json",
                                     "--output",
                                     keep(l, "%s/%s", gg_buf_cstr(&l->dir), name),
                                     adapter ? "--adapter" : NULL,
                                     adapter};

    memcpy(child->arguments, arguments, sizeof arguments);
    child->log = keep(l, "%s/%s.log", gg_buf_cstr(&l->dir), name);
    child->what = keep(l, "measuring %s", name);
    child->after = -1;
}

static void plan_training(lab *l, gg_child *child, size_t reward, const char *name, int64_t seed)
{
    const char *const arguments[] = {"train",
                                     "--config",
                                     gg_buf_cstr(&l->config),
                                     "--reward",
                                     l->reward[reward],
                                     "--seed",
                                     keep(l, "%lld", (long long)seed),
                                     "--steps",
                                     keep(l, "%lld", (long long)l->steps[3]),
                                     "--val",
                                     gg_buf_cstr(&l->val),
                                     "--val-every",
                                     keep(l, "%lld", (long long)l->steps[1]),
                                     "--keep",
                                     "none",
                                     "--quiet",
                                     "--json",
                                     "--output",
                                     keep(l, "%s/%s", gg_buf_cstr(&l->dir), name)};

    memcpy(child->arguments, arguments, sizeof arguments);
    child->log = keep(l, "%s/%s.log", gg_buf_cstr(&l->dir), name);
    child->what = keep(l, "training %s", name);
    child->after = -1;
}

static gg_status plan(lab *l, gg_error *error)
{
    const int64_t seed = gg_opt_int(l->cli->opts, GG_OPT_SEED);
    size_t trainings = l->count * l->seeds;

    l->child_count = 1 + PARTS * trainings;
    l->text_room = 8 * l->child_count;
    l->children = calloc(l->child_count, sizeof *l->children);
    l->texts = calloc(l->text_room, sizeof *l->texts);
    if (!l->children || !l->texts)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu trainings", trainings);
    plan_eval(l, &l->children[0], "before", gg_opt_text(l->cli->opts, GG_OPT_ADAPTER),
              (int64_t)(BEFORE_GROUPS * l->group_size), seed);
    for (size_t i = 0; i < trainings; i++) { /* seed by seed, so that a stop leaves whole rounds */
        size_t reward = i % l->count, k = i / l->count, at = 1 + PARTS * i;
        char name[CELL_ROOM];
        snprintf(name, sizeof name, "r%zu-s%zu", reward + 1, k + 1);
        plan_training(l, &l->children[at + TRAINING], reward, name, seed + (int64_t)k);
        const char *adapter = keep(l, "%s/%s/adapter.json", gg_buf_cstr(&l->dir), name);
        snprintf(name, sizeof name, "r%zu-s%zu-after", reward + 1, k + 1);
        plan_eval(l, &l->children[at + AFTER], name, adapter, AFTER_SAMPLES, seed + (int64_t)k);
        l->children[at + AFTER].after = (int)(at + TRAINING);
    }
    /* Whatever could not be kept is missing at the end of the texts. */
    return l->text_count > 0 && l->children[l->child_count - 1].what
               ? GG_OK
               : gg_fail(error, GG_E_MEMORY, "out of memory for %zu trainings", trainings);
}

/* ---- going on ---- */

static bool read_summary(const char *folder, cJSON **out)
{
    gg_buf path, text;

    *out = NULL;
    gg_buf_init(&path, TEXT_ROOM);
    gg_buf_init(&text, CONFIG_MAX);
    gg_buf_printf(&path, "%s/summary.json", folder);
    bool good = access(gg_buf_cstr(&path), F_OK) == 0 &&
                gg_file_read(gg_buf_cstr(&path), &text, NULL) == GG_OK &&
                gg_json_parse(gg_buf_cstr(&text), text.len, out, NULL) == GG_OK;
    gg_buf_free(&path);
    gg_buf_free(&text);
    return good;
}

static bool is_begun(const char *folder)
{
    gg_buf path;

    gg_buf_init(&path, TEXT_ROOM);
    gg_buf_printf(&path, "%s/run.json", folder);
    bool begun = access(gg_buf_cstr(&path), F_OK) == 0;
    gg_buf_free(&path);
    return begun;
}

/* A training has done its steps, an eval has played everything. */
static bool is_whole(const lab *l, const gg_child *child, const char *folder)
{
    cJSON *summary;
    int64_t steps = 0, unplayed = 1, errored = 1;

    if (!read_summary(folder, &summary))
        return false;
    (void)gg_json_int(summary, "steps", &steps);
    (void)gg_json_int(summary, "unplayed", &unplayed);
    (void)gg_json_int(summary, "errored", &errored);
    cJSON_Delete(summary);
    if (strcmp(child->arguments[0], "train") == 0)
        return steps >= l->steps[GG_SHAPE_POINTS - 1];
    return unplayed == 0 && errored == 0;
}

static const char *folder_of(const gg_child *child)
{
    for (size_t i = 0; i + 1 < GG_CHILD_ARGUMENTS && child->arguments[i]; i++)
        if (strcmp(child->arguments[i], "--output") == 0)
            return child->arguments[i + 1];
    return NULL;
}

/* What is whole is not started again; what is begun goes on. */
static void pass_over(lab *l)
{
    size_t whole = 0;

    for (size_t i = 0; i < l->child_count; i++) {
        gg_child *child = &l->children[i];
        const char *folder = folder_of(child);
        size_t count = 0;
        if (is_whole(l, child, folder)) {
            child->started = child->done = true;
            whole++;
        } else if (is_begun(folder)) {
            while (child->arguments[count])
                count++;
            child->arguments[count] = "--resume";
        }
    }
    gg_remark(l->cli, "%s: %zu of %zu parts are there", gg_buf_cstr(&l->dir), whole,
              l->child_count);
}

static void on_ended(void *context, const gg_child *child, size_t done)
{
    const lab *l = context;

    (void)done;
    gg_remark(l->cli, "%s: done", child->what);
}

static void on_before(void *context, const gg_child *child, size_t done)
{
    (void)context;
    (void)child;
    (void)done;
}

/* ---- reading what they left ---- */

static gg_status read_run(const lab *l, const char *name, const char *below, gg_run **out,
                          gg_error *error)
{
    gg_buf path;

    gg_buf_init(&path, TEXT_ROOM);
    gg_buf_printf(&path, "%s/%s%s", gg_buf_cstr(&l->dir), name, below);
    gg_status status = gg_buf_status(&path, "a run's path", error);
    if (status == GG_OK)
        status = gg_run_open_read(gg_buf_cstr(&path), out, error);
    gg_buf_free(&path);
    return status;
}

static gg_status read_before(lab *l, gg_error *error)
{
    gg_run *run = NULL;

    gg_status status = read_run(l, "before", "", &run, error);
    if (status == GG_OK)
        status = gg_shape_add_before(l->shape, run, error);
    gg_run_close(run);
    return status;
}

static gg_status read_training(lab *l, size_t reward, size_t k, gg_error *error)
{
    gg_run *training = NULL, *validation = NULL, *after = NULL;
    char name[CELL_ROOM];

    snprintf(name, sizeof name, "r%zu-s%zu", reward + 1, k + 1);
    gg_status status = read_run(l, name, "", &training, error);
    if (status == GG_OK)
        status = read_run(l, name, "/validation", &validation, error);
    if (status == GG_OK)
        status = read_run(l, name, "-after", &after, error);
    if (status == GG_OK)
        status = gg_shape_add(l->shape, reward, k, training, validation, after, error);
    gg_run_close(training);
    gg_run_close(validation);
    gg_run_close(after);
    return status;
}

/* ---- the whole ---- */

static gg_status open_lab(lab *l, gg_error *error)
{
    const gg_opts *opts = l->cli->opts;
    char second[CELL_ROOM];

    if (gg_opt_item(opts, GG_OPT_EFFORT, 1, second, sizeof second))
        return gg_fail(error, GG_E_CONFIG, "--reasoning-effort: a lab has one effort");
    if (gg_opt_flag(opts, GG_OPT_RESUME) && !gg_opt_text(opts, GG_OPT_OUTPUT))
        return gg_fail(error, GG_E_CONFIG, "--resume needs the lab's folder: --output DIR");
    l->seeds = (size_t)gg_opt_int(opts, GG_OPT_SEEDS);
    l->group_size = (size_t)gg_opt_int(opts, GG_OPT_GROUP_SIZE);
    set_steps(l);
    gg_status status = gg_cli_game(l->cli, gg_opt_text(opts, GG_OPT_ENV), &l->game, error);
    if (status == GG_OK)
        status = check_rewards(l, error);
    if (status == GG_OK)
        status = find_val(l, error);
    name_folder(l);
    if (status == GG_OK)
        status = write_config(l, error);
    if (status == GG_OK)
        status = plan(l, error);
    if (status == GG_OK && gg_opt_flag(opts, GG_OPT_RESUME))
        pass_over(l);
    if (status == GG_OK)
        status = gg_shape_new((const char *const *)l->reward, l->count, l->seeds, l->group_size,
                              l->steps, &l->shape, error);
    return status;
}

static gg_status run(lab *l, gg_error *error)
{
    gg_shape_figures *f = &l->figures;
    size_t jobs = (size_t)gg_opt_int(l->cli->opts, GG_OPT_JOBS);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    gg_buf text;

    if (jobs == 0)
        jobs = cores > 0 ? (size_t)cores : 1;
    gg_status status = gg_children_run(l->children, 1, 1, on_before, l, error);
    if (status == GG_OK)
        status = read_before(l, error);
    if (status == GG_OK)
        status = gg_shape_expect(l->shape, f, error);
    if (status != GG_OK)
        return status;
    gg_buf_init(&text, CONFIG_MAX);
    gg_tell_shape_expected(f, &text);
    gg_remark(l->cli, "%s", gg_buf_cstr(&text));
    gg_buf_free(&text);
    gg_remark(l->cli, "%zu trainings of %lld steps, %zu at a time; folder %s", l->count * l->seeds,
              (long long)l->steps[GG_SHAPE_POINTS - 1], jobs, gg_buf_cstr(&l->dir));
    status = gg_children_run(l->children, l->child_count, jobs, on_ended, l, error);
    for (size_t i = 0; i < l->count * l->seeds && status == GG_OK; i++)
        status = read_training(l, i % l->count, i / l->count, error);
    return status == GG_OK ? gg_shape_finish(l->shape, f, error) : status;
}

static void close_lab(lab *l)
{
    gg_shape_free(l->shape);
    for (size_t i = 0; i < GG_SHAPE_REWARDS; i++) {
        free(l->reward[i]);
        gg_reward_free(l->parsed[i]);
    }
    for (size_t i = 0; i < l->text_count; i++)
        free(l->texts[i]);
    free(l->texts);
    free(l->children);
    gg_game_close(l->game);
    gg_buf_free(&l->dir);
    gg_buf_free(&l->config);
    gg_buf_free(&l->val);
}

static gg_status conclude(lab *l, gg_error *error)
{
    gg_buf out, path;

    gg_buf_init(&out, CONFIG_MAX);
    gg_buf_init(&path, TEXT_ROOM);
    gg_shape_write(&l->figures, &out);
    gg_buf_char(&out, '\n');
    gg_buf_printf(&path, "%s/summary.json", gg_buf_cstr(&l->dir));
    gg_status status = gg_buf_status(&out, "the lab's figures", error);
    if (status == GG_OK)
        status = gg_file_write(gg_buf_cstr(&path), out.data, out.len, error);
    if (!gg_opt_flag(l->cli->opts, GG_OPT_JSON)) {
        gg_buf_reset(&out);
        gg_tell_shape(&l->figures, &out);
    }
    if (status == GG_OK)
        gg_print(&out);
    gg_buf_free(&path);
    gg_buf_free(&out);
    return status;
}

static void tell_resume(const lab *l)
{
    const gg_cli *cli = l->cli;
    gg_buf command;

    gg_buf_init(&command, CONFIG_MAX);
    gg_quote_command(&command, cli->argc, cli->argv);
    if (!gg_opt_text(cli->opts, GG_OPT_OUTPUT))
        gg_buf_printf(&command, " -o %s", gg_buf_cstr(&l->dir));
    if (!gg_opt_flag(cli->opts, GG_OPT_RESUME))
        gg_buf_str(&command, " --resume");
    gg_complain("go on with: %s", gg_buf_cstr(&command));
    gg_buf_free(&command);
}

gg_exit gg_cmd_shape(gg_cli *cli)
{
    lab *l = calloc(1, sizeof *l);
    gg_error error = {0};
    gg_exit code = GG_EXIT_OK;

    if (!l) {
        gg_fail(&error, GG_E_MEMORY, "out of memory");
        return gg_give_up(GG_STARTING, &error);
    }
    l->cli = cli;
    gg_buf_init(&l->dir, TEXT_ROOM);
    gg_buf_init(&l->config, TEXT_ROOM);
    gg_buf_init(&l->val, TEXT_ROOM);
    gg_status status = open_lab(l, &error);
    if (status != GG_OK)
        code = gg_give_up(GG_STARTING, &error);
    if (status == GG_OK) {
        status = run(l, &error);
        if (status == GG_OK)
            status = conclude(l, &error);
        if (status != GG_OK)
            code = gg_give_up(GG_WORKING, &error);
        if (status == GG_E_INTERRUPTED)
            tell_resume(l);
    }
    close_lab(l);
    free(l);
    return code;
}
