#include "env/search/judged.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"

#define FIELDS     5 /* one more than a line may have */
#define GRADE_MAX  1000
#define PROMPT_MAX (4u << 20)
#define TEXT_MAX   (1u << 20) /* bytes of one question */
#define KIND_MAX   64

typedef struct question {
    size_t id, text, kind; /* places in the pool */
} question;

struct gg_questions {
    gg_mapped file;
    gg_buf pool; /* texts with their NULs */
    question *items;
    size_t count, room;
};

typedef struct slice {
    const char *bytes;
    size_t len;
} slice;

static const char *text_at(const gg_questions *q, size_t place)
{
    return q->pool.data + place;
}

/* Lines. */

/* The next line of a file, without its end; false after the last. */
static bool next_line(const gg_mapped *file, size_t *at, slice *line)
{
    if (*at >= file->len)
        return false;
    const char *start = file->bytes + *at;
    const char *stop = memchr(start, '\n', file->len - *at);
    size_t len = stop ? (size_t)(stop - start) : file->len - *at;
    *at += len + 1;
    while (len && (start[len - 1] == '\r' || start[len - 1] == ' '))
        len--;
    *line = (slice){start, len};
    return true;
}

/* Questions. */

static size_t keep(gg_questions *q, const char *bytes, size_t len)
{
    size_t place = q->pool.len;
    gg_buf_add(&q->pool, bytes, len);
    gg_buf_add(&q->pool, "", 1);
    return place;
}

static bool push(gg_questions *q, question item)
{
    if (q->count == q->room) {
        size_t room = q->room ? q->room * 2 : 256;
        question *items = realloc(q->items, room * sizeof *items);
        if (!items)
            return false;
        q->items = items;
        q->room = room;
    }
    q->items[q->count++] = item;
    return true;
}

static gg_status add_json(gg_questions *q, slice line, gg_error *error)
{
    cJSON *root = NULL;
    char number[32];
    gg_status status = gg_json_parse(line.bytes, line.len, &root, error);
    if (status != GG_OK)
        return status;
    const char *id = gg_json_text(root, "_id"), *text = gg_json_text(root, "text");
    const char *kind = gg_json_text(gg_json_get(root, "metadata"), "kind");
    int64_t whole;
    if (!id && gg_json_int(root, "_id", &whole)) {
        gg_buf digits;
        gg_buf_init(&digits, sizeof number - 1);
        gg_buf_int(&digits, whole);
        memcpy(number, gg_buf_cstr(&digits), digits.len + 1);
        gg_buf_free(&digits);
        id = number;
    }
    if (!id || !*id || !text || !*text || strlen(text) > TEXT_MAX) {
        status = gg_fail(error, GG_E_FORMAT,
                         "not a question; wanted is {\"_id\": TEXT, \"text\": TEXT}");
    } else {
        question item = {.id = keep(q, id, strlen(id)), .text = keep(q, text, strlen(text))};
        item.kind = keep(q, kind ? kind : "", kind && strlen(kind) <= KIND_MAX ? strlen(kind) : 0);
        if (!push(q, item))
            status = gg_fail(error, GG_E_MEMORY, "out of memory for questions");
    }
    cJSON_Delete(root);
    return status;
}

static gg_status add_tabbed(gg_questions *q, slice line, gg_error *error)
{
    const char *tab = memchr(line.bytes, '\t', line.len);
    size_t id_len = tab ? (size_t)(tab - line.bytes) : 0;
    if (!id_len || id_len + 1 >= line.len)
        return gg_fail(error, GG_E_FORMAT, "not a question; wanted is `id TAB text`, or JSON");
    question item = {.id = keep(q, line.bytes, id_len),
                     .text = keep(q, tab + 1, line.len - id_len - 1)};
    item.kind = keep(q, "", 0);
    return push(q, item) ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for questions");
}

/* For qsort, which hands over no context. */
typedef struct named {
    const char *id;
    question item;
} named;

static int by_id(const void *a, const void *b)
{
    return strcmp(((const named *)a)->id, ((const named *)b)->id);
}

static gg_status sort_questions(gg_questions *q, const char *path, gg_error *error)
{
    named *all = calloc(q->count + 1, sizeof *all);
    gg_status status = all ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for questions");
    for (size_t i = 0; all && i < q->count; i++)
        all[i] = (named){text_at(q, q->items[i].id), q->items[i]};
    if (all)
        qsort(all, q->count, sizeof *all, by_id);
    for (size_t i = 0; status == GG_OK && i < q->count; i++) {
        q->items[i] = all[i].item;
        if (i > 0 && strcmp(all[i - 1].id, all[i].id) == 0)
            status =
                gg_fail(error, GG_E_FORMAT, "%s: the question %s stands twice", path, all[i].id);
    }
    free(all);
    return status;
}

