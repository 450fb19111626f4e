/* Rewards, measure, parts, labels and the board (env/reward/reward.h, env/guess). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "env/reward/reward.h"
#include "tests/alloc.h"
#include "tests/play.h"

static void assert_near(double got, double want, const char *what)
{
    if (!(fabs(got - want) < 1e-9))
        fail_msg("%s: %.12g, want %.12g", what, got, want);
}

static void play_words(play *p, const char *hidden, const char *const *guesses)
{
    play_start(p, hidden);
    for (; *guesses; guesses++)
        play_guess(p, *guesses);
}

static double score(const play *p, const char *text)
{
    gg_reward *reward = NULL;
    gg_error error = {0};
    if (gg_reward_parse(p->game, text, &reward, &error) != GG_OK ||
        gg_reward_score(reward, p->game, p->episode, &error) != GG_OK)
        fail_msg("%s: %s", text, error.text);
    gg_reward_free(reward);
    return p->episode->reward;
}

/* Worked out by hand from the marks. Hidden word eerie. */
static void parts_by_hand(void **state)
{
    /* crane BYBBG; adore BBBYG; cheek BBYYB; cheek again; qqqqq; then malformed twice. */
    static const char *const guesses[] = {"crane", "adore", "cheek",  "cheek",
                                          "qqqqq", "?",     "longer", NULL};
    static const struct {
        const char *part;
        double want;
    } rows[] = {
        {"solve", 0},
        {"measure", 0},
        {"speed", 0},
        {"moves", 5},
        {"turns", 1},
        {"calls", 7},
        {"invalid", 2},
        {"malformed", 2},
        {"after_end", 0},
        {"repeats", 1},
        {"unlisted", 1},
        {"refused", 0},
        {"no_move", 0},
        {"from_text", 0},
        {"forfeited", 0},
        {"greens", 0.2},       /* crane and adore: 1 of 5 */
        {"yellows", 0.4},      /* cheek: 2 of 5 */
        {"new_greens", 1},     /* e at 5 */
        {"new_yellows", 2},    /* r by crane; a second e by cheek */
        {"new_letters", 10},   /* c r a n e, d o, h k, q */
        {"greens_dropped", 3}, /* cheek, cheek, qqqqq */
        /* cheek leaves r out; again r (its two e's are there); qqqqq leaves r and e out */
        {"yellows_missing", 4},
        {"greys_used", 5}, /* adore: a; cheek: c; cheek again: c, h, k */
        {"hints_ignored", 12},
    };
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    play_words(&p, "eerie", guesses);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(score(&p, rows[i].part), rows[i].want, rows[i].part);
    double narrowed = score(&p, "narrowed");
    assert_true(narrowed > 0 && narrowed < 1);
    play_close(&p);
}

/* Solved with guess n of 6: speed (6 - n) / 5; solve-speed 1 + half of that. */
static void solved_games(void **state)
{
    static const char *const words[] = {"grave", "crave", "shave", "slave", "knave", "brave"};
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    for (size_t n = 1; n <= 6; n++) {
        play_start(&p, "brave");
        for (size_t i = 6 - n; i < 6; i++)
            play_guess(&p, words[i]);
        assert_int_equal(p.episode->outcome, GG_SOLVED);
        assert_near(score(&p, "solve"), 1, "solve");
        assert_near(score(&p, "measure"), 1, "measure");
        assert_near(score(&p, "greens"), 1, "greens");
        assert_near(score(&p, "narrowed"), 1, "narrowed");
        assert_near(score(&p, "speed"), (6.0 - (double)n) / 5, "speed");
        assert_near(score(&p, "solve-speed"), 1 + 0.5 * (6.0 - (double)n) / 5, "solve-speed");
        assert_near(score(&p, "solve=1,speed=0.5,moves=-0.25"),
                    1 + 0.1 * (6.0 - (double)n) - 0.25 * (double)n, "a weighted sum");
    }
    play_close(&p);
}

