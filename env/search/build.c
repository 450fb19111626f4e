/* Building an index, in stages that a kill may end anywhere: each sees what is there and goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/file.h"
#include "env/search/about.h"
#include "env/search/embed.h"
#include "env/search/index.h"

#define PATH_ROOM 4096
#define BATCH     1000 /* documents between two commits, and between two words of progress */
#define ROWS_MAX  (64u << 20)
#define TEXTS_MAX (GG_REMOTE_BATCH * (size_t)GG_DOCUMENT_MAX)

typedef struct builder {
    const gg_index_plan *plan;
    gg_corpus corpus;
    gg_index_built *built;
    gg_docstore_writer *store;
    gg_features *features;
    int vectors; /* descriptor, -1 = closed */
    gg_about about;
    gg_buf path, rows;
    gg_buf texts; /* to be sent for embedding */
    size_t ends[GG_REMOTE_BATCH], waiting;
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
    b->about.finished = finished;
    return gg_about_write(path_of(b, "index.json"), &b->about, error);
}

/* Asks for one vector, to see how long they are. */
static gg_status ask_dims(builder *b, gg_error *error)
{
    float row[GG_REMOTE_DIMS_MAX];
    const gg_text text = {"dimensions", strlen("dimensions")};
    return b->about.by_remote ? gg_remote_embed(&b->about.remote, &text, 1, row, GG_REMOTE_DIMS_MAX,
                                                &b->about.remote.dims, error)
                              : GG_OK;
}

static bool is_same(const gg_about *a, const gg_about *b)
{
    return a->by_remote == b->by_remote && a->remote.bytes == b->remote.bytes &&
           strcmp(a->remote.model, b->remote.model) == 0;
}

/* Goes on with what the folder holds, from the address that is given now. */
static gg_status compare_about(builder *b, const gg_about *found, bool *finished, gg_error *error)
{
    if (strcmp(found->corpus, b->about.corpus) != 0)
        return gg_fail(error, GG_E_CONFIG,
                       "%s holds the index of another corpus (or the corpus has changed); give "
                       "another folder with -o, or remove this one",
                       b->plan->dir);
    if (!is_same(found, &b->about))
        return gg_fail(error, GG_E_CONFIG,
                       "%s holds an index with other embeddings; give another folder with -o, or "
                       "remove this one",
                       b->plan->dir);
    *finished = found->finished;
    b->about.remote.dims = found->remote.dims;
    return strcmp(found->remote.url, b->about.remote.url) == 0 ? GG_OK
                                                               : write_about(b, *finished, error);
}

/* Same corpus as the folder's, or none there yet. */
static gg_status check_folder(builder *b, bool *finished, gg_error *error)
{
    gg_about found;
    const char *path = path_of(b, "index.json");
    if (access(path, F_OK) == 0) {
        gg_status status = gg_about_read(path, &found, error);
        return status == GG_OK ? compare_about(b, &found, finished, error) : status;
    }
    if (access(path_of(b, "documents.db"), F_OK) == 0)
        return gg_fail(error, GG_E_CONFIG, "%s holds a database that is not an index's",
                       b->plan->dir);
    gg_status status = ask_dims(b, error);
    return status == GG_OK ? write_about(b, false, error) : status;
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

/* Asks for what is waiting, and writes it: a kill costs one request's texts. */
static gg_status flush_texts(builder *b, gg_error *error)
{
    const size_t row = gg_about_row(&b->about);
    gg_text texts[GG_REMOTE_BATCH];
    gg_status status = gg_buf_status(&b->texts, "texts to be embedded", error);
    if (status != GG_OK || !b->waiting)
        return status;
    float *rows = malloc(b->waiting * row * sizeof *rows);
    if (!rows)
        return gg_fail(error, GG_E_MEMORY, "out of memory for an index's vectors");
    for (size_t i = 0, from = 0; i < b->waiting; from = b->ends[i++])
        texts[i] = (gg_text){b->texts.data + from, b->ends[i] - from};
    status = gg_remote_embed(&b->about.remote, texts, b->waiting, rows, row, NULL, error);
    if (status == GG_OK) {
        gg_buf_add(&b->rows, rows, b->waiting * row * sizeof *rows);
        status = flush_rows(b, error);
    }
    free(rows);
    gg_buf_reset(&b->texts);
    b->waiting = 0;
    return status;
}

static gg_status send_one(void *context, const gg_document *d, size_t number, gg_error *error)
{
    builder *b = context;
    size_t most =
        d->text.len < GG_REMOTE_TEXT ? d->text.len : GG_REMOTE_TEXT; /* the rest is not sent */
    if (d->title.len)
        gg_buf_add(&b->texts, d->title.data, d->title.len);
    gg_buf_str(&b->texts, d->title.len && most ? "\n" : "");
    if (most)
        gg_buf_add(&b->texts, d->text.data, most);
    b->ends[b->waiting++] = b->texts.len;
    if (b->waiting < GG_REMOTE_BATCH)
        return GG_OK;
    tell(b, "vectors", number + 1);
    return flush_texts(b, error);
}

static gg_status embed_all(builder *b, gg_error *error)
{
    const char *path = path_of(b, "vectors.bin");
    const size_t bytes = gg_about_row(&b->about) * sizeof(float);
    b->vectors = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    off_t size = b->vectors < 0 ? -1 : lseek(b->vectors, 0, SEEK_END);
    size_t whole = size < 0 ? 0 : (size_t)size / bytes;
    /* A kill may have torn the last row. */
    if (size < 0 || ftruncate(b->vectors, (off_t)(whole * bytes)) != 0 ||
        lseek(b->vectors, 0, SEEK_END) < 0)
        return gg_fail(error, GG_E_IO, "cannot write %s: %s", path, strerror(errno));
    gg_status status =
        gg_corpus_each(&b->corpus, whole, b->about.by_remote ? send_one : embed_one, b, error);
    if (status == GG_OK)
        status = b->about.by_remote ? flush_texts(b, error) : flush_rows(b, error);
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
    gg_buf_init(&b.rows, ROWS_MAX);
    gg_buf_init(&b.texts, TEXTS_MAX);
    out->documents = b.corpus.document_count;
    memcpy(out->corpus, b.corpus.digest, sizeof out->corpus);
    b.about.documents = b.corpus.document_count;
    memcpy(b.about.corpus, b.corpus.digest, sizeof b.about.corpus);
    b.about.by_remote = plan->remote != NULL;
    if (plan->remote)
        b.about.remote = *plan->remote;
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
    gg_buf_free(&b.texts);
    gg_corpus_close(&b.corpus);
    return status;
}