static gg_status read_questions(gg_questions *q, const char *path, gg_error *error)
{
    size_t at = 0, number = 0;
    slice line;
    gg_status status = gg_map_file(path, &q->file, error);
    while (status == GG_OK && next_line(&q->file, &at, &line)) {
        number++;
        if (!line.len)
            continue;
        status = *line.bytes == '{' ? add_json(q, line, error) : add_tabbed(q, line, error);
        if (status != GG_OK)
            gg_fail_prefix(error, "%s:%zu", path, number);
    }
    gg_unmap_file(&q->file);
    if (status == GG_OK)
        status = gg_buf_status(&q->pool, path, error);
    if (status == GG_OK && q->count == 0)
        status = gg_fail(error, GG_E_CONFIG, "%s holds no questions", path);
    return status == GG_OK ? sort_questions(q, path, error) : status;
}

gg_status gg_questions_read(const char *path, gg_questions **out, gg_error *error)
{
    *out = NULL;
    gg_questions *q = calloc(1, sizeof *q);
    if (!q)
        return gg_fail(error, GG_E_MEMORY, "out of memory for questions");
    gg_buf_init(&q->pool, (size_t)1 << 30);
    gg_status status = read_questions(q, path, error);
    if (status == GG_OK)
        *out = q;
    else
        gg_questions_free(q);
    return status;
}

void gg_questions_free(gg_questions *q)
{
    if (!q)
        return;
    gg_buf_free(&q->pool);
    free(q->items);
    free(q);
}

/* Index of a question, or count when there is none. */
static size_t find_question(const gg_questions *q, slice id)
{
    size_t low = 0, high = q->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *there = text_at(q, q->items[middle].id);
        int order = strncmp(there, id.bytes, id.len);
        if (order == 0 && there[id.len])
            order = 1;
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return q->count;
}

/* Judgments. */

typedef struct judgment {
    size_t question, rank, number; /* rank: when the question was first named */
    slice document;
    int grade;
} judgment;

typedef struct judging {
    const gg_questions *questions;
    const char *path;
    gg_mapped file;
    judgment *items;
    size_t count, room;
    size_t *rank; /* one a question, 0 = not named yet */
    size_t named;
} judging;

/* Cuts a line at tabs, or at blanks where it has no tab. */
static size_t cut(slice line, slice *fields)
{
    const char *end = line.bytes + line.len;
    bool tabs = memchr(line.bytes, '\t', line.len) != NULL;
    size_t count = 0;
    for (const char *at = line.bytes; at < end && count < FIELDS;) {
        while (at < end && (*at == '\t' || (!tabs && *at == ' ')))
            at++;
        const char *start = at;
        while (at < end && *at != '\t' && (tabs || *at != ' '))
            at++;
        if (at > start)
            fields[count++] = (slice){start, (size_t)(at - start)};
    }
    return count;
}

/* A whole number, also written as 1.0. */
static bool read_grade(slice text, int *out)
{
    char copy[32], *end;
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.bytes, text.len);
    copy[text.len] = '\0';
    double value = strtod(copy, &end);
    if (end == copy || *end || !(value >= -GRADE_MAX && value <= GRADE_MAX) ||
        value != (double)(int)value)
        return false;
    *out = (int)value;
    return true;
}

static gg_status push_judgment(judging *j, judgment item, gg_error *error)
{
    if (j->count == j->room) {
        size_t room = j->room ? j->room * 2 : 1024;
        judgment *items = realloc(j->items, room * sizeof *items);
        if (!items)
            return gg_fail(error, GG_E_MEMORY, "out of memory for judgments");
        j->items = items;
        j->room = room;
    }
    j->items[j->count++] = item;
    return GG_OK;
}

static gg_status add_judgment(judging *j, slice line, size_t number, gg_error *error)
{
    slice fields[FIELDS];
    size_t count = cut(line, fields);
    judgment item = {.number = j->count};
    bool shape = count == 3 || count == 4;
    if (!shape || !read_grade(fields[count - 1], &item.grade)) {
        if (shape && number == 1)
            return GG_OK; /* BEIR's head line */
        return gg_fail(error, GG_E_FORMAT,
                       "not a judgment; wanted is `query-id document-id grade`, or TREC's with "
                       "the iteration between");
    }
    item.document = fields[count - 2];
    item.question = find_question(j->questions, fields[0]);
    if (item.question == j->questions->count)
        return gg_fail(error, GG_E_FORMAT, "the question %.*s is not in the file of questions",
                       (int)fields[0].len, fields[0].bytes);
    if (item.document.len > GG_DOCUMENT_ID_MAX)
        return gg_fail(error, GG_E_FORMAT, "a document's id has more than %d bytes",
                       GG_DOCUMENT_ID_MAX);
    size_t *rank = &j->rank[item.question];
    if (!*rank)
        *rank = ++j->named;
    item.rank = *rank;
    return push_judgment(j, item, error);
}

