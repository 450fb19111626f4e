/* Building an index, in stages that a kill may end anywhere: each sees what is there and goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json.h"
#include "env/search/embed.h"
#include "env/search/index.h"

#define PATH_ROOM 4096
#define ABOUT_MAX 65536
#define BATCH     1000 /* documents between two commits, and between two words of progress */
#define ROW_BYTES (GG_EMBED_DIMS * sizeof(float))

typedef struct builder {
    const gg_index_plan *plan;
    gg_corpus corpus;
    gg_index_built *built;
    gg_docstore_writer *store;
    gg_features *features;
    int vectors; /* descriptor, -1 = closed */
    gg_buf path, rows;
} builder;

static const char *path_of(builder *b, const char *name)
{
    gg_buf_reset(&b->path);
    gg_buf_printf(&b->path, "%s/%s", b->plan->dir, name);
    return gg_buf_cstr(&b->path);
}

static void tell(const builder *b, const char *stage, size_t done)
{
    if (b->plan->progress)
        b->plan->progress(b->plan->context, stage, done, b->corpus.document_count);
}

/* What the index is of. */

static gg_status write_about(builder *b, bool finished, gg_error *error)
{
    gg_buf text;
    gg_buf_init(&text, ABOUT_MAX);
    gg_buf_printf(&text,
                  "{\"schema\":\"%s\",\"corpus\":\"%s\",\"documents\":%zu,\"embedding\":\"%s\","
                  "\"dimensions\":%d,\"finished\":%s}\n",
                  GG_INDEX_SCHEMA, b->corpus.digest, b->corpus.document_count, GG_EMBED_NAME,
                  GG_EMBED_DIMS, finished ? "true" : "false");
    gg_status status = gg_buf_status(&text, "index.json", error);
    if (status == GG_OK)
        status = gg_file_write(path_of(b, "index.json"), gg_buf_cstr(&text), text.len, error);
    gg_buf_free(&text);
    return status;
}

static gg_status compare_about(const builder *b, const cJSON *root, bool *finished, gg_error *error)
{
    const char *schema = gg_json_text(root, "schema"), *corpus = gg_json_text(root, "corpus");
    const char *embedding = gg_json_text(root, "embedding");
    if (!schema || strcmp(schema, GG_INDEX_SCHEMA) != 0 || !embedding ||
        strcmp(embedding, GG_EMBED_NAME) != 0)
        return gg_fail(error, GG_E_CONFIG,
                       "%s holds an index of another version; give another folder with -o",
                       b->plan->dir);
    if (!corpus || strcmp(corpus, b->corpus.digest) != 0)
        return gg_fail(error, GG_E_CONFIG,
                       "%s holds the index of another corpus (or the corpus has changed); give "
                       "another folder with -o, or remove this one",
                       b->plan->dir);
    gg_json_bool(root, "finished", finished);
    return GG_OK;
}

/* Same corpus as the folder's, or none there yet. */
static gg_status check_folder(builder *b, bool *finished, gg_error *error)
{
    gg_buf text;
    cJSON *root = NULL;
    const char *path = path_of(b, "index.json");
    if (access(path, F_OK) != 0)
        return access(path_of(b, "documents.db"), F_OK) == 0
                   ? gg_fail(error, GG_E_CONFIG, "%s holds a database that is not an index's",
                             b->plan->dir)
                   : write_about(b, false, error);
    gg_buf_init(&text, ABOUT_MAX);
    gg_status status = gg_file_read(path, &text, error);
    if (status == GG_OK)
        status = gg_json_parse(gg_buf_cstr(&text), text.len, &root, error);
    if (status == GG_OK)
        status = compare_about(b, root, finished, error);
    cJSON_Delete(root);
    gg_buf_free(&text);
    return status;
}

/* Stage 1: documents and full text. */

static gg_status store_one(void *context, const gg_document *document, size_t number,
                           gg_error *error)
{
    builder *b = context;
    gg_status status = gg_docstore_add(b->store, document, error);
    if (status == GG_OK && (number + 1) % BATCH == 0) {
        status = gg_docstore_commit(b->store, error);
        tell(b, "full text", number + 1);
    }
    return status;
}

static gg_status store_all(builder *b, gg_error *error)
{
    gg_status status =
        gg_docstore_write_open(path_of(b, "documents.db"), &b->store, &b->built->kept, error);
    if (status != GG_OK)
        return status;
    bool more = b->built->kept < b->corpus.document_count;
    status = gg_corpus_each(&b->corpus, b->built->kept, store_one, b, error);
    if (status == GG_OK)
        status = gg_docstore_commit(b->store, error);
    if (status == GG_OK && more)
        status = gg_docstore_optimise(b->store, error);
    gg_docstore_write_close(b->store);
    b->store = NULL;
    return status;
}

/* Stage 2: document counts. */

static gg_status count_one(void *context, const gg_document *d, size_t number, gg_error *error)
{
    builder *b = context;
    if ((number + 1) % BATCH == 0)
        tell(b, "features", number + 1);
    return gg_features_count(b->features, gg_buf_cstr(&d->title), d->title.len,
                             gg_buf_cstr(&d->text), d->text.len, error);
}