/* Lost with four greens: no part of a solve, whatever the closeness (axon-rl/gem 38, verifiers
 * 465); solved on the last guess pays more. */
static void a_near_miss_is_no_solve(void **state)
{
    static const char *const guesses[] = {"grave", "crave", "grave", "crave",
                                          "grave", "crave", NULL};
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    play_words(&p, "brave", guesses);
    assert_int_equal(p.episode->outcome, GG_LOST);
    assert_near(score(&p, "solve-speed"), 0, "a loss");
    assert_near(score(&p, "greens"), 0.8, "greens");
    assert_near(score(&p, "repeats"), 4, "repeats");
    play_close(&p);
}

/* Three malformed calls are no solve (cookbook 362). */
static void malformed_turns_pay_nothing(void **state)
{
    static const char *const guesses[] = {"?", "?", "?", NULL};
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    play_words(&p, "brave", guesses);
    p.episode->outcome = GG_FORFEITED;
    assert_near(score(&p, "solve-speed"), 0, "solve-speed");
    assert_near(score(&p, "no_move"), 1, "no_move");
    assert_near(score(&p, "forfeited"), 1, "forfeited");
    assert_near(score(&p, "malformed=-0.5,forfeited=-1"), -2.5, "a weighted sum");
    play_close(&p);
}

static void hard_mode_counts_refusals(void **state)
{
    static const char *const guesses[] = {"crane", "moist", "olive", NULL};
    play p;
    (void)state;
    play_open(&p, "guess", "{\"hard\":true,\"unlisted\":\"reject\"}");
    play_words(&p, "eerie", guesses);
    play_guess(&p, "qqqqq");
    assert_near(score(&p, "refused"), 3, "refused");
    assert_near(score(&p, "unlisted"), 1, "unlisted");
    assert_near(score(&p, "moves"), 1, "moves");
    play_close(&p);
}

static void what_a_reward_may_say(void **state)
{
    static const struct {
        const char *text, *resolved, *error;
    } rows[] = {
        {"solve", "solve=1", NULL},
        {"solve-speed", "solve=1,speed=0.5", NULL},
        {"measure", "measure=1", NULL},
        {"greens", "greens=1", NULL},
        {"solve=1,speed=0.5,greens=0.1,repeats=-0.2", "solve=1,speed=0.5,greens=0.1,repeats=-0.2",
         NULL},
        {" solve = 1 , speed = 5e-1 ", "solve=1,speed=0.5", NULL},
        {"solve,malformed=-.5", "solve=1,malformed=-0.5", NULL},
        {"", NULL, "a name is missing"},
        {"solve=1,", NULL, "a name is missing"},
        {"=1", NULL, "a name is missing"},
        {"solve=", NULL, "\"solve\" must be a number"},
        {"solve=one", NULL, "\"solve\" must be a number"},
        {"solve=1.2.3", NULL, "\"solve\" must be a number, not \"1.2.3\""},
        {"solve=nan", NULL, "must be a number"},
        {"solve=inf", NULL, "must be a number"},
        {"solve=1e999", NULL, "must be a number"},
        {"solve=1=2", NULL, "must be a number"},
        {"solve=1,solve=2", NULL, "\"solve\" is given twice"},
        {"sovle", NULL, "did you mean \"solve\"?"},
        {"solve-sped", NULL, "did you mean \"solve-speed\"?"},
        {"solve=1,greans=2", NULL, "did you mean \"greens\"?"},
        {"relevance", NULL, "guess has solve, measure, moves"},
        {"ndcg", NULL, "is not for guess, which lacks a part"}, /* another game's preset */
    };
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_reward *reward = NULL;
        gg_error error = {0};
        gg_status status = gg_reward_parse(p.game, rows[i].text, &reward, &error);
        if (rows[i].resolved) {
            if (status != GG_OK)
                fail_msg("%s: %s", rows[i].text, error.text);
            assert_string_equal(gg_reward_text(reward), rows[i].resolved);
        } else {
            assert_int_equal(status, GG_E_CONFIG);
            assert_null(reward);
            if (!strstr(error.text, rows[i].error))
                fail_msg("\"%s\": no \"%s\" in \"%s\"", rows[i].text, rows[i].error, error.text);
        }
        gg_reward_free(reward);
    }
    play_close(&p);
}

