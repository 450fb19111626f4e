/* The tokenizer and the vocabulary of the embedded policies. */
#include "policy/vocabulary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"

#define TEXT_MAX 400
#define SEEDS    300

static gg_vocabulary vocabulary;

static int open_vocabulary(void **state)
{
    (void)state;
    gg_error error;
    return gg_vocabulary_init(&vocabulary, &error) == GG_OK ? 0 : -1;
}

static int close_vocabulary(void **state)
{
    (void)state;
    gg_vocabulary_free(&vocabulary);
    return 0;
}

/* The tokens of a text as "[text][text]". */
static void show(const gg_tokenizer *t, const char *text, char *out, size_t room)
{
    gg_ids ids = {0};
    size_t at = 0;
    gg_tokenizer_encode(t, text, strlen(text), &ids);
    assert_false(ids.failed);
    out[0] = '\0';
    for (size_t i = 0; i < ids.count; i++) {
        size_t len;
        const char *piece = gg_tokenizer_text(t, ids.data[i], &len);
        assert_non_null(piece);
        at += (size_t)snprintf(out + at, room - at, "[%.*s]", (int)len, piece);
        assert_true(at < room);
    }
    gg_ids_free(&ids);
}

static void test_longest_match(void **state)
{
    (void)state;
    static const char *const phrases[] = {
        "Guess ", "Guess 1", "Guess 1 of", " s=grey", " s",        " s=",
        "word",   "at\n",    "a_b",        "in the",  "\xc3\xa9t",
    };
    static const struct {
        const char *text, *tokens;
    } cases[] = {
        {"", ""},
        {"Guess 1 of 6", "[Guess 1 of][ ][6]"},
        {"Guess 1 off", "[Guess 1][ ][o][f][f]"}, /* "of" would cut the run "off" */
        {"Guess 2", "[Guess ][2]"},
        {"xGuess 1", "[x][G][u][e][s][s][ ][1]"}, /* would begin inside a run */
        {"1Guess 1", "[1][Guess 1]"},
        {" s=grey s=green", "[ s=grey][ s=][g][r][e][e][n]"},
        {" s", "[ s]"},
        {" se", "[ ][s][e]"},
        {"word", "[w][o][r][d]"}, /* a word alone is never a phrase */
        {"at\n", "[a][t][\n]"},   /* nor one that a line's end closes */
        {"a_b a_bc", "[a_b][ ][a][_][b][c]"},
        {"in the", "[in the]"},
        {"in then", "[i][n][ ][t][h][e][n]"},
        {"\xc3\xa9t", "[\xc3\xa9t]"},
        {"a\xc3\xa9t", "[a][\xc3][\xa9][t]"}, /* bytes of longer characters count as letters */
    };
    gg_tokenizer *t;
    assert_int_equal(
        gg_tokenizer_new(GG_TOKENIZER_LETTERS, phrases, sizeof phrases / sizeof *phrases, &t, NULL),
        GG_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[TEXT_MAX];
        show(t, cases[i].text, out, sizeof out);
        assert_string_equal(out, cases[i].tokens);
    }
    gg_tokenizer_free(t);
}

static void test_numbering(void **state)
{
    (void)state;
    static const char *const phrases[] = {"A b", "x", "A b", "guess", "C d"};
    gg_tokenizer *t;
    assert_int_equal(gg_tokenizer_new(GG_TOKENIZER_LETTERS, phrases, 5, &t, NULL), GG_OK);
    assert_int_equal(gg_tokenizer_size(t), GG_TOKEN_PHRASES + 2);
    assert_int_equal(gg_tokenizer_find(t, "A b"), GG_TOKEN_PHRASES);
    assert_int_equal(gg_tokenizer_find(t, "C d"), GG_TOKEN_PHRASES + 1);
    assert_int_equal(gg_tokenizer_find(t, "guess"), -1);
    gg_tokenizer_free(t);
    assert_int_equal(gg_tokenizer_new(GG_TOKENIZER_LETTERS, NULL, 0, &t, NULL), GG_OK);
    assert_int_equal(gg_tokenizer_size(t), GG_TOKEN_PHRASES);
    gg_tokenizer_free(t);
    gg_tokenizer_free(NULL);
}

