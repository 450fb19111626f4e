/* Word lists and splits (env/guess/guess.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/file.h"
#include "core/json.h"
#include "env/guess/guess.h"
#include "tests/alloc.h"

static char folder[] = "/tmp/gg-words-XXXXXX";
static char answers_path[64], allowed_path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    snprintf(answers_path, sizeof answers_path, "%s/answers.txt", folder);
    snprintf(allowed_path, sizeof allowed_path, "%s/allowed.txt", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(answers_path);
    unlink(allowed_path);
    return rmdir(folder);
}

static void write_text(const char *path, const char *text, size_t len)
{
    gg_error error = {0};
    if (gg_file_write(path, text, len, &error) != GG_OK)
        fail_msg("%s", error.text);
}

static gg_status load(const char *answers, const char *allowed, int length, gg_words **out,
                      gg_error *error)
{
    write_text(answers_path, answers, strlen(answers));
    write_text(allowed_path, allowed, strlen(allowed));
    return gg_words_load(answers_path, allowed_path, length, out, error);
}

static void good_lists(void **state)
{
    (void)state;
    gg_words *words = NULL;
    gg_error error = {0};
    /* Not sorted, and without a line end at the end. */
    if (load("crane\nabide", "zebra\nabide\nspeed\ncrane", 5, &words, &error) != GG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(gg_words_length(words), 5);
    assert_int_equal(gg_words_answer_count(words), 2);
    assert_int_equal(gg_words_allowed_count(words), 4);
    assert_string_equal(gg_words_answer(words, 0), "crane");
    assert_string_equal(gg_words_allowed(words, 3), "crane");
    assert_int_equal(gg_words_find_answer(words, "abide"), 1);
    assert_int_equal(gg_words_find_answer(words, "speed"), -1);
    assert_int_equal(gg_words_find_allowed(words, "speed"), 2);
    assert_int_equal(gg_words_find_allowed(words, "spree"), -1);
    assert_int_equal(gg_words_find_allowed(words, "SPEED"), -1);
    assert_int_equal(gg_words_find_allowed(words, "spe"), -1);
    assert_int_equal(strlen(gg_words_digest(words)), 64);
    gg_words_free(words);
    gg_words_free(NULL);
}

static void digest_tells_lists_apart(void **state)
{
    static const char *const pairs[][2] = {
        {"abc\n", "abc\nabd\n"}, {"abc\nabd\n", "abc\nabd\n"}, {"abd\n", "abc\nabd\n"},
        {"abc\n", "abd\nabc\n"}, {"abc\n", "abc\nabd\nabe\n"},
    };
    char digests[5][65];
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        gg_words *words = NULL;
        gg_error error = {0};
        assert_int_equal(load(pairs[i][0], pairs[i][1], 3, &words, &error), GG_OK);
        memcpy(digests[i], gg_words_digest(words), 65);
        gg_words_free(words);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(digests[i], digests[j]);
    }
}