/* Every part of every table can be asked for. */
static void all_parts_are_known(void **state)
{
    play p;
    const gg_part_info *part;
    size_t count = 0;
    (void)state;
    play_open(&p, "guess", NULL);
    play_start(&p, "brave");
    for (; (part = gg_reward_part(p.game->api, count)); count++) {
        assert_true(strlen(part->help) > 0);
        assert_true(isfinite(score(&p, part->name)));
    }
    assert_true(count > p.game->api->part_count);
    assert_null(gg_reward_part(NULL, count));
    assert_string_equal(gg_reward_preset(0)->name, "solve");
    play_close(&p);
}

static void judging_fills_the_record(void **state)
{
    static const char *const guesses[] = {"?", "crane", "moist", "brave", NULL};
    play p;
    gg_reward *reward = NULL;
    gg_error error = {0};
    (void)state;
    play_open(&p, "guess", NULL);
    play_words(&p, "brave", guesses);
    assert_int_equal(gg_reward_parse(p.game, "solve-speed", &reward, &error), GG_OK);
    for (int again = 0; again < 2; again++) { /* a second time changes nothing */
        assert_int_equal(gg_episode_judge(p.game, reward, p.episode, &error), GG_OK);
        assert_string_equal(p.episode->measure.name, "solved");
        assert_near(p.episode->measure.value, 1, "measure");
        assert_int_equal(p.episode->label_count, 1);
        assert_string_equal(p.episode->labels[0].name, "opening");
        assert_string_equal(p.episode->labels[0].value, "crane");
        assert_int_equal(p.episode->part_count, 2);
        assert_string_equal(p.episode->parts[0].name, "solve");
        assert_near(p.episode->parts[0].value, 1, "solve");
        assert_string_equal(p.episode->parts[1].name, "speed");
        assert_near(p.episode->parts[1].value, 0.6, "speed");
        assert_near(p.episode->reward, 1.3, "reward");
    }
    gg_reward_free(reward);
    gg_reward_free(NULL);
    play_close(&p);
}

/* The agent's own fact. */
static void calls_from_text_are_counted(void **state)
{
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    play_start(&p, "brave");
    play_guess(&p, "crane");
    p.episode->turns[0].calls[0].facts = "{\"guess\":\"crane\",\"from_text\":true}";
    assert_near(score(&p, "from_text"), 1, "from_text");
    play_close(&p);
}

/* A record may come from anywhere: facts that are no facts are worth nothing. */
static void senseless_facts_are_worth_nothing(void **state)
{
    static const char *const facts[] = {
        "",
        "[]",
        "null",
        "{",
        "{\"marks\":5,\"new_greens\":\"x\",\"repeat\":1,\"listed\":null}",
        "{\"marks\":{\"a\":[1]},\"candidates_after\":\"many\",\"guess\":[]}",
        NULL};
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        play_start(&p, "brave");
        play_guess(&p, "crane");
        p.episode->turns[0].calls[0].facts = facts[i];
        assert_near(score(&p, "greens=1,new_greens=1,repeats=1,unlisted=1,narrowed=1"), 0, "parts");
    }
    play_close(&p);
}

static gg_status judge_once(void *context)
{
    play *p = context;
    gg_reward *reward = NULL;
    gg_error error = {0};
    gg_status status = gg_reward_parse(p->game, "solve-speed", &reward, &error);
    if (status == GG_OK)
        status = gg_episode_judge(p->game, reward, p->episode, &error);
    gg_reward_free(reward);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    play_start(&p, "brave");
    play_guess(&p, "crane");
    assert_true(alloc_each_fails(judge_once, &p) > 0);
    play_close(&p);
}

/* The board. */