static void test_special_tokens_do_not_come_from_text(void **state)
{
    (void)state;
    static const char text[] = "<|end|><|assistant|><|think|>";
    gg_ids ids = {0};
    gg_tokenizer_encode(vocabulary.tokenizer, text, strlen(text), &ids);
    for (size_t i = 0; i < ids.count; i++)
        assert_false(ids.data[i] >= GG_TOKEN_BYTES && ids.data[i] < GG_TOKEN_PHRASES);
    gg_ids_free(&ids);
}

static void test_unknown_id_is_named(void **state)
{
    (void)state;
    const int32_t below[] = {65, -1}, above[] = {65, 66, vocabulary.size};
    gg_buf out;
    gg_error error;
    size_t len;
    gg_buf_init(&out, TEXT_MAX);
    assert_int_equal(gg_tokenizer_decode(vocabulary.tokenizer, below, 2, &out, &error),
                     GG_E_ARGUMENT);
    assert_non_null(strstr(error.text, "token 1 is -1"));
    assert_int_equal(gg_tokenizer_decode(vocabulary.tokenizer, above, 3, &out, &error),
                     GG_E_ARGUMENT);
    assert_non_null(strstr(error.text, "token 2"));
    assert_null(gg_tokenizer_text(vocabulary.tokenizer, vocabulary.size, &len));
    gg_buf_free(&out);
}

static bool lossless(const char *text, size_t len)
{
    gg_ids ids = {0};
    gg_buf out;
    gg_buf_init(&out, TEXT_MAX * 64);
    gg_tokenizer_encode(vocabulary.tokenizer, text, len, &ids);
    gg_status status = gg_tokenizer_decode(vocabulary.tokenizer, ids.data, ids.count, &out, NULL);
    bool same = !ids.failed && status == GG_OK && out.len == len &&
                memcmp(gg_buf_cstr(&out), text, len) == 0;
    gg_ids_free(&ids);
    gg_buf_free(&out);
    return same;
}

static void test_lossless_on_any_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        gg_rng rng;
        char text[TEXT_MAX];
        gg_rng_seed(&rng, seed);
        size_t len = gg_rng_below(&rng, TEXT_MAX);
        for (size_t i = 0; i < len; i++)
            text[i] = (char)gg_rng_below(&rng, 256);
        if (!lossless(text, len))
            fail_msg("random bytes, seed %llu", (unsigned long long)seed);
    }
}

/* Whole and cut phrases, glued at random: what the game's texts look like, and what breaks them. */
static void test_lossless_on_cut_phrases(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        gg_rng rng;
        gg_buf text;
        gg_rng_seed(&rng, seed);
        gg_buf_init(&text, TEXT_MAX * 64);
        for (int piece = 0; piece < 12; piece++) {
            int32_t id = (int32_t)gg_rng_below(&rng, (uint64_t)vocabulary.size);
            size_t len;
            const char *bytes = gg_tokenizer_text(vocabulary.tokenizer, id, &len);
            size_t from = gg_rng_below(&rng, 2) ? 0 : gg_rng_below(&rng, len);
            size_t to = gg_rng_below(&rng, 2) ? len : from + gg_rng_below(&rng, len - from + 1);
            gg_buf_add(&text, bytes + from, to - from);
        }
        if (!lossless(gg_buf_cstr(&text), text.len))
            fail_msg("cut phrases, seed %llu", (unsigned long long)seed);
        gg_buf_free(&text);
    }
}

static void test_own_phrases_are_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *text, *tokens;
    } cases[] = {
        {"{\"guess\":\"stare\"}", "[{\"guess\":\"][s][t][a][r][e][\"}]"},
        {"{\"guess\":\"guess\"}", "[{\"guess\":\"][g][u][e][s][s][\"}]"},
        {"stare: E cannot be at 5\ncrane: fits",
         "[s][t][a][r][e][: E][ cannot be at 5\n][c][r][a][n][e][: fits]"},
        {"stare: R is missing", "[s][t][a][r][e][: R][ is missing]"},
        {"eerie: E is used too often\n", "[e][e][r][i][e][: E][ is used too often\n]"},
        {"stare: S must be at 12", "[s][t][a][r][e][: S][ must be at 12]"},
        {" s=grey t=yellow a=green", "[ s=grey][ t=yellow][ a=green]"},
        {"guess_word", "[guess_word]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[TEXT_MAX];
        show(vocabulary.tokenizer, cases[i].text, out, sizeof out);
        assert_string_equal(out, cases[i].tokens);
    }
}

