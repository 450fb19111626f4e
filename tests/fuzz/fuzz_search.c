/* The search game. The first byte of the input chooses what the rest is: a corpus, questions, a
 * dataset row, a page, a reply in prose, or the arguments of a call on a small index. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "core/json.h"
#include "env/env.h"
#include "env/search/game.h"
#include "env/search/judged.h"

#define TASK                                                                                       \
    "{\"id\":\"q\",\"prompt\":\"what?\",\"answer\":[{\"id\":\"a\",\"grade\":2},{\"id\":\"b c\","   \
    "\"grade\":1}]}"

static const char corpus[] =
    "{\"_id\":\"a\",\"title\":\"Sorting\",\"text\":\"a pivot and its partitions\"}\n"
    "{\"_id\":\"b c\",\"title\":\"x | y\",\"text\":\"caf\xc3\xa9 network | \\n collisions\"}\n"
    "{\"_id\":\"3\",\"title\":null,\"text\":\"a pivot of a network\"}\n";

static gg_status take(void *context, const gg_document *d, size_t number, gg_error *error)
{
    (void)error;
    must(d->id.len > 0 && d->id.len <= GG_DOCUMENT_ID_MAX && d->title.len + d->text.len > 0);
    must(!memchr(d->id.data, '|', d->id.len) && !memchr(d->id.data, '\n', d->id.len));
    must(number == (*(size_t *)context)++);
    return GG_OK;
}

static void check_corpus(const char *path)
{
    gg_corpus c;
    gg_error error = {0};
    size_t seen = 0;
    if (gg_corpus_open(&path, 1, &c, &error) != GG_OK) {
        must(error.text[0]);
        return;
    }
    if (gg_corpus_each(&c, 0, take, &seen, &error) == GG_OK)
        must(seen == c.document_count);
    else
        must(error.text[0]);
    gg_corpus_close(&c);
}

static void check_questions(const char *path)
{
    gg_questions *questions;
    gg_error error = {0};
    if (gg_questions_read(path, &questions, &error) == GG_OK)
        gg_questions_free(questions);
    else
        must(error.text[0]);
}

static void check_row(const char *text)
{
    gg_question question;
    gg_error error = {0};
    if (gg_question_read(text, &question, &error) == GG_OK) {
        must(question.id.len > 0 && question.text.len > 0 && question.judged > 0);
        gg_question_free(&question);
    } else {
        must(error.text[0]);
    }
}

static void check_page(const char *text, size_t len)
{
    gg_page_line line;
    size_t at = 0, last = 0;
    while (gg_page_next(text, len, &at, &line)) {
        must(at > last && at <= len);
        must(line.id.len > 0 && line.id.at >= text && line.title.at > line.id.at);
        must(line.snippet.at + line.snippet.len <= text + len);
        last = at;
    }
}

static gg_game *game(void)
{
    static const char dir[] = "build/fuzz/search-index";
    static gg_game *opened;
    gg_index_built built;
    gg_error error = {0};
    if (opened)
        return opened;
    const char *path = fuzz_file((const uint8_t *)corpus, strlen(corpus));
    const gg_index_plan plan = {.corpus = &path, .corpus_count = 1, .dir = dir};
    must(gg_index_build(&plan, &built, &error) == GG_OK);
    must(gg_game_open("search", "{\"index\":\"build/fuzz/search-index\"}", &opened, &error) ==
         GG_OK);
    return opened;
}

static void check_facts(const gg_result *result)
{
    cJSON *facts;
    must(gg_json_parse(gg_buf_cstr(result->facts), result->facts->len, &facts, NULL) == GG_OK);
    must(cJSON_IsObject(facts));
    cJSON_Delete(facts);
    must(result->done == (result->outcome == GG_SOLVED || result->outcome == GG_LOST));
}

/* What is the input to one tool is so to all; the ranking last, as it may end the play. */
static void check_play(const char *text, bool prose)
{
    static const char *const tools[] = {S_TOOL_WORDS, S_TOOL_VECTORS, S_TOOL_SUBMIT};
    gg_play *play;
    gg_error error = {0};
    gg_buf out, facts;
    gg_result result = {.text = &out, .facts = &facts};
    bool taken;
    gg_buf_init(&out, 1u << 20);
    gg_buf_init(&facts, 1u << 20);
    must(game()->api->start(game()->env, TASK, 1, &play, &error) == GG_OK);
    if (prose) {
        must(game()->api->call(play, S_TOOL_WORDS, "{\"query\":\"pivot network\"}", &result,
                               &error) == GG_OK);
        gg_buf_reset(&out);
        gg_buf_reset(&facts);
        must(game()->api->text(play, text, &taken, &result, &error) == GG_OK);
        must(taken == (out.len > 0) && taken == (facts.len > 0));
        if (taken)
            check_facts(&result);
    }
    for (size_t i = 0; !prose && i < sizeof tools / sizeof *tools; i++) {
        gg_buf_reset(&out);
        gg_buf_reset(&facts);
        must(game()->api->call(play, tools[i], text, &result, &error) == GG_OK);
        must(out.len > 0);
        check_facts(&result);
        check_page(gg_buf_cstr(&out), out.len);
    }
    game()->api->finish(play);
    gg_buf_free(&out);
    gg_buf_free(&facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    (void)game(); /* before the file below is the input's */
    char *text = fuzz_text(data + 1, size - 1);
    switch (data[0]) {
    case 'c':
        check_corpus(fuzz_file(data + 1, size - 1));
        break;
    case 'q':
        check_questions(fuzz_file(data + 1, size - 1));
        break;
    case 'r':
        check_row(text);
        break;
    case 'p':
        check_page(text, size - 1);
        break;
    case 't':
        check_play(text, true);
        break;
    default:
        check_play(text, false);
        break;
    }
    free(text);
    return 0;
}
