/* nDCG (env/search/ndcg.h): rows worked out by hand, and properties of random rankings. The
 * comparison with trec_eval's own code is tests/e2e/ndcg.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "env/search/ndcg.h"

#define MOST        12
#define LINE_GRADES 2000

typedef struct row {
    const char *name;
    int ranked[MOST];
    size_t ranked_count;
    int judged[MOST];
    size_t judged_count;
    size_t cut;
    double value; /* by hand; log2(3) = 1.584962500721156, log2(5) = 2.321928094887362 */
} row;

static const row rows[] = {
    {"the best order is 1", {2, 1, 0}, 3, {2, 1, 0}, 3, 10, 1},
    /* (1/1 + 2/log2 3) / (2/1 + 1/log2 3) */
    {"two in the wrong order", {1, 2}, 2, {2, 1}, 2, 10, 0.859718699852198},
    /* 1/log2 3 */
    {"the one relevant document at rank 2", {0, 1}, 2, {1}, 1, 10, 0.630929753571457},
    /* 1 / (1 + 1/log2 3 + 1/2) */
    {"one of three found", {1}, 1, {1, 1, 1}, 3, 10, 0.469278726022756},
    {"what stands below the cut does not count", {0, 0, 1}, 3, {1}, 1, 2, 0},
    /* (2/log2 3) / (2 + 1/log2 3): the ideal is cut as well */
    {"the ideal is over all judged, cut alike", {0, 2}, 2, {1, 2, 1, 1}, 4, 2, 0.479624933136263},
    {"nothing ranked", {0}, 0, {1}, 1, 10, 0},
    {"nothing judged", {0, 0}, 2, {0}, 0, 10, 0},
    {"only zeros judged", {0}, 1, {0, 0}, 2, 10, 0},
    /* the document of grade -1 gains nothing and takes a rank: 1/log2 3 */
    {"a negative grade gains nothing", {-1, 1}, 2, {-1, 1}, 2, 10, 0.630929753571457},
    /* (3/log2 5) / 3: linear gain, not 2^grade - 1 */
    {"gain is the grade", {0, 0, 0, 3}, 4, {3}, 1, 10, 0.430676558073393},
    {"a cut of 0 is no cut", {1}, 1, {1}, 1, 0, 0},
};

static void rows_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        double value = gg_ndcg(r->ranked, r->ranked_count, r->judged, r->judged_count, r->cut);
        if (!(value > r->value - 1e-9 && value < r->value + 1e-9))
            fail_msg("%s: %.12f, not %.12f", r->name, value, r->value);
    }
}

/* Any order of all judged documents lies between 0 and 1, and swapping a better document upwards
 * never makes it worse. */
static void random_orders(void **state)
{
    (void)state;
    gg_rng rng;
    const uint64_t seed = 7;
    gg_rng_seed(&rng, seed);
    for (int round = 0; round < 2000; round++) {
        int judged[MOST], ranked[MOST];
        size_t count = 2 + (size_t)gg_rng_below(&rng, MOST - 1);
        size_t cut = 1 + (size_t)gg_rng_below(&rng, MOST);
        for (size_t i = 0; i < count; i++)
            judged[i] = ranked[i] = (int)gg_rng_below(&rng, 4);
        size_t a = (size_t)gg_rng_below(&rng, count), b = (size_t)gg_rng_below(&rng, count);
        if (a > b) {
            size_t c = a;
            a = b;
            b = c;
        }
        double before = gg_ndcg(ranked, count, judged, count, cut);
        int grade = ranked[a];
        ranked[a] = ranked[b];
        ranked[b] = grade;
        double after = gg_ndcg(ranked, count, judged, count, cut);
        bool up = ranked[a] >= ranked[b];
        if (before < 0 || before > 1 + 1e-12 || (up ? after < before - 1e-12 : after > before))
            fail_msg("seed %llu, round %d: %.12f, then %.12f", (unsigned long long)seed, round,
                     before, after);
    }
}

/* Grades up to the end of the line or to '|'; returns how many. */
static size_t read_grades(char **at, int *out)
{
    size_t count = 0;
    for (char *end; count < LINE_GRADES; *at = end) {
        long grade = strtol(*at, &end, 10);
        if (end == *at)
            break;
        out[count++] = (int)grade;
    }
    *at += strcspn(*at, "|");
    *at += **at == '|';
    return count;
}

/* For the comparison with trec_eval: lines `cut | grades ranked | grades judged`. */
static int answer_lines(void)
{
    static char line[1 << 16];
    static int ranked[LINE_GRADES], judged[LINE_GRADES], cut[LINE_GRADES];
    while (fgets(line, sizeof line, stdin)) {
        char *at = line;
        read_grades(&at, cut);
        size_t ranked_count = read_grades(&at, ranked), judged_count = read_grades(&at, judged);
        printf("%.17g\n", gg_ndcg(ranked, ranked_count, judged, judged_count, (size_t)cut[0]));
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--lines") == 0)
        return answer_lines();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_by_hand),
        cmocka_unit_test(random_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
