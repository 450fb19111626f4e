/* The baselines: which word they pick, against a slow reference, and how they reply. */
#include "policy/solver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"
#include "word_play.h"

#define GUESSES 6

/* Lists small enough for a slow reference: every `step`-th shipped word. */
typedef struct lists {
    gg_words *words;
    char *answers_path, *allowed_path;
} lists;

static void open_lists(lists *l, size_t step)
{
    gg_words *all;
    assert_int_equal(gg_words_load(NULL, NULL, 5, &all, NULL), GG_OK);
    size_t room = gg_words_allowed_count(all), answers = 0, allowed = 0;
    const char **list = calloc(room, sizeof *list);
    assert_non_null(list);
    for (size_t a = 0; a < gg_words_answer_count(all); a += step)
        list[answers++] = gg_words_answer(all, a);
    l->answers_path = word_list_file(list, answers);
    allowed = answers;
    for (size_t g = 0; g < gg_words_allowed_count(all); g += step)
        if (gg_words_find_answer(all, gg_words_allowed(all, g)) < 0)
            list[allowed++] = gg_words_allowed(all, g);
    l->allowed_path = word_list_file(list, allowed);
    assert_non_null(l->answers_path);
    assert_non_null(l->allowed_path);
    gg_error error = {0};
    if (gg_words_load(l->answers_path, l->allowed_path, 5, &l->words, &error) != GG_OK)
        fail_msg("%s", error.text);
    free(list);
    gg_words_free(all);
}

static void close_lists(lists *l)
{
    gg_words_free(l->words);
    remove(l->answers_path);
    remove(l->allowed_path);
    free(l->answers_path);
    free(l->allowed_path);
}

/* A game so far. */
typedef struct history {
    const char *guesses[GUESSES];
    gg_marks marks[GUESSES];
    int count;
    gg_board board;
} history;

static void history_init(history *h, int length)
{
    memset(h, 0, sizeof *h);
    gg_board_init(&h->board, length);
}

static void history_add(history *h, const char *guess, const char *hidden)
{
    h->guesses[h->count] = guess;
    h->marks[h->count++] = gg_mark(guess, hidden, h->board.length);
    board_learn(&h->board, guess, hidden);
}

static bool possible(const history *h, const char *word)
{
    for (int g = 0; g < h->count; g++)
        if (gg_mark(h->guesses[g], word, h->board.length) != h->marks[g])
            return false;
    return true;
}

/* How bad a split is, by the definitions: sizes of the groups of equal marks. */
static double badness(gg_baseline kind, const int *size, int patterns, int total)
{
    double entropy = 0, groups = 0, expected = 0, largest = 0;
    for (int m = 0; m < patterns; m++) {
        if (size[m] == 0)
            continue;
        double p = (double)size[m] / total;
        entropy -= p * log2(p);
        groups++;
        expected += p * size[m];
        largest = size[m] > largest ? size[m] : largest;
    }
    const double value[] = {[GG_BASELINE_ENTROPY] = -entropy,
                            [GG_BASELINE_BUCKETS] = -groups,
                            [GG_BASELINE_EXPECTED] = expected,
                            [GG_BASELINE_MINIMAX] = largest};
    return value[kind];
}

/* The slow way: filter by marks, split by marks, compare as real numbers. */
static const char *reference_pick(const gg_words *words, gg_baseline kind, const history *h)
{
    const char *left[4096], *best = NULL;
    int count = 0;
    double best_bad = INFINITY;
    bool best_possible = false;
    for (size_t a = 0; a < gg_words_answer_count(words); a++)
        if (possible(h, gg_words_answer(words, a)))
            left[count++] = gg_words_answer(words, a);
    assert_true(count > 0);
    if (count <= 2)
        return left[0];
    for (size_t g = 0; g < gg_words_allowed_count(words); g++) {
        const char *word = gg_words_allowed(words, g);
        int size[243] = {0};
        for (int i = 0; i < count; i++)
            size[gg_mark(word, left[i], 5)]++;
        double bad = badness(kind, size, 243, count);
        bool now = gg_words_find_answer(words, word) >= 0 && possible(h, word);
        if (bad < best_bad - 1e-9 || (bad < best_bad + 1e-9 && now && !best_possible)) {
            best_bad = bad;
            best_possible = now;
            best = word;
        }
    }
    return best;
}

