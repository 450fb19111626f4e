/*
 * Questions and relevance judgments: from BEIR's queries.jsonl and qrels (or TREC's) to task rows.
 *
 *   queries  JSON lines {"_id", "text", "metadata": {"kind": TEXT}}, or lines `id TAB text`
 *   qrels    BEIR: `query-id TAB corpus-id TAB score` with a head line;
 *            TREC: `query-id iteration document-id grade`, parted by blanks
 *
 * A row is {"id", "prompt"}; its prompt is a JSON string as task.h reads it. Threads: one at a
 * time.
 */
#ifndef GG_ENV_SEARCH_JUDGED_H
#define GG_ENV_SEARCH_JUDGED_H

#include "env/search/index.h"

typedef struct gg_questions gg_questions;

gg_status gg_questions_read(const char *path, gg_questions **out, gg_error *error);
void gg_questions_free(gg_questions *questions); /* NULL is fine */

typedef struct gg_judged {
    size_t tasks;
    size_t judgments;
    size_t missing;  /* judged documents that the index does not have; they still count as ideal */
    size_t hopeless; /* questions left out: nothing relevant was judged */
} gg_judged;

/* Appends the rows of one qrels file, in the order in which it names the questions. A question that
 * is not among `questions` and a line that is no judgment are GG_E_FORMAT with file and line; a
 * document judged twice for one question with two grades is, too. */
gg_status gg_judged_rows(const gg_questions *questions, const char *qrels, gg_index *index,
                         gg_buf *rows, gg_judged *out, gg_error *error);

#endif
