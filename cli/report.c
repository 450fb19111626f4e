/* guessgym report: one HTML page of a run, or of a run before and after. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/game.h"
#include "cli/term.h"
#include "report/report.h"

#define PATH_ROOM 4096
#define FILE_NAME "report.html"

typedef struct job {
    gg_cli *cli;
    gg_run *runs[GG_REPORT_RUNS];
    gg_game *game;
    gg_buf path, fresh; /* the page, and where it is written first */
    FILE *file;
} job;

static gg_status write_piece(void *context, const char *bytes, size_t len, gg_error *error)
{
    job *j = context;
    if (fwrite(bytes, 1, len, j->file) == len)
        return GG_OK;
    return gg_fail(error, GG_E_IO, "cannot write %s: %s", gg_buf_cstr(&j->path), strerror(errno));
}

static bool to_stdout(const job *j)
{
    return strcmp(gg_buf_cstr(&j->path), "-") == 0;
}

static gg_status open_file(job *j, gg_error *error)
{
    const char *given = gg_opt_text(j->cli->opts, GG_OPT_REPORT_FILE);

    gg_buf_init(&j->path, PATH_ROOM);
    gg_buf_init(&j->fresh, PATH_ROOM);
    if (given)
        gg_buf_str(&j->path, given);
    else
        gg_buf_printf(&j->path, "%s/" FILE_NAME, j->cli->args[j->cli->arg_count - 1]);
    gg_buf_printf(&j->fresh, "%s.new", gg_buf_cstr(&j->path));
    j->file = to_stdout(j) ? stdout : fopen(gg_buf_cstr(&j->fresh), "wb");
    return j->file ? GG_OK
                   : gg_fail(error, GG_E_IO, "cannot write %s: %s", gg_buf_cstr(&j->fresh),
                             strerror(errno));
}

static gg_status close_file(job *j, gg_status status, gg_error *error)
{
    if (!j->file || to_stdout(j))
        return status;
    bool closed = fclose(j->file) == 0;
    if (status == GG_OK && (!closed || rename(gg_buf_cstr(&j->fresh), gg_buf_cstr(&j->path)) != 0))
        status =
            gg_fail(error, GG_E_IO, "cannot write %s: %s", gg_buf_cstr(&j->path), strerror(errno));
    if (status != GG_OK)
        (void)remove(gg_buf_cstr(&j->fresh));
    return status;
}

static gg_status make(job *j, gg_error *error)
{
    const gg_opts *opts = j->cli->opts;
    gg_report_options options = {.seed = (uint64_t)gg_opt_int(opts, GG_OPT_SEED),
                                 .plays = (size_t)gg_opt_int(opts, GG_OPT_REPORT_PLAYS),
                                 .no_plots = gg_opt_flag(opts, GG_OPT_NO_PLOTS)};
    gg_status status = GG_OK;

    for (size_t i = 0; i < j->cli->arg_count && status == GG_OK; i++) {
        status = gg_run_open_read(j->cli->args[i], &j->runs[i], error);
        options.runs[i] = j->runs[i];
        options.names[i] = j->cli->args[i];
    }
    if (status == GG_OK)
        status = gg_cli_saved_game(j->runs[0], &j->game, error);
    options.game = j->game;
    if (status == GG_OK)
        status = open_file(j, error);
    if (status == GG_OK)
        status = gg_report_write(&options, write_piece, j, error);
    return close_file(j, status, error);
}

gg_exit gg_cmd_report(gg_cli *cli)
{
    job j = {.cli = cli};
    gg_error error = {0};

    gg_status status = make(&j, &error);
    if (status == GG_OK && !to_stdout(&j))
        printf("%s\n", gg_buf_cstr(&j.path));
    gg_game_close(j.game);
    for (size_t i = 0; i < GG_REPORT_RUNS; i++)
        gg_run_close(j.runs[i]);
    gg_buf_free(&j.path);
    gg_buf_free(&j.fresh);
    return status == GG_OK ? GG_EXIT_OK : gg_give_up(GG_STARTING, &error);
}
