#include "env/search/store.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "env/search/rank.h"

#define URI_ROOM 16384
#define IDLE_MAX 64 /* connections kept for later calls */
#define MEGABYTE "67108864"

enum statement { MATCH, READ, FIND, STATEMENTS };

#define MATCH_TEXT                                                                                 \
    "SELECT rowid, ranked(words) AS score FROM words WHERE words MATCH ?1 "                        \
    "ORDER BY score, rowid LIMIT ?2"

static const char *const statement_text[STATEMENTS] = {
    [MATCH] = MATCH_TEXT,
    [READ] = "SELECT id, title, text FROM document WHERE row = ?1",
    [FIND] = "SELECT row FROM document WHERE id = ?1",
};

typedef struct connection {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    struct connection *next;
} connection;

struct gg_docstore {
    char *path;
    pthread_mutex_t lock;
    connection *idle;
    size_t idle_count;
    gg_row_lengths lengths;
};

static gg_status refuse(sqlite3 *db, const char *path, gg_error *error)
{
    int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %s", path);
    return gg_fail(error, GG_E_IO, "%s: %s", path, sqlite3_errmsg(db));
}

/* Reading. */

static void drop(connection *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(c->statements[i]);
    sqlite3_close(c->db);
    free(c);
}

/* The path as SQLite's URI: read only, and nobody changes the file meanwhile, so no locks. */
static void write_uri(const char *path, gg_buf *uri)
{
    gg_buf_str(uri, "file:");
    for (const char *p = path; *p; p++)
        if (strchr("?#%", *p))
            gg_buf_printf(uri, "%%%02x", (unsigned)(unsigned char)*p);
        else
            gg_buf_char(uri, *p);
    gg_buf_str(uri, "?immutable=1");
}