static void bad_lists(void **state)
{
    static const struct {
        const char *answers, *allowed;
        int length;
        const char *want[3]; /* all of them stand in the sentence */
        const char *why;
    } rows[] = {
        {"", "crane\n", 5, {"answers.txt", "no words"}, "empty answers"},
        {"crane\n", "", 5, {"allowed.txt", "no words"}, "empty allowed"},
        {"crane\n\nspeed\n", "crane\n", 5, {"answers.txt line 2", "empty"}, "an empty line"},
        {"crane\n\n", "crane\n", 5, {"answers.txt line 2", "empty"}, "an empty last line"},
        {"crane\nspree\ncrane\n",
         "crane\nspree\n",
         5,
         {"answers.txt line 3", "\"crane\"", "line 1"},
         "a duplicate among answers"},
        {"crane\n",
         "crane\nspree\nspree\n",
         5,
         {"allowed.txt line 3", "\"spree\"", "line 2"},
         "a duplicate among allowed"},
        {"crane\ncrate s\n", "crane\n", 5, {"answers.txt line 2", "not a letter"}, "a space"},
        {"crane\ncranes\n",
         "crane\n",
         5,
         {"answers.txt line 2: \"cranes\"", "6 letters", "5"},
         "too long"},
        {"crane\ncran\n", "crane\n", 5, {"answers.txt line 2: \"cran\"", "4 letters"}, "too short"},
        {"crane\n", "crane\nna\xc3\xafve\n", 5, {"allowed.txt line 2", "not ASCII"}, "an accent"},
        {"\xef\xbb\xbf"
         "crane\n",
         "crane\n",
         5,
         {"answers.txt line 1", "not ASCII"},
         "a byte order mark"},
        {"crane\r\nspeed\r\n",
         "crane\n",
         5,
         {"answers.txt line 1: \"crane\"", "CR LF"},
         "line ends of Windows"},
        {"crane\nSpeed\n",
         "crane\n",
         5,
         {"answers.txt line 2: \"Speed\"", "capital"},
         "a capital letter"},
        {"crane\nspeed\n",
         "crane\nabide\n",
         5,
         {"answers.txt line 2", "\"speed\" is missing from the allowed words", "allowed.txt"},
         "reactle 465: an answer that nobody may guess"},
        {"crane\nspeed\nabide\n",
         "speed\n",
         5,
         {"swapped", "answers.txt", "allowed.txt"},
         "the lists the wrong way round"},
        {"crane\n", "crane\n", 2, {"3 to 12"}, "a length below the least"},
        {"crane\n", "crane\n", 13, {"3 to 12"}, "a length above the most"},
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        gg_words *words = (gg_words *)1;
        gg_error error = {0};
        if (load(rows[r].answers, rows[r].allowed, rows[r].length, &words, &error) != GG_E_CONFIG)
            fail_msg("%s: not refused (%s)", rows[r].why, error.text);
        assert_null(words);
        for (size_t i = 0; i < 3 && rows[r].want[i]; i++)
            if (!strstr(error.text, rows[r].want[i]))
                fail_msg("%s: no \"%s\" in \"%s\"", rows[r].why, rows[r].want[i], error.text);
    }
}

static void missing_file_is_named(void **state)
{
    (void)state;
    gg_words *words = NULL;
    gg_error error = {0};
    assert_int_not_equal(gg_words_load("/nonexistent/a.txt", NULL, 5, &words, &error), GG_OK);
    assert_non_null(strstr(error.text, "/nonexistent/a.txt"));
    assert_int_equal(gg_words_load(NULL, NULL, 6, &words, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "6 letters"));
}

/* A line of control characters must not reach the terminal, and a NUL is a character. */
static void hostile_line_is_shown_safely(void **state)
{
    static const char bytes[] = "crane\nab\x1b[2Jc\n", zero[] = "crane\nab\0de\n";
    (void)state;
    gg_words *words = NULL;
    gg_error error = {0};
    write_text(answers_path, bytes, sizeof bytes - 1);
    assert_int_equal(gg_words_load(answers_path, NULL, 5, &words, &error), GG_E_CONFIG);
    assert_null(strchr(error.text, '\x1b'));
    write_text(answers_path, zero, sizeof zero - 1);
    assert_int_equal(gg_words_load(answers_path, NULL, 5, &words, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "line 2"));
}

static gg_status load_once(void *context)
{
    gg_words *words = NULL;
    gg_error error = {0};
    (void)context;
    gg_status status = gg_words_load(answers_path, allowed_path, 5, &words, &error);
    gg_words_free(words);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    write_text(answers_path, "crane\nspeed\n", 12);
    write_text(allowed_path, "crane\nspeed\nabide\n", 18);
    assert_true(alloc_each_fails(load_once, NULL) > 3);
}

/* Splits. */

static void draw(const gg_words *words, uint64_t seed, gg_split splits[3])
{
    static const char *const names[] = {"train", "val", "test"};
    static const size_t counts[] = {640, 128, 256};
    gg_error error = {0};
    for (size_t i = 0; i < 3; i++)
        splits[i] = (gg_split){.name = names[i], .count = counts[i]};
    if (gg_words_split(words, seed, splits, 3, &error) != GG_OK)
        fail_msg("%s", error.text);
}