/* Plays every answer by both; equal words, equal averages. */
static void check_against_reference(const gg_words *words, gg_baseline kind)
{
    gg_solver *solver;
    int solved = 0, guesses = 0;
    assert_int_equal(gg_solver_new(words, kind, &solver, NULL), GG_OK);
    const char *opening = NULL;
    for (size_t a = 0; a < gg_words_answer_count(words); a++) {
        const char *hidden = gg_words_answer(words, a), *word = NULL;
        history h;
        history_init(&h, 5);
        while (h.count < GUESSES && (!word || strcmp(word, hidden) != 0)) {
            assert_int_equal(gg_solver_pick(solver, &h.board, 1, &word, NULL), GG_OK);
            const char *slow = h.count == 0 && opening ? opening : reference_pick(words, kind, &h);
            opening = h.count == 0 ? slow : opening;
            if (strcmp(word, slow) != 0)
                fail_msg("kind %d, hidden %s, guess %d: %s, reference %s", (int)kind, hidden,
                         h.count + 1, word, slow);
            history_add(&h, word, hidden);
        }
        solved += strcmp(word, hidden) == 0;
        guesses += h.count;
    }
    print_message("kind %d: opening %s, %d of %zu solved, %.4f guesses\n", (int)kind, opening,
                  solved, gg_words_answer_count(words),
                  (double)guesses / (double)gg_words_answer_count(words));
    assert_int_equal(solved, gg_words_answer_count(words));
    gg_solver_free(solver);
}

static void test_greedy_against_reference(void **state)
{
    (void)state;
    lists l;
    open_lists(&l, 40);
    for (gg_baseline kind = GG_BASELINE_ENTROPY; kind <= GG_BASELINE_MINIMAX; kind++)
        check_against_reference(l.words, kind);
    close_lists(&l);
}

/* Worked by hand: five words can be hidden, and two more may be played. */
static void test_by_hand(void **state)
{
    (void)state;
    static const char *const answers[] = {"bat", "cat", "eat", "fat", "hat"};
    /* "bed" tells b, e from the rest (3 groups: bat, eat, {cat fat hat}); "chf" tells c, h, f from
     * {bat eat} (4 groups); an answer tells itself from the rest (2 groups). */
    static const char *const allowed[] = {"bat", "cat", "eat", "fat", "hat", "bed", "chf"};
    static const struct {
        gg_baseline kind;
        const char *opening;
    } cases[] = {
        {GG_BASELINE_ENTROPY, "chf"},
        {GG_BASELINE_BUCKETS, "chf"},
        {GG_BASELINE_EXPECTED, "chf"},
        {GG_BASELINE_MINIMAX, "chf"},
    };
    gg_words *words;
    char *a = word_list_file(answers, 5), *g = word_list_file(allowed, 7);
    assert_int_equal(gg_words_load(a, g, 3, &words, NULL), GG_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gg_solver *solver;
        history h;
        const char *word;
        history_init(&h, 3);
        assert_int_equal(gg_solver_new(words, cases[i].kind, &solver, NULL), GG_OK);
        assert_int_equal(gg_solver_pick(solver, &h.board, 0, &word, NULL), GG_OK);
        assert_string_equal(word, cases[i].opening);
        history_add(&h, word, "eat"); /* bat and eat are left: the first of them */
        assert_int_equal(gg_solver_pick(solver, &h.board, 0, &word, NULL), GG_OK);
        assert_string_equal(word, "bat");
        history_add(&h, word, "eat");
        assert_int_equal(gg_solver_pick(solver, &h.board, 0, &word, NULL), GG_OK);
        assert_string_equal(word, "eat");
        gg_solver_free(solver);
    }
    gg_words_free(words);
    remove(a);
    remove(g);
    free(a);
    free(g);
}

