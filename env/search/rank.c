#include "env/search/rank.h"

#include <math.h>
#include <stdlib.h>

#define K1        1.2
#define B         0.75
#define IDF_LEAST 1e-6

/* What is the same for all rows of a query. */
typedef struct statistics {
    int phrases;
    double mean_length;
    double idf[];
} statistics;

static int count_row(const Fts5ExtensionApi *api, Fts5Context *context, void *rows)
{
    (void)api;
    (void)context;
    ++*(sqlite3_int64 *)rows;
    return SQLITE_OK;
}

static int collect(const Fts5ExtensionApi *api, Fts5Context *context, statistics *out)
{
    sqlite3_int64 rows = 0, tokens = 0;
    int code = api->xRowCount(context, &rows);
    if (code == SQLITE_OK)
        code = api->xColumnTotalSize(context, -1, &tokens);
    out->mean_length = rows ? (double)tokens / (double)rows : 1;
    for (int i = 0; i < out->phrases && code == SQLITE_OK; i++) {
        sqlite3_int64 having = 0;
        code = api->xQueryPhrase(context, i, &having, count_row);
        double idf = log(((double)(rows - having) + 0.5) / ((double)having + 0.5));
        out->idf[i] = idf > 0 ? idf : IDF_LEAST;
    }
    return code;
}

static int statistics_of(const Fts5ExtensionApi *api, Fts5Context *context, statistics **out)
{
    *out = api->xGetAuxdata(context, 0);
    if (*out)
        return SQLITE_OK;
    int phrases = api->xPhraseCount(context);
    statistics *fresh = malloc(sizeof *fresh + (size_t)phrases * sizeof *fresh->idf);
    if (!fresh)
        return SQLITE_NOMEM;
    fresh->phrases = phrases;
    int code = collect(api, context, fresh);
    if (code != SQLITE_OK) {
        free(fresh);
        return code;
    }
    *out = fresh;
    return api->xSetAuxdata(context, fresh, free); /* frees it where it fails */
}

static int length_of(const Fts5ExtensionApi *api, Fts5Context *context, int *out)
{
    const gg_row_lengths *lengths = api->xUserData(context);
    sqlite3_int64 row = api->xRowid(context);
    bool kept = row >= 0 && (size_t)row < lengths->count;
    *out = kept ? atomic_load_explicit(&lengths->of[row], memory_order_relaxed) : 0;
    if (*out)
        return SQLITE_OK;
    int code = api->xColumnSize(context, -1, out);
    if (kept && code == SQLITE_OK)
        atomic_store_explicit(&lengths->of[row], *out, memory_order_relaxed);
    return code;
}

static int count_places(const Fts5ExtensionApi *api, Fts5Context *context, int phrase, double *out)
{
    Fts5PhraseIter at;
    int column, offset, count = 0;
    int code = api->xPhraseFirst(context, phrase, &at, &column, &offset);
    for (; code == SQLITE_OK && column >= 0; count++)
        api->xPhraseNext(context, &at, &column, &offset);
    *out = count;
    return code;
}

static void ranked(const Fts5ExtensionApi *api, Fts5Context *context, sqlite3_context *result,
                   int argument_count, sqlite3_value **arguments)
{
    statistics *s;
    int length = 0;
    double score = 0;
    (void)argument_count;
    (void)arguments;
    int code = statistics_of(api, context, &s);
    if (code == SQLITE_OK)
        code = length_of(api, context, &length);
    for (int i = 0; code == SQLITE_OK && i < s->phrases; i++) {
        double count;
        code = count_places(api, context, i, &count);
        if (count > 0)
            score += s->idf[i] * ((count * (K1 + 1)) /
                                  (count + K1 * (1 - B + B * (double)length / s->mean_length)));
    }
    if (code == SQLITE_OK)
        sqlite3_result_double(result, -score);
    else
        sqlite3_result_error_code(result, code);
}

/* FTS5 hands out its interface through a query (sqlite.org/fts5.html 7). */
static fts5_api *interface_of(sqlite3 *db)
{
    fts5_api *api = NULL;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_pointer(s, 1, (void *)&api, "fts5_api_ptr", NULL);
        sqlite3_step(s);
    }
    sqlite3_finalize(s);
    return api;
}

int gg_rank_register(sqlite3 *db, gg_row_lengths *lengths)
{
    fts5_api *api = interface_of(db);
    return api ? api->xCreateFunction(api, "ranked", lengths, ranked, NULL) : sqlite3_errcode(db);
}