static gg_status read_judgments(judging *j, gg_error *error)
{
    size_t at = 0, number = 0;
    slice line;
    gg_status status = gg_map_file(j->path, &j->file, error);
    while (status == GG_OK && next_line(&j->file, &at, &line)) {
        number++;
        if (line.len)
            status = add_judgment(j, line, number, error);
        if (status != GG_OK)
            gg_fail_prefix(error, "%s:%zu", j->path, number);
    }
    return status;
}

static int by_rank(const void *a, const void *b)
{
    const judgment *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool same_document(const judgment *a, const judgment *b)
{
    return a->document.len == b->document.len &&
           memcmp(a->document.bytes, b->document.bytes, a->document.len) == 0;
}

/* Rows. */

static void write_answer(const judgment *items, size_t count, gg_buf *out)
{
    gg_buf_str(out, ",\"answer\":[");
    for (size_t i = 0; i < count; i++) {
        gg_buf_str(out, i ? ",{\"id\":" : "{\"id\":");
        gg_buf_json(out, items[i].document.bytes, items[i].document.len);
        gg_buf_printf(out, ",\"grade\":%d}", items[i].grade);
    }
    gg_buf_char(out, ']');
}

static void write_row(const gg_questions *q, const judgment *items, size_t count, gg_buf *inner,
                      gg_buf *rows)
{
    const question *item = &q->items[items->question];
    gg_buf_reset(inner);
    gg_buf_str(inner, "{\"id\":");
    gg_buf_json_str(inner, text_at(q, item->id));
    gg_buf_str(inner, ",\"prompt\":");
    gg_buf_json_str(inner, text_at(q, item->text));
    write_answer(items, count, inner);
    if (*text_at(q, item->kind)) {
        gg_buf_str(inner, ",\"kind\":");
        gg_buf_json_str(inner, text_at(q, item->kind));
    }
    gg_buf_char(inner, '}');
    gg_buf_str(rows, "{\"id\":");
    gg_buf_json_str(rows, text_at(q, item->id));
    gg_buf_str(rows, ",\"prompt\":");
    gg_buf_json(rows, gg_buf_cstr(inner), inner->len);
    gg_buf_str(rows, "}\n");
}

/* Checks one question's judgments; the same one given again is dropped. */
static gg_status check_question(const judging *j, judgment *items, size_t *count, gg_index *index,
                                gg_judged *out, bool *relevant, gg_error *error)
{
    size_t kept = 0;
    *relevant = false;
    for (size_t i = 0; i < *count; i++) {
        int64_t row;
        size_t same = 0;
        while (same < kept && !same_document(&items[same], &items[i]))
            same++;
        if (same < kept && items[same].grade != items[i].grade)
            return gg_fail(error, GG_E_FORMAT,
                           "%s: the document %.*s has two grades for one question", j->path,
                           (int)items[i].document.len, items[i].document.bytes);
        if (same < kept)
            continue;
        gg_status status =
            gg_index_find(index, items[i].document.bytes, items[i].document.len, &row, error);
        if (status != GG_OK)
            return status;
        out->missing += row == 0;
        *relevant = *relevant || items[i].grade > 0;
        items[kept++] = items[i];
    }
    out->judgments += kept;
    *count = kept;
    return GG_OK;
}

static gg_status write_rows(judging *j, gg_index *index, gg_buf *rows, gg_judged *out,
                            gg_error *error)
{
    gg_buf inner;
    gg_status status = GG_OK;
    gg_buf_init(&inner, PROMPT_MAX);
    for (size_t i = 0, next; i < j->count && status == GG_OK; i = next) {
        bool relevant;
        next = i + 1;
        while (next < j->count && j->items[next].rank == j->items[i].rank)
            next++;
        size_t count = next - i;
        status = check_question(j, &j->items[i], &count, index, out, &relevant, error);
        if (status != GG_OK)
            break;
        out->tasks += relevant;
        out->hopeless += !relevant;
        if (relevant)
            write_row(j->questions, &j->items[i], count, &inner, rows);
        status = gg_buf_status(&inner, "a task's row", error);
    }
    gg_buf_free(&inner);
    return status == GG_OK ? gg_buf_status(rows, "the task rows", error) : status;
}

gg_status gg_judged_rows(const gg_questions *questions, const char *qrels, gg_index *index,
                         gg_buf *rows, gg_judged *out, gg_error *error)
{
    judging j = {.questions = questions, .path = qrels};
    *out = (gg_judged){0};
    j.rank = calloc(questions->count, sizeof *j.rank);
    if (!j.rank)
        return gg_fail(error, GG_E_MEMORY, "out of memory for judgments");
    gg_status status = read_judgments(&j, error);
    if (status == GG_OK && j.count == 0)
        status = gg_fail(error, GG_E_CONFIG, "%s holds no judgments", qrels);
    if (status == GG_OK) {
        qsort(j.items, j.count, sizeof *j.items, by_rank);
        status = write_rows(&j, index, rows, out, error);
    }
    gg_unmap_file(&j.file);
    free(j.items);
    free(j.rank);
    return status;
}