/* Two words split the answers alike: the one that can itself be hidden wins, wherever it stands;
 * else the first in the file. */
static void test_ties(void **state)
{
    (void)state;
    static const char *const answers[] = {"abc", "abd", "abe"};
    static const struct {
        const char *allowed[5], *opening;
    } cases[] = {
        {{"abc", "abd", "abe", "xxc", "xxd"}, "abc"},
        {{"xxc", "xxd", "abe", "abd", "abc"}, "abe"}, /* possible, and before abd and abc */
        {{"xde", "edx", "abc", "abd", "abe"}, "xde"}, /* splits all three, first of its like */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gg_words *words;
        gg_solver *solver;
        gg_board board;
        const char *word;
        char *a = word_list_file(answers, 3), *g = word_list_file(cases[i].allowed, 5);
        assert_int_equal(gg_words_load(a, g, 3, &words, NULL), GG_OK);
        assert_int_equal(gg_solver_new(words, GG_BASELINE_ENTROPY, &solver, NULL), GG_OK);
        gg_board_init(&board, 3);
        assert_int_equal(gg_solver_pick(solver, &board, 0, &word, NULL), GG_OK);
        assert_string_equal(word, cases[i].opening);
        gg_solver_free(solver);
        gg_words_free(words);
        remove(a);
        remove(g);
        free(a);
        free(g);
    }
}

static void test_random_and_consistent(void **state)
{
    (void)state;
    lists l;
    gg_solver *any, *consistent;
    history h;
    const char *word, *again;
    size_t seen = 0, left = 0;
    open_lists(&l, 10);
    assert_int_equal(gg_solver_new(l.words, GG_BASELINE_RANDOM, &any, NULL), GG_OK);
    assert_int_equal(gg_solver_new(l.words, GG_BASELINE_CONSISTENT, &consistent, NULL), GG_OK);
    history_init(&h, 5);
    history_add(&h, gg_words_answer(l.words, 3), gg_words_answer(l.words, 90));
    for (size_t a = 0; a < gg_words_answer_count(l.words); a++)
        left += possible(&h, gg_words_answer(l.words, a));
    bool *hit = calloc(gg_words_answer_count(l.words), sizeof *hit);
    for (uint64_t seed = 0; seed < 2000; seed++) {
        gg_solver_pick(any, &h.board, seed, &word, NULL);
        assert_true(gg_words_find_allowed(l.words, word) >= 0);
        gg_solver_pick(consistent, &h.board, seed, &word, NULL);
        gg_solver_pick(consistent, &h.board, seed, &again, NULL);
        assert_ptr_equal(word, again);
        assert_true(possible(&h, word));
        seen += !hit[gg_words_find_answer(l.words, word)];
        hit[gg_words_find_answer(l.words, word)] = true;
    }
    assert_true(left > 1);
    assert_int_equal(seen, left); /* 2000 draws reach them all */
    free(hit);
    gg_solver_free(any);
    gg_solver_free(consistent);
    close_lists(&l);
}

/* No answer fits: a listed word that does, else the first answer. */
static void test_hidden_word_outside_the_answers(void **state)
{
    (void)state;
    static const char *const answers[] = {"bat", "cat"};
    static const char *const allowed[] = {"bat", "cat", "dog", "fig"};
    gg_words *words;
    char *a = word_list_file(answers, 2), *g = word_list_file(allowed, 4);
    assert_int_equal(gg_words_load(a, g, 3, &words, NULL), GG_OK);
    for (gg_baseline kind = GG_BASELINE_CONSISTENT; kind <= GG_BASELINE_MINIMAX; kind++) {
        gg_solver *solver;
        history h;
        const char *word;
        assert_int_equal(gg_solver_new(words, kind, &solver, NULL), GG_OK);
        history_init(&h, 3);
        history_add(&h, "bat", "fig");
        history_add(&h, "dog", "fig");
        gg_solver_pick(solver, &h.board, 0, &word, NULL);
        assert_string_equal(word, "fig");
        history_add(&h, "fig", "xyz");
        gg_solver_pick(solver, &h.board, 0, &word, NULL);
        assert_string_equal(word, "bat");
        gg_solver_free(solver);
    }
    gg_words_free(words);
    remove(a);
    remove(g);
    free(a);
    free(g);
}