/* Counts the rows and marks their answers, which must be new. */
static size_t take_rows(const gg_words *words, const gg_buf *rows, bool *taken)
{
    size_t count = 0;
    const char *end = rows->data + rows->len;
    for (const char *p = rows->data, *stop; p < end; p = stop + 1, count++) {
        cJSON *row, *prompt;
        gg_error error = {0};
        stop = memchr(p, '\n', (size_t)(end - p));
        assert_non_null(stop);
        assert_int_equal(gg_json_parse(p, (size_t)(stop - p), &row, &error), GG_OK);
        const char *inner = gg_json_text(row, "prompt");
        assert_non_null(inner);
        assert_int_equal(gg_json_parse(inner, strlen(inner), &prompt, &error), GG_OK);
        assert_string_equal(gg_json_text(prompt, "prompt"), "Guess the 5-letter word");
        assert_non_null(gg_json_text(prompt, "id"));
        int answer = gg_words_find_answer(words, gg_json_text(prompt, "answer"));
        assert_true(answer >= 0);
        assert_false(taken[answer]);
        taken[answer] = true;
        cJSON_Delete(prompt);
        cJSON_Delete(row);
    }
    return count;
}

static void splits_are_disjoint_and_repeatable(void **state)
{
    (void)state;
    gg_words *words = NULL;
    gg_error error = {0};
    gg_split first[3], again[3], other[3];
    assert_int_equal(gg_words_load(NULL, NULL, 5, &words, &error), GG_OK);
    bool *taken = calloc(gg_words_answer_count(words), sizeof *taken);
    assert_non_null(taken);
    draw(words, 42, first);
    draw(words, 42, again);
    draw(words, 43, other);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(take_rows(words, &first[i].rows, taken), first[i].count);
        assert_string_equal(first[i].rows.data, again[i].rows.data);
        assert_string_equal(first[i].identity, again[i].identity);
        assert_string_not_equal(first[i].identity, other[i].identity);
    }
    gg_splits_free(first, 3);
    gg_splits_free(again, 3);
    gg_splits_free(other, 3);
    free(taken);
    gg_words_free(words);
}

/* What `words split` writes with seed 42 is what ships. */
static void shipped_splits_are_seed_42(void **state)
{
    (void)state;
    gg_words *words = NULL;
    gg_error error = {0};
    gg_split splits[3];
    assert_int_equal(gg_words_load(NULL, NULL, 5, &words, &error), GG_OK);
    draw(words, 42, splits);
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        gg_buf path, shipped;
        gg_buf_init(&path, 4096);
        gg_buf_init(&shipped, 1 << 20);
        snprintf(name, sizeof name, "wordlists/splits/%s.jsonl", splits[i].name);
        assert_int_equal(gg_data_path(name, &path, &error), GG_OK);
        assert_int_equal(gg_file_read(path.data, &shipped, &error), GG_OK);
        assert_string_equal(shipped.data, splits[i].rows.data);
        gg_buf_free(&path);
        gg_buf_free(&shipped);
    }
    gg_splits_free(splits, 3);
    gg_words_free(words);
}

static void too_large_splits_are_refused(void **state)
{
    (void)state;
    gg_words *words = NULL;
    gg_error error = {0};
    gg_split splits[] = {{.name = "train", .count = 2}, {.name = "val", .count = SIZE_MAX}};
    gg_split none[] = {{.name = "train"}};
    assert_int_equal(load("crane\nspeed\nabide\n", "crane\nspeed\nabide\n", 5, &words, &error),
                     GG_OK);
    assert_int_equal(gg_words_split(words, 1, splits, 2, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "\"val\""));
    assert_int_equal(gg_words_split(words, 1, none, 1, &error), GG_E_CONFIG);
    gg_words_free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_lists),
        cmocka_unit_test(digest_tells_lists_apart),
        cmocka_unit_test(bad_lists),
        cmocka_unit_test(missing_file_is_named),
        cmocka_unit_test(hostile_line_is_shown_safely),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(splits_are_disjoint_and_repeatable),
        cmocka_unit_test(shipped_splits_are_seed_42),
        cmocka_unit_test(too_large_splits_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
