#include "env/search/corpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/json.h"

/* Files. */

gg_status gg_map_file(const char *path, gg_mapped *out, gg_error *error)
{
    struct stat about;
    *out = (gg_mapped){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return gg_fail(error, GG_E_CONFIG, "cannot read %s: %s", path, strerror(errno));
    gg_status status = GG_OK;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        status = gg_fail(error, GG_E_CONFIG, "cannot read %s: it is not a file", path);
    } else if (about.st_size == 0) {
        out->bytes = ""; /* nothing can be mapped */
    } else {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED)
            status = gg_fail(error, GG_E_IO, "cannot map %s: %s", path, strerror(errno));
        else
            *out = (gg_mapped){.bytes = bytes, .len = (size_t)about.st_size};
    }
    close(fd);
    return status;
}

void gg_unmap_file(gg_mapped *mapped)
{
    if (mapped->len)
        munmap((void *)(uintptr_t)mapped->bytes, mapped->len);
    *mapped = (gg_mapped){0};
}

/* Documents. */

void gg_document_init(gg_document *document)
{
    gg_buf_init(&document->id, GG_DOCUMENT_ID_MAX);
    gg_buf_init(&document->title, GG_DOCUMENT_MAX);
    gg_buf_init(&document->text, GG_DOCUMENT_MAX);
}

void gg_document_free(gg_document *document)
{
    gg_buf_free(&document->id);
    gg_buf_free(&document->title);
    gg_buf_free(&document->text);
}

/* A text, or null, or (of an id) a number as it stands. */
static bool read_text(gg_json_reader *r, gg_buf *out)
{
    gg_json_name raw;
    gg_json_reader ahead = *r;
    gg_buf_reset(out);
    if (gg_read_null(r))
        return true;
    if (gg_read_raw(&ahead, &raw) &&
        (*raw.bytes == '-' || (*raw.bytes >= '0' && *raw.bytes <= '9'))) {
        gg_buf_add(out, raw.bytes, raw.len);
        *r = ahead;
        return out->status == GG_OK;
    }
    return gg_read_string(r, out);
}

/* Pages show an id as the first of three columns of a line, so it has to be told from the rest. */
static bool is_fit_id(const gg_buf *id)
{
    for (size_t i = 0; i < id->len; i++) {
        unsigned char c = (unsigned char)id->data[i];
        if (c < 0x20 || c == 0x7f || c == '|')
            return false;
    }
    return id->data[0] != ' ' && id->data[id->len - 1] != ' ';
}

static gg_status read_document(const char *line, size_t len, gg_document *out, gg_error *error)
{
    gg_json_reader r = gg_json_reader_make(line, len);
    gg_json_name name;
    gg_buf_reset(&out->id);
    gg_buf_reset(&out->title);
    gg_buf_reset(&out->text);
    bool good = gg_read_object(&r);
    while (good && gg_read_name(&r, &name)) {
        gg_buf *into = gg_name_is(name, "_id")     ? &out->id
                       : gg_name_is(name, "title") ? &out->title
                       : gg_name_is(name, "text")  ? &out->text
                                                   : NULL;
        good = into ? read_text(&r, into) : gg_read_skip(&r);
    }
    if (r.no_memory || out->id.status == GG_E_MEMORY || out->title.status == GG_E_MEMORY ||
        out->text.status == GG_E_MEMORY)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a document");
    if (out->id.status != GG_OK)
        return gg_fail(error, GG_E_FORMAT, "a document's _id has more than %d bytes",
                       GG_DOCUMENT_ID_MAX);
    if (out->title.status != GG_OK || out->text.status != GG_OK)
        return gg_fail(error, GG_E_FORMAT, "a document has more than %u bytes", GG_DOCUMENT_MAX);
    if (!good || !gg_read_end(&r) || !out->id.len || !(out->title.len || out->text.len))
        return gg_fail(
            error, GG_E_FORMAT,
            "not a document; wanted is {\"_id\": TEXT, \"title\": TEXT, \"text\": TEXT}");
    if (!is_fit_id(&out->id))
        return gg_fail(error, GG_E_FORMAT,
                       "a document's _id holds a bar, a control character or a blank at its end");
    return GG_OK;
}

/* Walking. */

static bool is_blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

static size_t line_length(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return stop ? (size_t)(stop - at) : (size_t)(end - at);
}

static size_t count_documents(const gg_mapped *file)
{
    const char *end = file->bytes + file->len;
    size_t count = 0;
    for (const char *at = file->bytes; at < end;) {
        size_t len = line_length(at, end);
        count += !is_blank(at, len);
        at += len + 1;
    }
    return count;
}

static gg_status open_files(gg_corpus *c, gg_error *error)
{
    char(*digests)[GG_DIGEST_HEX] = calloc(c->file_count, sizeof *digests);
    gg_status status = digests ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for a corpus");
    for (size_t i = 0; i < c->file_count && status == GG_OK; i++) {
        status = gg_map_file(c->paths[i], &c->files[i], error);
        if (status != GG_OK)
            break;
        gg_sha256_hex(c->files[i].bytes, c->files[i].len, digests[i]);
        c->document_count += count_documents(&c->files[i]);
    }
    if (status == GG_OK)
        gg_sha256_hex(digests, c->file_count * sizeof *digests, c->digest);
    free(digests);
    if (status == GG_OK && c->document_count == 0)
        status = gg_fail(error, GG_E_CONFIG, "%s holds no documents", c->paths[0]);
    return status;
}

gg_status gg_corpus_open(const char *const *paths, size_t count, gg_corpus *out, gg_error *error)
{
    *out = (gg_corpus){.paths = paths, .file_count = count};
    if (count == 0)
        return gg_fail(error, GG_E_CONFIG, "no corpus is given");
    out->files = calloc(count, sizeof *out->files);
    if (!out->files)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a corpus");
    gg_status status = open_files(out, error);
    if (status != GG_OK)
        gg_corpus_close(out);
    return status;
}

void gg_corpus_close(gg_corpus *corpus)
{
    for (size_t i = 0; corpus->files && i < corpus->file_count; i++)
        gg_unmap_file(&corpus->files[i]);
    free(corpus->files);
    *corpus = (gg_corpus){0};
}

typedef struct walk {
    size_t skip, number;
    gg_document_fn each;
    void *context;
    gg_document document;
} walk;

static gg_status walk_file(walk *w, const gg_mapped *file, const char *path, gg_error *error)
{
    const char *end = file->bytes + file->len;
    size_t line = 0;
    for (const char *at = file->bytes; at < end;) {
        size_t len = line_length(at, end);
        line++;
        if (!is_blank(at, len) && w->number++ >= w->skip) {
            gg_status status = read_document(at, len, &w->document, error);
            if (status == GG_OK)
                status = w->each(w->context, &w->document, w->number - 1, error);
            if (status != GG_OK)
                return status == GG_E_FORMAT ? gg_fail_prefix(error, "%s:%zu", path, line) : status;
        }
        at += len + 1;
    }
    return GG_OK;
}

gg_status gg_corpus_each(const gg_corpus *corpus, size_t skip, gg_document_fn each, void *context,
                         gg_error *error)
{
    walk w = {.skip = skip, .each = each, .context = context};
    gg_status status = GG_OK;
    gg_document_init(&w.document);
    for (size_t i = 0; i < corpus->file_count && status == GG_OK; i++)
        status = walk_file(&w, &corpus->files[i], corpus->paths[i], error);
    gg_document_free(&w.document);
    return status;
}
