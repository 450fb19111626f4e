/* Dataset rows: {"id", "prompt", "answer": [{"id", "grade"}...], "kind"} as a JSON string. */
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "env/search/game.h"

#define GRADE_MAX 1000

void gg_question_free(gg_question *question)
{
    gg_buf_free(&question->id);
    gg_buf_free(&question->text);
    gg_buf_free(&question->kind);
    gg_buf_free(&question->ids);
    free(question->grades);
    *question = (gg_question){.judged = 0};
}

static gg_status bad(const gg_question *question, const char *what, gg_error *error)
{
    const char *id = gg_buf_cstr(&question->id);
    return gg_fail(error, GG_E_FORMAT, "question %.80s: %s", *id ? id : "without an id", what);
}

static gg_status read_grade(gg_question *question, const cJSON *item, gg_error *error)
{
    const char *id = gg_json_text(item, "id");
    int64_t grade;
    if (!id || !*id || strlen(id) > GG_DOCUMENT_ID_MAX || !gg_json_int(item, "grade", &grade) ||
        grade > GRADE_MAX || grade < -GRADE_MAX)
        return bad(question, "its answer holds something that is no {\"id\", \"grade\"}", error);
    gg_buf_add(&question->ids, id, strlen(id) + 1);
    question->grades[question->judged++] = (int)grade;
    return gg_buf_status(&question->ids, "a question's judgments", error);
}

static gg_status read_answer(gg_question *question, const cJSON *answer, gg_error *error)
{
    int count = cJSON_IsArray(answer) ? cJSON_GetArraySize(answer) : 0;
    const cJSON *item;
    gg_status status = GG_OK;
    if (count < 1 || count > GG_JUDGED_MAX)
        return bad(question, "`answer` has to be a list of 1 to 4096 judged documents", error);
    question->grades = calloc((size_t)count, sizeof *question->grades);
    if (!question->grades)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading a question");
    cJSON_ArrayForEach(item, answer)
    {
        if (status == GG_OK)
            status = read_grade(question, item, error);
    }
    return status;
}

static gg_status read_row(const cJSON *row, gg_question *question, gg_error *error)
{
    const char *id = gg_json_text(row, "id"), *text = gg_json_text(row, "prompt"),
               *kind = gg_json_text(row, "kind");
    gg_buf_str(&question->id, id ? id : "");
    gg_buf_str(&question->text, text ? text : "");
    gg_buf_str(&question->kind, kind ? kind : "");
    if (question->id.status == GG_E_MEMORY || question->text.status == GG_E_MEMORY ||
        question->kind.status == GG_E_MEMORY)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading a question");
    if (question->kind.status != GG_OK)
        return bad(question, "its `kind` has more than 256 bytes", error);
    if (!id || !*id || question->id.status != GG_OK)
        return bad(question, "it needs an `id` of at most 256 bytes", error);
    if (!text || !*text || question->text.status != GG_OK)
        return bad(question, "it needs a `prompt` of at most 64 KiB", error);
    return read_answer(question, gg_json_get(row, "answer"), error);
}

gg_status gg_question_read(const char *prompt, gg_question *out, gg_error *error)
{
    cJSON *row = NULL;
    *out = (gg_question){.judged = 0};
    gg_buf_init(&out->id, GG_DOCUMENT_ID_MAX);
    gg_buf_init(&out->text, GG_QUESTION_MAX);
    gg_buf_init(&out->kind, GG_DOCUMENT_ID_MAX);
    gg_buf_init(&out->ids, GG_JUDGED_MAX * (GG_DOCUMENT_ID_MAX + 1));
    gg_status status = gg_json_parse(prompt, strlen(prompt), &row, error);
    if (status == GG_E_FORMAT)
        status = gg_fail(error, GG_E_FORMAT,
                         "a question is a JSON object with id, prompt and answer (guessgym index "
                         "makes them from judgments); this is none: %.60s",
                         prompt);
    if (status == GG_OK)
        status = read_row(row, out, error);
    cJSON_Delete(row);
    if (status != GG_OK)
        gg_question_free(out);
    return status;
}

int gg_question_grade(const gg_question *question, const char *id)
{
    const char *at = question->ids.len ? question->ids.data : "";
    for (size_t i = 0; i < question->judged; i++, at += strlen(at) + 1)
        if (strcmp(at, id) == 0)
            return question->grades[i];
    return 0;
}