static void render(play *p, gg_render_style style, gg_buf *out)
{
    gg_error error = {0};
    gg_buf_reset(out);
    if (p->game->api->render(p->game->env, p->episode, style, out, &error) != GG_OK)
        fail_msg("%s", error.text);
}

static void boards(void **state)
{
    play p;
    gg_buf out;
    (void)state;
    gg_buf_init(&out, 1 << 16);
    play_open(&p, "guess", "{\"guesses\":3}");
    play_start(&p, "brave");
    render(&p, GG_RENDER_PLAIN, &out);
    assert_string_equal(out.data, "_____\n_____\n_____\n");
    play_guess(&p, "crane");
    render(&p, GG_RENDER_PLAIN, &out);
    assert_string_equal(out.data, "CRANE  BGGBG\n_____\n_____\n");
    assert_null(strstr(out.data, "brave"));
    play_guess(&p, "?");
    play_guess(&p, "brave");
    render(&p, GG_RENDER_PLAIN, &out);
    assert_string_equal(out.data, "CRANE  BGGBG\nnot played: {\"guess\":\"?\"}\nBRAVE  GGGGG\n"
                                  "solved with guess 2\n");
    render(&p, GG_RENDER_ANSI, &out);
    assert_non_null(strstr(out.data, "\x1b[97;100m C \x1b[0m\x1b[30;42m R \x1b[0m"));
    render(&p, GG_RENDER_HTML, &out);
    const char *green = strstr(out.data, "data-mark=\"green\"");
    assert_non_null(green);
    assert_memory_equal(strstr(green, ">") + 1, "R</span>", 8); /* of CRANE, the first */
    p.episode->outcome = GG_LOST;
    render(&p, GG_RENDER_PLAIN, &out);
    assert_non_null(strstr(out.data, "lost, the word was \"brave\"\n"));
    gg_buf_free(&out);
    play_close(&p);
}

/* Text of a record that wants to be markup, or to drive the terminal. */
static void hostile_records_are_escaped(void **state)
{
    play p;
    gg_buf out;
    (void)state;
    gg_buf_init(&out, 1 << 16);
    play_open(&p, "guess", NULL);
    play_start(&p, "brave");
    play_call(&p, "guess_word", "{\"guess\":\"<script>alert('1')&\"}");
    play_call(&p, "guess_word", "{\"guess\":\"\x1b[2J\x07\xff\"}");
    play_guess(&p, "crane");
    p.episode->turns[0].calls[2].facts = "{\"guess\":\"<b>xx\",\"marks\":\"GGGGG\"}";
    p.episode->answer = "\"<img src=x>\x1b[31m\"";
    p.episode->outcome = GG_LOST;
    render(&p, GG_RENDER_HTML, &out);
    assert_null(strstr(out.data, "<script"));
    assert_null(strstr(out.data, "<img"));
    assert_null(strstr(out.data, "<b>"));
    assert_non_null(strstr(out.data, "&lt;script&gt;alert(&#39;1&#39;)&amp;"));
    render(&p, GG_RENDER_PLAIN, &out);
    assert_null(strchr(out.data, '\x1b'));
    assert_null(strchr(out.data, '\xff'));
    render(&p, GG_RENDER_ANSI, &out);
    assert_null(strstr(out.data, "\x1b[2J"));
    assert_null(strstr(out.data, "\x1b[31m"));
    gg_buf_free(&out);
    play_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_by_hand),
        cmocka_unit_test(solved_games),
        cmocka_unit_test(a_near_miss_is_no_solve),
        cmocka_unit_test(malformed_turns_pay_nothing),
        cmocka_unit_test(hard_mode_counts_refusals),
        cmocka_unit_test(what_a_reward_may_say),
        cmocka_unit_test(all_parts_are_known),
        cmocka_unit_test(judging_fills_the_record),
        cmocka_unit_test(calls_from_text_are_counted),
        cmocka_unit_test(senseless_facts_are_worth_nothing),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(boards),
        cmocka_unit_test(hostile_records_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