typedef struct racer {
    gg_solver *solver;
    const gg_words *words;
    size_t first;
    const char *picks[64];
} racer;

static void *race(void *context)
{
    racer *r = context;
    for (size_t i = 0; i < 64; i++) {
        size_t hidden = (r->first + i) % 64;
        history h;
        history_init(&h, 5);
        history_add(&h, gg_words_answer(r->words, 5), gg_words_answer(r->words, hidden));
        gg_solver_pick(r->solver, &h.board, 0, &r->picks[hidden], NULL);
    }
    return NULL;
}

/* Threads that start at different words and share the cache find the same words. */
static void test_threads_share_a_solver(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    lists l;
    racer racers[THREADS];
    pthread_t threads[THREADS];
    open_lists(&l, 35); /* at least 64 answers */
    gg_solver *solver;
    assert_int_equal(gg_solver_new(l.words, GG_BASELINE_ENTROPY, &solver, NULL), GG_OK);
    for (size_t t = 0; t < THREADS; t++) {
        racers[t] = (racer){.solver = solver, .words = l.words, .first = t * 16};
        assert_int_equal(pthread_create(&threads[t], NULL, race, &racers[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    for (size_t t = 1; t < THREADS; t++)
        for (size_t i = 0; i < 64; i++)
            assert_string_equal(racers[0].picks[i], racers[t].picks[i]);
    gg_solver_free(solver);
    close_lists(&l);
}

/* Through the policy: a real game, with ids and without log-probabilities, at low effort. */
static void test_replies(void **state)
{
    (void)state;
    gg_game *game;
    lists l;
    char settings[512];
    gg_error error = {0};
    open_lists(&l, 40);
    snprintf(settings, sizeof settings, "{\"answers\":\"%s\",\"allowed\":\"%s\"}", l.answers_path,
             l.allowed_path);
    if (gg_game_open("guess", settings, &game, &error) != GG_OK)
        fail_msg("%s", error.text);
    static const char *const players[] = {"random",   "consistent", "entropy", "buckets",
                                          "expected", "minimax",    NULL};
    for (const char *const *name = players; *name; name++) {
        gg_policy *policy;
        gg_policy_reply reply;
        word_play p;
        double x = 1, out;
        int32_t id = 0;
        gg_policy_reply_init(&reply);
        assert_int_equal(gg_policy_open(*name, settings, &policy, NULL), GG_OK);
        assert_false(gg_policy_trainable(policy));
        assert_int_equal(gg_policy_weight_count(policy), 0);
        assert_int_equal(gg_policy_logprobs(policy, NULL, 0, &id, &id, 1, &x, &out, &error),
                         GG_E_STATE);
        assert_true(word_play_start(&p, game, gg_words_answer(l.words, 7)));
        while (!p.done) {
            gg_policy_request request = word_play_request(&p, GG_EFFORT_HIGH, (uint64_t)p.turns);
            assert_int_equal(gg_policy_reply_to(policy, NULL, 0, &request, &reply, NULL), GG_OK);
            assert_null(reply.logprobs);
            assert_int_equal(reply.count, 11);
            assert_int_equal(reply.reasoning.len, 0);
            assert_string_equal(reply.finish_reason, "tool_calls");
            assert_true(word_play_answer(&p, &reply, true));
        }
        assert_true(p.solved || strcmp(*name, "random") == 0 || strcmp(*name, "consistent") == 0);
        word_play_end(&p);
        gg_policy_reply_free(&reply);
        gg_policy_close(policy);
    }
    gg_game_close(game);
    close_lists(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greedy_against_reference),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_random_and_consistent),
        cmocka_unit_test(test_hidden_word_outside_the_answers),
        cmocka_unit_test(test_threads_share_a_solver),
        cmocka_unit_test(test_replies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