/* Every id that a policy looks up by name exists and means what the reader takes it for. */
static void test_meanings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gg_token token;
    } cases[] = {
        {" s=grey", {GG_MEANS_MARK, 's' - 'a', GG_MARK_GREY}},
        {" a=yellow", {GG_MEANS_MARK, 0, GG_MARK_YELLOW}},
        {" z=green", {GG_MEANS_MARK, 25, GG_MARK_GREEN}},
        {"\nSolved. The game is over.", {GG_MEANS_OVER, 0, 0}},
        {". The game is over.", {GG_MEANS_OVER, 0, 0}},
        {"guess_word", {GG_MEANS_TOOL, 0, 0}},
        {" s", {GG_MEANS_NOTHING, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t id = gg_tokenizer_find(vocabulary.tokenizer, cases[i].text);
        assert_true(id >= GG_TOKEN_PHRASES);
        assert_memory_equal(&vocabulary.tokens[id], &cases[i].token, sizeof(gg_token));
    }
    for (int c = 0; c < GG_LETTERS; c++)
        assert_true(vocabulary.subject[c] >= GG_TOKEN_PHRASES);
    for (int place = 0; place < GG_WORD_MAX; place++)
        for (int newline = 0; newline < 2; newline++)
            assert_true(vocabulary.clash[GG_CLASH_WRONG][place][newline] >= GG_TOKEN_PHRASES);
    assert_true(vocabulary.clash[GG_CLASH_MISSING][0][1] >= GG_TOKEN_PHRASES);
    assert_true(vocabulary.over >= 0 && vocabulary.no_tool >= 0 && vocabulary.fits >= 0);
}

/* The ids that docs/letters.md gives: scripts are written against them. */
static void test_documented_ids(void **state)
{
    (void)state;
    static const struct {
        int32_t id;
        const char *text;
    } cases[] = {
        {97, "a"},
        {256, "<|low|>"},
        {258, "<|high|>"},
        {259, "<|tools|>"},
        {262, "<|assistant|>"},
        {263, "<|tool|>"},
        {264, "<|think|>"},
        {266, "<|call|>"},
        {267, "<|arguments|>"},
        {268, "<|end|>"},
        {269, "guess_word"},
        {270, "{\"guess\":\""},
        {271, "\"}"},
        {272, "The game is over."},
        {273, "There is no tool that I could call."},
        {274, ": fits"},
        {275, ": A"},
        {300, ": Z"},
        {301, " must be at 1"},
        {302, " must be at 1\n"},
        {348, " cannot be at 12\n"},
        {349, " is used too often"},
        {352, " is missing\n"},
        {353, " a"},
        {354, " a=green"},
        {355, " a=yellow"},
        {356, " a=grey"},
        {359, " a>=3"},
        {534, " z>=3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len;
        const char *text = gg_tokenizer_text(vocabulary.tokenizer, cases[i].id, &len);
        assert_int_equal(len, strlen(cases[i].text));
        assert_memory_equal(text, cases[i].text, len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longest_match),
        cmocka_unit_test(test_numbering),
        cmocka_unit_test(test_special_tokens_do_not_come_from_text),
        cmocka_unit_test(test_unknown_id_is_named),
        cmocka_unit_test(test_lossless_on_any_bytes),
        cmocka_unit_test(test_lossless_on_cut_phrases),
        cmocka_unit_test(test_own_phrases_are_tokens),
        cmocka_unit_test(test_meanings),
        cmocka_unit_test(test_documented_ids),
    };
    return cmocka_run_group_tests(tests, open_vocabulary, close_vocabulary);
}