static gg_status prepare(connection *c, gg_docstore *store, gg_error *error)
{
    const char *path = store->path;
    gg_buf uri;
    gg_buf_init(&uri, URI_ROOM);
    write_uri(path, &uri);
    gg_status status = gg_buf_status(&uri, "an index's path", error);
    if (status == GG_OK &&
        sqlite3_open_v2(gg_buf_cstr(&uri), &c->db,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        status = refuse(c->db, path, error);
    gg_buf_free(&uri);
    if (status == GG_OK)
        sqlite3_exec(c->db, "PRAGMA mmap_size=" MEGABYTE, NULL, NULL, NULL); /* only for speed */
    if (status == GG_OK && gg_rank_register(c->db, &store->lengths) != SQLITE_OK)
        status = refuse(c->db, path, error);
    for (size_t i = 0; i < STATEMENTS && status == GG_OK; i++)
        if (sqlite3_prepare_v3(c->db, statement_text[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &c->statements[i], NULL) != SQLITE_OK)
            status = refuse(c->db, path, error);
    return status;
}

static gg_status borrow(gg_docstore *store, connection **out, gg_error *error)
{
    pthread_mutex_lock(&store->lock);
    connection *c = store->idle;
    if (c) {
        store->idle = c->next;
        store->idle_count--;
    }
    pthread_mutex_unlock(&store->lock);
    *out = c;
    if (c)
        return GG_OK;
    c = calloc(1, sizeof *c);
    if (!c)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %s", store->path);
    gg_status status = prepare(c, store, error);
    if (status == GG_OK)
        *out = c;
    else
        drop(c);
    return status;
}

static void give_back(gg_docstore *store, connection *c, enum statement used)
{
    sqlite3_reset(c->statements[used]);
    sqlite3_clear_bindings(c->statements[used]);
    pthread_mutex_lock(&store->lock);
    bool keep = store->idle_count < IDLE_MAX;
    if (keep) {
        c->next = store->idle;
        store->idle = c;
        store->idle_count++;
    }
    pthread_mutex_unlock(&store->lock);
    if (!keep)
        drop(c);
}

/* Room for the rows' lengths. Without memory they are looked up each time. */
static gg_status count_rows(gg_docstore *store, connection *c, gg_error *error)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(c->db, "SELECT max(row) FROM document", -1, &s, NULL) != SQLITE_OK ||
        sqlite3_step(s) != SQLITE_ROW) {
        sqlite3_finalize(s);
        return refuse(c->db, store->path, error);
    }
    size_t count = (size_t)sqlite3_column_int64(s, 0) + 1;
    sqlite3_finalize(s);
    store->lengths.of = calloc(count, sizeof *store->lengths.of);
    store->lengths.count = store->lengths.of ? count : 0;
    return GG_OK;
}

gg_status gg_docstore_open(const char *path, gg_docstore **out, gg_error *error)
{
    connection *first;
    *out = NULL;
    gg_docstore *store = calloc(1, sizeof *store);
    if (store)
        store->path = strdup(path);
    if (!store || !store->path) {
        free(store);
        return gg_fail(error, GG_E_MEMORY, "out of memory for %s", path);
    }
    pthread_mutex_init(&store->lock, NULL);
    gg_status status = borrow(store, &first, error);
    if (status != GG_OK) {
        gg_docstore_close(store);
        return status;
    }
    status = count_rows(store, first, error);
    give_back(store, first, FIND);
    if (status == GG_OK)
        *out = store;
    else
        gg_docstore_close(store);
    return status;
}

void gg_docstore_close(gg_docstore *store)
{
    if (!store)
        return;
    while (store->idle) {
        connection *c = store->idle;
        store->idle = c->next;
        drop(c);
    }
    pthread_mutex_destroy(&store->lock);
    free(store->lengths.of);
    free(store->path);
    free(store);
}

gg_status gg_docstore_match(gg_docstore *store, const char *query, size_t k, gg_hit *out,
                            size_t *count, gg_error *error)
{
    connection *c;
    int step;
    *count = 0;
    gg_status status = borrow(store, &c, error);
    if (status != GG_OK)
        return status;
    sqlite3_stmt *s = c->statements[MATCH];
    sqlite3_bind_text(s, 1, query, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, (sqlite3_int64)k);
    /* ranked() is lower for better ones. */
    while ((step = sqlite3_step(s)) == SQLITE_ROW && *count < k)
        out[(*count)++] =
            (gg_hit){.row = sqlite3_column_int64(s, 0), .score = -sqlite3_column_double(s, 1)};
    if (step != SQLITE_DONE && step != SQLITE_ROW)
        status = refuse(c->db, store->path, error);
    give_back(store, c, MATCH);
    return status;
}

static void take_column(sqlite3_stmt *s, int column, gg_buf *out)
{
    gg_buf_reset(out);
    gg_buf_add(out, sqlite3_column_text(s, column), (size_t)sqlite3_column_bytes(s, column));
}

gg_status gg_docstore_read(gg_docstore *store, int64_t row, gg_document *out, gg_error *error)
{
    connection *c;
    gg_status status = borrow(store, &c, error);
    if (status != GG_OK)
        return status;
    sqlite3_stmt *s = c->statements[READ];
    sqlite3_bind_int64(s, 1, row);
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW) {
        take_column(s, 0, &out->id);
        take_column(s, 1, &out->title);
        take_column(s, 2, &out->text);
        status = gg_buf_status(&out->id, "a document", error);
        if (status == GG_OK)
            status = gg_buf_status(&out->title, "a document", error);
        if (status == GG_OK)
            status = gg_buf_status(&out->text, "a document", error);
    } else if (step == SQLITE_DONE) {
        status = gg_fail(error, GG_E_FORMAT, "%s has no row %lld; build the index again",
                         store->path, (long long)row);
    } else {
        status = refuse(c->db, store->path, error);
    }
    give_back(store, c, READ);
    return status;
}

gg_status gg_docstore_find(gg_docstore *store, const char *id, size_t len, int64_t *row,
                           gg_error *error)
{
    connection *c;
    *row = 0;
    gg_status status = borrow(store, &c, error);
    if (status != GG_OK)
        return status;
    sqlite3_stmt *s = c->statements[FIND];
    sqlite3_bind_text64(s, 1, id, len, SQLITE_STATIC, SQLITE_UTF8);
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW)
        *row = sqlite3_column_int64(s, 0);
    else if (step != SQLITE_DONE)
        status = refuse(c->db, store->path, error);
    give_back(store, c, FIND);
    return status;
}

/* Writing. */

enum insert { TO_DOCUMENT, TO_WORDS, INSERTS };

struct gg_docstore_writer {
    char *path;
    sqlite3 *db;
    sqlite3_stmt *inserts[INSERTS];
    int64_t row; /* of the last document */
};

/* A kill between two commits leaves whole documents only; losing the last commits to a power cut is
 * no harm, as the index can be built again. */
