/* Edit distance and near misses (core/near.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/near.h"

/* The textbook recursion, exponential but obviously right. */
static size_t slow(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 || m == 0)
        return n + m;
    size_t best = slow(a, n - 1, b, m) + 1;
    size_t other = slow(a, n, b, m - 1) + 1;
    if (other < best)
        best = other;
    other = slow(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
    if (other < best)
        best = other;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        other = slow(a, n - 2, b, m - 2) + 1;
        if (other < best)
            best = other;
    }
    return best;
}

static void distance_table(void **state)
{
    static const struct {
        const char *a, *b;
        size_t want;
        const char *why;
    } rows[] = {
        {"", "", 0, "empty"},
        {"", "abc", 3, "insertions"},
        {"abc", "", 3, "deletions"},
        {"kitten", "sitting", 3, "Levenshtein's textbook pair"},
        {"saturday", "sunday", 3, "textbook pair"},
        {"smaples", "samples", 1, "neighbours swapped"},
        {"ca", "abc", 3, "optimal string alignment: no edit between swapped letters"},
        {"eval", "eval", 0, "equal"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (gg_edit_distance(rows[i].a, rows[i].b) != rows[i].want)
            fail_msg("%s: %s, %s gives %zu", rows[i].why, rows[i].a, rows[i].b,
                     gg_edit_distance(rows[i].a, rows[i].b));
}

/* Every pair of strings of up to 4 letters over {a, b, c}. */
static void distance_equals_recursion(void **state)
{
    char words[121][5] = {{0}};
    size_t count = 1;

    (void)state;
    for (size_t from = 0; count < 121; from++)
        for (char c = 'a'; c <= 'c'; c++, count++)
            snprintf(words[count], sizeof words[count], "%s%c", words[from], c);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            assert_int_equal(gg_edit_distance(words[i], words[j]),
                             slow(words[i], strlen(words[i]), words[j], strlen(words[j])));
}

static void long_names_are_never_near(void **state)
{
    char name[GG_NEAR_MAX + 2];
    const char *names[] = {name};

    (void)state;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(gg_edit_distance(name, name), GG_NEAR_MAX + 1);
    assert_null(gg_near_miss(name, names, 1));
}

static void near_miss_table(void **state)
{
    static const char *const names[] = {"eval", "rollout", NULL, "compare", "words", "samples"};
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"evla", "eval"},      {"evaluate", NULL}, {"rolout", "rollout"}, {"comapre", "compare"},
        {"smaple", "samples"}, {"word", "words"},  {"zzz", NULL},         {"", NULL},
        {"e", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = gg_near_miss(rows[i].text, names, sizeof names / sizeof *names);
        if (rows[i].want ? !got || strcmp(got, rows[i].want) != 0 : got != NULL)
            fail_msg("%s gives %s", rows[i].text, got ? got : "nothing");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_table),
        cmocka_unit_test(distance_equals_recursion),
        cmocka_unit_test(long_names_are_never_near),
        cmocka_unit_test(near_miss_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
