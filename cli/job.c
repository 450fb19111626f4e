/* guessgym job list | describe | follow | stop. */
#include <stdio.h>
#include <time.h>

#include "cli/job_follow.h"
#include "cli/plan.h"
#include "cli/term.h"

#define LIST_MAX  (4u << 20)
#define TIME_ROOM 32

/* What every one of these commands does around its own work. */
typedef gg_status (*work_fn)(gg_cli *cli, gg_managed *managed, const gg_price *price,
                             gg_remote_job_state *job, gg_error *error);

static gg_exit ended(const gg_remote_job_state *job)
{
    return gg_remote_job_ended(job) && !gg_remote_job_completed(job) ? GG_EXIT_UNREACHABLE
                                                                     : GG_EXIT_OK;
}

static gg_exit with_job(gg_cli *cli, work_fn work, bool judged)
{
    gg_managed managed;
    gg_price price = {0};
    gg_remote_job_state job = {0};
    gg_error error = {0};

    gg_status status = gg_managed_open(cli, &managed, &error);
    if (status == GG_OK)
        status = gg_plan_price(cli, &price, &error);
    if (status == GG_OK)
        status = work(cli, &managed, &price, &job, &error);
    if (status == GG_OK)
        gg_job_print(cli, &job, &price);
    gg_managed_close(&managed);
    if (status != GG_OK)
        return gg_give_up(GG_WORKING, &error);
    return judged ? ended(&job) : GG_EXIT_OK;
}

static gg_status describe(gg_cli *cli, gg_managed *managed, const gg_price *price,
                          gg_remote_job_state *job, gg_error *error)
{
    (void)price;
    return gg_remote_job_describe(&managed->client, cli->args[0], job, error);
}

static gg_status follow(gg_cli *cli, gg_managed *managed, const gg_price *price,
                        gg_remote_job_state *job, gg_error *error)
{
    return gg_job_follow(cli, managed, cli->args[0], price, job, error);
}

static gg_status stop(gg_cli *cli, gg_managed *managed, const gg_price *price,
                      gg_remote_job_state *job, gg_error *error)
{
    gg_status status = gg_remote_job_stop(&managed->client, cli->args[0], error);
    return status == GG_OK ? gg_job_follow(cli, managed, cli->args[0], price, job, error) : status;
}

gg_exit gg_cmd_job_describe(gg_cli *cli)
{
    return with_job(cli, describe, false);
}

gg_exit gg_cmd_job_follow(gg_cli *cli)
{
    return with_job(cli, follow, true);
}

gg_exit gg_cmd_job_stop(gg_cli *cli)
{
    return with_job(cli, stop, false);
}

/* ---- list ---- */

typedef struct listing {
    bool json;
    size_t count;
    gg_buf text;
} listing;

static gg_status add(void *context, const gg_remote_job_state *job, gg_error *error)
{
    listing *list = context;
    char when[TIME_ROOM] = "";
    time_t created = (time_t)job->created_s;
    struct tm broken;

    if (gmtime_r(&created, &broken))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &broken);
    if (list->json) {
        gg_buf_str(&list->text, list->count ? ",{\"name\":" : "{\"name\":");
        gg_buf_json_str(&list->text, job->name);
        gg_buf_printf(&list->text, ",\"status\":\"%s\",\"created\":\"%s\"}", job->status, when);
    } else {
        gg_buf_printf(&list->text, "%-20s  %-12s  %s\n", when, job->status, job->name);
    }
    list->count++;
    return gg_buf_status(&list->text, "the list of jobs", error);
}

gg_exit gg_cmd_job_list(gg_cli *cli)
{
    listing list = {.json = gg_opt_flag(cli->opts, GG_OPT_JSON)};
    gg_managed managed;
    gg_error error = {0};

    gg_buf_init(&list.text, LIST_MAX);
    gg_buf_str(&list.text, list.json ? "[" : "");
    gg_status status = gg_managed_open(cli, &managed, &error);
    if (status == GG_OK)
        status = gg_remote_job_list(&managed.client, add, &list, &error);
    gg_buf_str(&list.text, list.json ? "]\n" : list.count ? "" : "no jobs\n");
    if (status == GG_OK)
        gg_print(&list.text);
    gg_managed_close(&managed);
    gg_buf_free(&list.text);
    return status == GG_OK ? GG_EXIT_OK : gg_give_up(GG_WORKING, &error);
}