static const char schema[] =
    "PRAGMA journal_mode=DELETE;"
    "PRAGMA synchronous=NORMAL;"
    "CREATE TABLE IF NOT EXISTS document("
    "row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, text TEXT NOT NULL);"
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5("
    "title, text, content='document', content_rowid='row', tokenize='porter unicode61');"
    "BEGIN";

static const char *const insert_text[INSERTS] = {
    [TO_DOCUMENT] = "INSERT INTO document(row, id, title, text) VALUES(?1, ?2, ?3, ?4)",
    [TO_WORDS] = "INSERT INTO words(rowid, title, text) VALUES(?1, ?3, ?4)",
};

static gg_status run(gg_docstore_writer *w, const char *text, gg_error *error)
{
    return sqlite3_exec(w->db, text, NULL, NULL, NULL) == SQLITE_OK ? GG_OK
                                                                    : refuse(w->db, w->path, error);
}

static gg_status last_row(gg_docstore_writer *w, gg_error *error)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(w->db, "SELECT count(*) FROM document", -1, &s, NULL) != SQLITE_OK ||
        sqlite3_step(s) != SQLITE_ROW) {
        sqlite3_finalize(s);
        return refuse(w->db, w->path, error);
    }
    w->row = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return GG_OK;
}

static gg_status open_writer(gg_docstore_writer *w, gg_error *error)
{
    if (sqlite3_open_v2(w->path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK)
        return refuse(w->db, w->path, error);
    gg_status status = run(w, schema, error);
    for (size_t i = 0; i < INSERTS && status == GG_OK; i++)
        if (sqlite3_prepare_v2(w->db, insert_text[i], -1, &w->inserts[i], NULL) != SQLITE_OK)
            status = refuse(w->db, w->path, error);
    return status == GG_OK ? last_row(w, error) : status;
}

gg_status gg_docstore_write_open(const char *path, gg_docstore_writer **out, size_t *count,
                                 gg_error *error)
{
    *out = NULL;
    gg_docstore_writer *w = calloc(1, sizeof *w);
    if (w)
        w->path = strdup(path);
    if (!w || !w->path) {
        free(w);
        return gg_fail(error, GG_E_MEMORY, "out of memory for %s", path);
    }
    gg_status status = open_writer(w, error);
    if (status != GG_OK) {
        gg_docstore_write_close(w);
        return status;
    }
    *count = (size_t)w->row;
    *out = w;
    return GG_OK;
}

gg_status gg_docstore_add(gg_docstore_writer *w, const gg_document *d, gg_error *error)
{
    int step = SQLITE_DONE;
    w->row++;
    for (size_t i = 0; i < INSERTS && step == SQLITE_DONE; i++) {
        sqlite3_stmt *s = w->inserts[i];
        sqlite3_bind_int64(s, 1, w->row);
        if (i == TO_DOCUMENT)
            sqlite3_bind_text64(s, 2, gg_buf_cstr(&d->id), d->id.len, SQLITE_STATIC, SQLITE_UTF8);
        sqlite3_bind_text64(s, 3, gg_buf_cstr(&d->title), d->title.len, SQLITE_STATIC, SQLITE_UTF8);
        sqlite3_bind_text64(s, 4, gg_buf_cstr(&d->text), d->text.len, SQLITE_STATIC, SQLITE_UTF8);
        step = sqlite3_step(s);
        sqlite3_reset(s);
        sqlite3_clear_bindings(s);
    }
    if (step == SQLITE_DONE)
        return GG_OK;
    w->row--;
    if (sqlite3_errcode(w->db) == SQLITE_CONSTRAINT)
        return gg_fail(error, GG_E_FORMAT, "the _id %s stands twice in the corpus",
                       gg_buf_cstr(&d->id));
    return refuse(w->db, w->path, error);
}

gg_status gg_docstore_commit(gg_docstore_writer *w, gg_error *error)
{
    return run(w, "COMMIT; BEGIN", error);
}

gg_status gg_docstore_optimise(gg_docstore_writer *w, gg_error *error)
{
    return run(w, "INSERT INTO words(words) VALUES('optimize'); COMMIT; BEGIN", error);
}

void gg_docstore_write_close(gg_docstore_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < INSERTS; i++)
        sqlite3_finalize(w->inserts[i]);
    sqlite3_close(w->db); /* rolls back */
    free(w->path);
    free(w);
}