static gg_status count_all(builder *b, gg_error *error)
{
    const char *path = path_of(b, "features.bin");
    if (access(path, F_OK) == 0)
        return gg_features_read(path, &b->features, error);
    b->features = gg_features_new();
    if (!b->features)
        return gg_fail(error, GG_E_MEMORY, "out of memory for an index's features");
    gg_status status = gg_corpus_each(&b->corpus, 0, count_one, b, error);
    return status == GG_OK ? gg_features_write(b->features, path_of(b, "features.bin"), error)
                           : status;
}

/* Stage 3: vectors, written by the batch. */

static gg_status flush_rows(builder *b, gg_error *error)
{
    gg_status status = gg_buf_status(&b->rows, "an index's vectors", error);
    for (size_t at = 0; status == GG_OK && at < b->rows.len;) {
        ssize_t n = write(b->vectors, b->rows.data + at, b->rows.len - at);
        if (n < 0 && errno != EINTR)
            status = gg_fail(error, GG_E_IO, "cannot write %s/vectors.bin: %s", b->plan->dir,
                             strerror(errno));
        at += n > 0 ? (size_t)n : 0;
    }
    gg_buf_reset(&b->rows);
    return status;
}

static gg_status embed_one(void *context, const gg_document *d, size_t number, gg_error *error)
{
    builder *b = context;
    float row[GG_EMBED_DIMS];
    gg_status status = gg_embed(b->features, gg_buf_cstr(&d->title), d->title.len,
                                gg_buf_cstr(&d->text), d->text.len, row, error);
    if (status != GG_OK)
        return status;
    gg_buf_add(&b->rows, row, sizeof row);
    if ((number + 1) % BATCH != 0)
        return GG_OK;
    tell(b, "vectors", number + 1);
    return flush_rows(b, error);
}

static gg_status embed_all(builder *b, gg_error *error)
{
    const char *path = path_of(b, "vectors.bin");
    b->vectors = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    off_t size = b->vectors < 0 ? -1 : lseek(b->vectors, 0, SEEK_END);
    size_t whole = size < 0 ? 0 : (size_t)size / ROW_BYTES;
    /* A kill may have torn the last row. */
    if (size < 0 || ftruncate(b->vectors, (off_t)(whole * ROW_BYTES)) != 0 ||
        lseek(b->vectors, 0, SEEK_END) < 0)
        return gg_fail(error, GG_E_IO, "cannot write %s: %s", path, strerror(errno));
    gg_status status = gg_corpus_each(&b->corpus, whole, embed_one, b, error);
    if (status == GG_OK)
        status = flush_rows(b, error);
    if (status == GG_OK && fsync(b->vectors) != 0)
        status = gg_fail(error, GG_E_IO, "cannot write %s: %s", path_of(b, "vectors.bin"),
                         strerror(errno));
    return status;
}

/* Leaves the lock's descriptor open while building. */
static gg_status lock_folder(builder *b, int *lock, gg_error *error)
{
    const char *path = path_of(b, ".lock");
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*lock < 0)
        return gg_fail(error, GG_E_IO, "cannot write %s: %s", path, strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) != 0)
        return gg_fail(error, GG_E_LOCKED, "another process builds the index %s", b->plan->dir);
    return GG_OK;
}

static gg_status build(builder *b, gg_error *error)
{
    bool finished = false;
    gg_status status = check_folder(b, &finished, error);
    b->built->had_all = finished;
    if (status != GG_OK || finished) {
        b->built->kept = b->corpus.document_count;
        return status;
    }
    status = store_all(b, error);
    if (status == GG_OK)
        status = count_all(b, error);
    if (status == GG_OK)
        status = embed_all(b, error);
    return status == GG_OK ? write_about(b, true, error) : status;
}

gg_status gg_index_build(const gg_index_plan *plan, gg_index_built *out, gg_error *error)
{
    builder b = {.plan = plan, .built = out, .vectors = -1};
    int lock = -1;
    *out = (gg_index_built){0};
    gg_status status = gg_corpus_open(plan->corpus, plan->corpus_count, &b.corpus, error);
    if (status != GG_OK)
        return status;
    gg_buf_init(&b.path, PATH_ROOM);
    gg_buf_init(&b.rows, BATCH * ROW_BYTES);
    out->documents = b.corpus.document_count;
    memcpy(out->corpus, b.corpus.digest, sizeof out->corpus);
    status = gg_dir_make(plan->dir, error);
    if (status == GG_OK)
        status = lock_folder(&b, &lock, error);
    if (status == GG_OK)
        status = build(&b, error);
    if (b.vectors >= 0)
        close(b.vectors);
    if (lock >= 0)
        close(lock);
    gg_docstore_write_close(b.store);
    gg_features_free(b.features);
    gg_buf_free(&b.path);
    gg_buf_free(&b.rows);
    gg_corpus_close(&b.corpus);
    return status;
}
