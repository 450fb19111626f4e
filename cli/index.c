/* guessgym index: builds a search index from a corpus, and task rows from its judgments. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/term.h"
#include "core/file.h"
#include "env/search/judged.h"

#define PATH_ROOM 4096
#define QRELS_MAX 64
#define ROWS_MAX  ((size_t)1 << 30)
#define TSV       ".tsv"

typedef struct job {
    gg_cli *cli;
    const char **corpus; /* the options' and arguments' */
    size_t corpus_count;
    char *inside; /* DIR/corpus.jsonl where a folder was given */
    char *queries, *qrels[QRELS_MAX];
    size_t qrels_count;
    gg_index_built built;
    gg_buf said; /* JSON of the task files */
} job;

static gg_status no_memory(gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory for an index");
}

static char *join(const char *dir, const char *name)
{
    gg_buf path;
    gg_buf_init(&path, PATH_ROOM);
    gg_buf_printf(&path, "%s/%s", dir, name);
    char *text = gg_buf_take(&path);
    gg_buf_free(&path);
    return text;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* What is read. */

static int is_tsv(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return len > strlen(TSV) && strcmp(entry->d_name + len - strlen(TSV), TSV) == 0;
}

static gg_status take_qrels(job *j, const char *dir, gg_error *error)
{
    struct dirent **entries = NULL;
    int count = scandir(dir, &entries, is_tsv, alphasort);
    gg_status status = GG_OK;
    for (int i = 0; i < count; i++) {
        if (j->qrels_count < QRELS_MAX && status == GG_OK) {
            j->qrels[j->qrels_count] = join(dir, entries[i]->d_name);
            status = j->qrels[j->qrels_count++] ? GG_OK : no_memory(error);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* BEIR keeps questions and judgments beside the corpus. */
static gg_status look_beside(job *j, const char *corpus, gg_error *error)
{
    const char *slash = strrchr(corpus, '/');
    char *dir = slash ? strndup(corpus, (size_t)(slash - corpus) + (slash == corpus)) : strdup(".");
    char *queries = dir ? join(dir, "queries.jsonl") : NULL;
    char *qrels = dir ? join(dir, "qrels") : NULL;
    gg_status status = queries && qrels ? GG_OK : no_memory(error);
    if (status == GG_OK && access(queries, R_OK) == 0 && is_folder(qrels)) {
        j->queries = queries;
        queries = NULL;
        status = take_qrels(j, qrels, error);
    }
    free(dir);
    free(queries);
    free(qrels);
    return status;
}

static gg_status take_inputs(job *j, gg_error *error)
{
    const char *corpus = gg_opt_text(j->cli->opts, GG_OPT_CORPUS);
    const char *queries = gg_opt_text(j->cli->opts, GG_OPT_QUERIES);
    const char *qrels = gg_opt_text(j->cli->opts, GG_OPT_QRELS);
    j->corpus = calloc(j->cli->arg_count + 1, sizeof *j->corpus);
    if (!j->corpus)
        return no_memory(error);
    if (is_folder(corpus)) {
        j->inside = join(corpus, "corpus.jsonl");
        if (!j->inside)
            return no_memory(error);
        corpus = j->inside;
    }
    j->corpus[j->corpus_count++] = corpus;
    for (size_t i = 0; i < j->cli->arg_count; i++)
        j->corpus[j->corpus_count++] = j->cli->args[i];
    if (!queries != !qrels)
        return gg_fail(error, GG_E_CONFIG, "--queries and --qrels go together");
    if (!queries)
        return look_beside(j, corpus, error);
    j->queries = strdup(queries);
    j->qrels[j->qrels_count++] = strdup(qrels);
    return j->queries && j->qrels[0] ? GG_OK : no_memory(error);
}

/* What is written. */

/* qrels/dev.tsv -> val, as this program calls it; else the file's own name without its end. */
static char *split_name(const char *qrels)
{
    const char *slash = strrchr(qrels, '/'), *name = slash ? slash + 1 : qrels;
    const char *dot = strrchr(name, '.');
    size_t len = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    return len == 3 && strncmp(name, "dev", 3) == 0 ? strdup("val") : strndup(name, len);
}

static void tell_tasks(job *j, const char *path, const gg_judged *judged)
{
    gg_buf_printf(&j->said, "%s{\"file\":", j->said.len ? "," : "");
    gg_buf_json_str(&j->said, path);
    gg_buf_printf(&j->said, ",\"tasks\":%zu,\"judgments\":%zu,\"missing\":%zu,\"hopeless\":%zu}",
                  judged->tasks, judged->judgments, judged->missing, judged->hopeless);
    if (!gg_opt_flag(j->cli->opts, GG_OPT_JSON))
        printf("%s  %zu tasks, %zu judgments\n", path, judged->tasks, judged->judgments);
    if (judged->missing)
        gg_remark(j->cli, "%s: %zu judged documents are not in the corpus", path, judged->missing);
    if (judged->hopeless)
        gg_remark(j->cli, "%s: %zu questions without a relevant document are left out", path,
                  judged->hopeless);
}

static gg_status write_tasks(job *j, gg_index *index, const gg_questions *questions,
                             const char *qrels, gg_error *error)
{
    gg_buf rows, name;
    gg_judged judged;
    gg_buf_init(&rows, ROWS_MAX);
    gg_buf_init(&name, PATH_ROOM);
    char *split = split_name(qrels);
    gg_status status = split ? GG_OK : no_memory(error);
    if (status == GG_OK)
        status = gg_judged_rows(questions, qrels, index, &rows, &judged, error);
    if (status == GG_OK) {
        gg_buf_printf(&name, "%s/%s.jsonl", gg_opt_text(j->cli->opts, GG_OPT_INDEX_OUTPUT), split);
        status = gg_buf_status(&name, "a path", error);
    }
    if (status == GG_OK)
        status = gg_file_write(gg_buf_cstr(&name), gg_buf_cstr(&rows), rows.len, error);
    if (status == GG_OK)
        tell_tasks(j, gg_buf_cstr(&name), &judged);
    free(split);
    gg_buf_free(&name);
    gg_buf_free(&rows);
    return status;
}

static gg_status write_all_tasks(job *j, gg_error *error)
{
    gg_questions *questions = NULL;
    gg_index *index = NULL;
    gg_status status = gg_questions_read(j->queries, &questions, error);
    if (status == GG_OK)
        status = gg_index_open(gg_opt_text(j->cli->opts, GG_OPT_INDEX_OUTPUT), &index, error);
    for (size_t i = 0; i < j->qrels_count && status == GG_OK; i++)
        status = write_tasks(j, index, questions, j->qrels[i], error);
    gg_index_close(index);
    gg_questions_free(questions);
    return status;
}

static void show(void *context, const char *stage, size_t done, size_t total)
{
    const gg_cli *cli = context;
    if (gg_term_is_tty(stderr) && !gg_opt_flag(cli->opts, GG_OPT_QUIET))
        fprintf(stderr, "\r%s: %zu of %zu documents\x1b[K%s", stage, done, total,
                done == total ? "\r\x1b[K" : "");
}

/* *out is NULL for the built-in embedding. */
static gg_status take_remote(const job *j, gg_remote *remote, const gg_remote **out,
                             gg_error *error)
{
    const char *url = gg_opt_text(j->cli->opts, GG_OPT_EMBED_URL);
    const char *model = gg_opt_text(j->cli->opts, GG_OPT_EMBED_MODEL);
    *out = url ? remote : NULL;
    if (!url != !model)
        return gg_fail(error, GG_E_CONFIG, "--embed-url and --embed-model go together");
    return url ? gg_remote_make(url, model, (size_t)gg_opt_int(j->cli->opts, GG_OPT_EMBED_BYTES),
                                remote, error)
               : GG_OK;
}

static gg_status build(job *j, gg_error *error)
{
    gg_remote own;
    const gg_remote *remote;
    gg_status status = take_remote(j, &own, &remote, error);
    if (status != GG_OK)
        return status;
    const gg_index_plan plan = {.corpus = j->corpus,
                                .corpus_count = j->corpus_count,
                                .dir = gg_opt_text(j->cli->opts, GG_OPT_INDEX_OUTPUT),
                                .remote = remote,
                                .progress = show,
                                .context = j->cli};
    status = gg_index_build(&plan, &j->built, error);
    if (gg_term_is_tty(stderr) && !gg_opt_flag(j->cli->opts, GG_OPT_QUIET))
        fputs("\r\x1b[K", stderr);
    if (status != GG_OK)
        return status;
    if (j->built.had_all)
        gg_remark(j->cli, "%s is there already", plan.dir);
    else if (j->built.kept)
        gg_remark(j->cli, "went on after %zu documents", j->built.kept);
    if (!gg_opt_flag(j->cli->opts, GG_OPT_JSON))
        printf("%s  %zu documents, corpus %s\n", plan.dir, j->built.documents, j->built.corpus);
    return GG_OK;
}

gg_exit gg_cmd_index(gg_cli *cli)
{
    job j = {.cli = cli};
    gg_error error = {0};
    gg_buf_init(&j.said, PATH_ROOM * QRELS_MAX);
    gg_status status = take_inputs(&j, &error);
    if (status == GG_OK)
        status = build(&j, &error);
    if (status == GG_OK && j.qrels_count)
        status = write_all_tasks(&j, &error);
    if (status == GG_OK && gg_opt_flag(cli->opts, GG_OPT_JSON))
        printf("{\"documents\":%zu,\"kept\":%zu,\"corpus\":\"%s\",\"tasks\":[%s]}\n",
               j.built.documents, j.built.kept, j.built.corpus, gg_buf_cstr(&j.said));
    free(j.corpus);
    free(j.inside);
    free(j.queries);
    for (size_t i = 0; i < j.qrels_count; i++)
        free(j.qrels[i]);
    gg_buf_free(&j.said);
    return status == GG_OK ? GG_EXIT_OK : gg_give_up(GG_STARTING, &error);
}
