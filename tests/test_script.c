/* Reward scripts (env/reward/script.h): what they see, what they may not do, what they say when
 * they fail; and that any reward of a saved record is the live one to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "env/guess/guess.h"
#include "env/reward/reward.h"
#include "tests/alloc.h"
#include "tests/folder.h"
#include "tests/play.h"

#define SEED 20261201
#define DEEP "function reward(e) return f(e) end\nfunction f(e) "

static char folder[FOLDER_PATH];

/* A game of one turn: crane, a malformed guess, brave (the hidden word). */
static void a_game(play *p)
{
    play_start(p, "brave");
    play_guess(p, "crane");
    play_guess(p, "?");
    play_guess(p, "brave");
    p->episode->id = "s0-g1-2";
    p->episode->turns[0].usage = (gg_usage){100, 20, -1, -1};
    p->episode->turns[0].reasoning = "a thought";
}

static gg_status run(play *p, const char *code, gg_error *error)
{
    gg_reward *reward = NULL;
    folder_write(folder, "r.lua", code, strlen(code));
    gg_status status = gg_reward_parse(p->game, folder_path(folder, "r.lua"), &reward, error);
    if (status == GG_OK)
        status = gg_reward_score(reward, p->game, p->episode, error);
    gg_reward_free(reward);
    return status;
}

static void what_a_script_sees(void **state)
{
    static const struct {
        const char *value; /* of the function's `return` */
        double want;
    } rows[] = {
        {"1.5", 1.5},
        {"e.outcome == 'solved' and 2 or 0", 2},
        {"e.moves", 2},
        {"#e.turns", 1},
        {"#e.turns[1].calls", 3},
        {"e.turns[1].calls[1].facts.guess == 'crane' and 1 or 0", 1},
        {"e.turns[1].calls[1].facts.new_greens", 3},
        {"e.turns[1].calls[1].facts.listed and 1 or 0", 1},
        {"e.turns[1].calls[2].status == 'invalid' and 1 or 0", 1},
        {"e.turns[1].calls[1].name == 'guess_word' and 1 or 0", 1},
        {"select(2, e.turns[1].calls[1].arguments:gsub('crane', ''))", 1},
        {"select(2, e.turns[1].calls[1].result:gsub('green', '%0'))", 3},
        {"e.turns[1].usage.completion", 20},
        {"e.turns[1].usage.reasoning == nil and 1 or 0", 1},
        {"#e.turns[1].reasoning", 9},
        {"e.answer == 'brave' and 1 or 0", 1},
        {"e.labels.opening == 'crane' and 1 or 0", 1},
        {"e.parts.speed", 0.8},
        {"e.parts.malformed", 1},
        {"e.measure", 1},
        {"e.messages == nil and 1 or 0", 1},
        /* the libraries that are there */
        {"math.max(1, 3) + #table.concat({'a', 'b'}) + utf8.len('\\u{e9}')", 6},
        {"tonumber('12') + #tostring(e) + #string.format('%5.1f', 1)", 22},
        {"pcall(error, 'x') and 0 or 1", 1},
        /* pairs goes through keys in order: 1, 2.5, "", "a", "b", false, true */
        {"(function() local s = '' for k in pairs({b=1, [2.5]=1, a=1, [true]=1, [1]=1, [false]=1, "
         "['']=1}) do s = s .. tostring(k) .. ';' end return s == '1;2.5;;a;b;false;true;' and 1 "
         "or 0 end)()",
         1},
    };
    play p;
    gg_error error = {0};
    char code[1024];
    (void)state;
    play_open(&p, "guess", NULL);
    a_game(&p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(code, sizeof code, "function reward(e) return (%s) end", rows[i].value);
        if (run(&p, code, &error) != GG_OK)
            fail_msg("%s: %s", rows[i].value, error.text);
        if (!(fabs(p.episode->reward - rows[i].want) < 1e-12))
            fail_msg("%s: %g, want %g", rows[i].value, p.episode->reward, rows[i].want);
        assert_null(p.episode->reward_by_turn);
        assert_int_equal(p.episode->part_count, 0);
    }
    play_close(&p);
}

static void lists_and_parts(void **state)
{
    play p;
    gg_error error = {0};
    (void)state;
    play_open(&p, "guess", NULL);
    a_game(&p);
    assert_non_null(gg_episode_add_turn(p.episode));
    assert_int_equal(
        run(&p, "function reward(e) return {0.5, -2}, {zeal = 1, aim = 0.25} end", &error), GG_OK);
    assert_true(p.episode->reward == -1.5);
    assert_true(p.episode->reward_by_turn[0] == 0.5 && p.episode->reward_by_turn[1] == -2);
    assert_int_equal(p.episode->part_count, 2);
    assert_string_equal(p.episode->parts[0].name, "aim");
    assert_true(p.episode->parts[1].value == 1);
    assert_int_equal(run(&p, "function reward(e) return 7 end", &error), GG_OK);
    assert_null(p.episode->reward_by_turn);
    assert_int_equal(p.episode->part_count, 0);
    play_close(&p);
}

static void what_a_script_may_not(void **state)
{
    static const struct {
        const char *code, *error;
    } rows[] = {
        /* file and line */
        {"function reward(e)\n\n  return e.nothing.x\nend", "r.lua:3: attempt to index a nil"},
        {"function reward(e) return 1", "r.lua:1: 'end' expected"},
        {"\n\nfail()", "r.lua:3: attempt to call a nil value (global 'fail')"},
        {"function reward(e) error('no good') end", "r.lua:1: no good (episode s0-g1-2)"},
        {"function reward(e) error({}) end", "the error is not a text"},
        {"x = 1", "defines no function \"reward\""},
        {"reward = 5", "defines no function \"reward\""},
        {"\x1bLua", "attempt to load a binary chunk"},
        /* what it returns */
        {"function reward(e) end", "returned nothing"},
        {"function reward(e) return 'x' end", "neither a number nor a list"},
        {"function reward(e) return '1' end", "neither a number nor a list"},
        {"function reward(e) return 1/0 end", "returned a number that is not finite"},
        {"function reward(e) return 0/0 end", "returned a number that is not finite"},
        {"function reward(e) return {1, 2} end", "returned a list of 2 values for 1 turns"},
        {"function reward(e) return {'a'} end", "a list with a value that is no finite number"},
        {"function reward(e) return 1, 2 end", "a second value that is no table"},
        {"function reward(e) return 1, {1} end", "parts that are not all name = finite number"},
        {"function reward(e) return 1, {a='1'} end", "parts that are not all name"},
        {"function reward(e) return 1, {a=0/0} end", "parts that are not all name"},
        {"function reward(e) return 1, {['']=1} end", "a part whose name is empty"},
        /* the sandbox */
        {"function reward(e) return os.time() end", "global 'os'"},
        {"function reward(e) return io.open('x') end", "global 'io'"},
        {"function reward(e) return debug.getinfo(1) end", "global 'debug'"},
        {"function reward(e) return load('return 1')() end", "global 'load'"},
        {"function reward(e) return dofile('x') end", "global 'dofile'"},
        {"function reward(e) return loadfile('x') end", "global 'loadfile'"},
        {"function reward(e) return require('x') end", "global 'require'"},
        {"function reward(e) print(1) return 1 end", "global 'print'"},
        {"function reward(e) return collectgarbage('count') end", "global 'collectgarbage'"},
        {"function reward(e) return setmetatable({}, {}) end", "global 'setmetatable'"},
        {"function reward(e) return coroutine.create(reward) end", "global 'coroutine'"},
        {"function reward(e) return next({}) end", "global 'next'"},
        {"function reward(e) return math.random() end", "field 'random'"},
        {"function reward(e) return #string.dump(reward) end", "field 'dump'"},
        {"function reward(e) return #string.format('%-20p', 'x') end", "%p is not for"},
        {"function reward(e) return #string.format('%s', e) end", "number, string or boolean"},
        {"function reward(e) for k in pairs({[e]=1}) do end return 1 end", "a key must be"},
        /* limits */
        {"function reward(e) while true do end end", "ran for more than 10000000 instructions"},
        {"while true do end\nfunction reward(e) return 1 end", "ran for more than"},
        {DEEP "while true do pcall(function() while true do end end) end end", "ran for more than"},
        {"function reward(e) return #string.rep('x', 1 << 30) end", "not enough memory"},
        {"function reward(e) local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1e6) .. i end end",
         "not enough memory"},
        {DEEP "return 1 + f(e) end", "stack overflow"},
    };
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    a_game(&p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_error error = {0};
        gg_status status = run(&p, rows[i].code, &error);
        if (status != GG_E_CONFIG || !strstr(error.text, rows[i].error))
            fail_msg("%s\n  gave \"%s\", not \"%s\"", rows[i].code, error.text, rows[i].error);
        assert_non_null(strstr(error.text, "r.lua"));
    }
    play_close(&p);
}

/* A script cannot carry anything from one episode to the next, nor change a library for it. */
static void episodes_do_not_meet(void **state)
{
    static const char code[] = "n = 0\n"
                               "local m = {}\n"
                               "function reward(e)\n"
                               "  n = n + 1; m[#m + 1] = 1; math.calls = (math.calls or 0) + 1\n"
                               "  string.old = (string.old or 0) + 1; local s = ('x').old\n"
                               "  return n + 10 * #m + 100 * math.calls + 1000 * s\n"
                               "end";
    play p;
    gg_reward *reward = NULL;
    gg_error error = {0};
    (void)state;
    folder_write(folder, "n.lua", code, strlen(code));
    play_open(&p, "guess", NULL);
    a_game(&p);
    assert_int_equal(gg_reward_parse(p.game, folder_path(folder, "n.lua"), &reward, &error), GG_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gg_reward_score(reward, p.game, p.episode, &error), GG_OK);
        assert_true(p.episode->reward == 1111);
    }
    gg_reward_free(reward);
    play_close(&p);
}

/* What lies below the record is made when it is looked at; a script cannot tell. `f` are the facts
 * of the first guess, which has 16 of them. */
static void late_tables(void **state)
{
    static const struct {
        const char *code;
        double want;
    } rows[] = {
        {"return e.turns == e.turns and e.turns[1].calls == e.turns[1].calls and "
         "e.turns[1].calls[1].facts == f and e.parts == e.parts and 1 or 0",
         1},
        {"f.marks = nil return f.marks == nil and f.guess == 'crane' and 1 or 0", 1},
        {"local a = f.marks f.marks = nil return f.marks == nil and #a or 0", 5},
        {"f.guess = 7 f.other = 1 return f.guess + f.other + #f.marks", 13},
        {"local n = #f.guess + #f.marks + f.number + f.new_greens + f.new_letters return n", 19},
        {"local n = 0 for k in pairs(f) do n = n + 1 end return n", 16},
        {"local a, b, n = f.guess, f.none, 0 for k in pairs(f) do n = n + 1 end return n", 16},
        {"f.x = 1 local n = 0 for k in pairs(f) do n = n + 1 end return n", 17},
        {"return #f + #e.parts + #e.labels + #e.turns[1].usage", 0},
        {"return f.none == nil and f[1] == nil and f['a\\0b'] == nil and f[true] == nil and 1 or 0",
         1},
        {"return select('#', table.unpack(e.turns)) + select('#', table.unpack(e.turns[1].calls))",
         4},
        {"table.insert(e.turns, 5) return #e.turns + e.turns[2]", 7},
        {"e.turns[3] = 1 return e.turns[1].index", 0},
        {"return (tostring(e.turns) == 'table' and type(f) == 'table') and 1 or 0", 1},
        {"local n = 0 for k, v in pairs(e.labels) do n = n + #k + #v end return n", 12},
        {"return 1, e.parts", 1},
        {"return {0.5}, e.turns[1].usage", 0.5},
        /* the libraries are late too, and a string's methods are the script's library */
        {"string.len = nil return (('x').len == nil) and 1 or 0", 1},
        {"function string.twice(s) return s .. s end return #('ab'):twice()", 4},
        {"math.max = function() return 9 end return math.max(1, 2) + math.min(1, 2)", 10},
        {"local n = 0 for k in pairs(utf8) do n = n + 1 end return n", 6},
        {"math = nil return math == nil and 1 or 0", 1},
    };
    play p;
    gg_error error = {0};
    char code[1024];
    (void)state;
    play_open(&p, "guess", NULL);
    a_game(&p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(code, sizeof code,
                 "function reward(e) local f = e.turns[1].calls[1].facts; %s end", rows[i].code);
        if (run(&p, code, &error) != GG_OK)
            fail_msg("%s: %s", rows[i].code, error.text);
        if (!(fabs(p.episode->reward - rows[i].want) < 1e-12))
            fail_msg("%s: %g, want %g", rows[i].code, p.episode->reward, rows[i].want);
    }
    /* The parts that were handed back are those of the game. */
    assert_int_equal(run(&p, "function reward(e) return 1, e.parts end", &error), GG_OK);
    assert_true(p.episode->part_count > 8);
    assert_int_equal(run(&p, "function reward(e) return e.turns end", &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "no finite number"));
    play_close(&p);
}

/* run.json keeps the digest: a resumed run refuses a script that has changed. */
static void the_text_holds_the_digest(void **state)
{
    static const char code[] = "function reward(e) return 1 end";
    play p;
    gg_reward *reward = NULL, *again = NULL;
    gg_error error = {0};
    const char *path = folder_path(folder, "d.lua");
    (void)state;
    folder_write(folder, "d.lua", code, strlen(code));
    play_open(&p, "guess", NULL);
    assert_int_equal(gg_reward_parse(p.game, path, &reward, &error), GG_OK);
    const char *text = gg_reward_text(reward);
    assert_int_equal(strncmp(text, path, strlen(path)), 0);
    /* sha256sum of the line above */
    assert_non_null(strstr(text, ".lua#sha256:5f746d35"));
    assert_int_equal(gg_reward_parse(p.game, text, &again, &error), GG_OK);
    assert_string_equal(gg_reward_text(again), text);
    gg_reward_free(again);
    folder_write(folder, "d.lua", "function reward(e) return 2 end", 31);
    assert_int_equal(gg_reward_parse(p.game, text, &again, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "has changed"));
    assert_int_equal(gg_reward_parse(p.game, "none/such.lua", &again, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "none/such.lua"));
    gg_reward_free(reward);
    play_close(&p);
}

/* Rescoring. */

static void random_game(play *p, gg_rng *rng, const gg_words *words)
{
    static const char *const odd[] = {"?", "", "zzzzz", "aaaaa", "toolong", "CRANE", "eerie"};
    char id[32];
    const char *hidden =
        gg_words_answer(words, (size_t)gg_rng_below(rng, gg_words_answer_count(words)));
    play_start(p, hidden);
    for (int i = 0; i < 9 && p->episode->outcome == GG_UNPLAYED; i++) {
        uint64_t kind = gg_rng_below(rng, 12);
        if (kind == 0)
            play_guess(p, hidden);
        else if (kind < 4)
            play_guess(p, odd[gg_rng_below(rng, sizeof odd / sizeof *odd)]);
        else
            play_guess(
                p, gg_words_answer(words, (size_t)gg_rng_below(rng, gg_words_answer_count(words))));
    }
    if (p->episode->outcome == GG_UNPLAYED)
        p->episode->outcome = gg_rng_below(rng, 2) ? GG_FORFEITED : GG_TRUNCATED;
    gg_episode *e = p->episode;
    snprintf(id, sizeof id, "s0-g%d-0", (int)gg_rng_below(rng, 100));
    e->id = gg_episode_string(e, id, strlen(id));
    e->env = "guess";
    e->stop = GG_STOP_DONE;
    e->messages = "[]";
}

static void saved_is_live(void **state)
{
    static const char script[] =
        "function reward(e)\n"
        "  local sum, list = 0, {}\n"
        "  for name, value in pairs(e.parts) do sum = sum + value / (3 + #name) end\n"
        "  for i, turn in ipairs(e.turns) do\n"
        "    list[i] = sum / 7\n"
        "    for _, call in ipairs(turn.calls) do\n"
        "      for name, fact in pairs(call.facts) do\n"
        "        if type(fact) == 'number' then list[i] = list[i] + fact / #name end\n"
        "      end\n"
        "    end\n"
        "  end\n"
        "  return list, {sum = sum}\n"
        "end\n";
    const char *rewards[] = {"solve",
                             "solve-speed",
                             "progress",
                             "tutorial",
                             "greens=0.1,repeats=-0.3,narrowed=0.7,tutorial_points=0.01",
                             NULL};
    enum { KINDS = sizeof rewards / sizeof *rewards };
    gg_rng rng;
    gg_words *words = NULL;
    gg_error error = {0};
    gg_reward *parsed[KINDS] = {NULL};
    gg_buf line;
    play p;
    (void)state;
    gg_rng_seed(&rng, SEED);
    gg_buf_init(&line, 1 << 22);
    folder_write(folder, "s.lua", script, strlen(script));
    rewards[KINDS - 1] = folder_path(folder, "s.lua");
    play_open(&p, "guess", NULL);
    assert_int_equal(gg_words_load(NULL, NULL, 5, &words, &error), GG_OK);
    for (size_t i = 0; i < KINDS; i++)
        if (gg_reward_parse(p.game, rewards[i], &parsed[i], &error) != GG_OK)
            fail_msg("%s: %s", rewards[i], error.text);
    for (int game = 0; game < 60; game++) {
        random_game(&p, &rng, words);
        for (size_t i = 0; i < KINDS; i++) {
            gg_episode *saved = NULL, *e = p.episode;
            gg_buf_reset(&line);
            if (gg_episode_judge(p.game, parsed[i], e, &error) != GG_OK ||
                gg_episode_write(e, &line, &error) != GG_OK ||
                gg_episode_read(line.data, line.len, GG_READ_PLAY, &saved, &error) != GG_OK)
                fail_msg("seed %d, game %d, %s: %s", SEED, game, rewards[i], error.text);
            double as_written = saved->reward;
            assert_int_equal(gg_reward_score(parsed[i], p.game, saved, &error), GG_OK);
            if (saved->reward != e->reward || as_written != e->reward ||
                saved->part_count != e->part_count)
                fail_msg("seed %d, game %d, %s: live %.17g, rescored %.17g", SEED, game, rewards[i],
                         e->reward, saved->reward);
            for (size_t part = 0; part < e->part_count; part++)
                assert_true(saved->parts[part].value == e->parts[part].value);
            for (size_t t = 0; e->reward_by_turn && t < e->turn_count; t++)
                assert_true(saved->reward_by_turn[t] == e->reward_by_turn[t]);
            gg_episode_free(saved);
        }
    }
    for (size_t i = 0; i < KINDS; i++)
        gg_reward_free(parsed[i]);
    gg_words_free(words);
    gg_buf_free(&line);
    play_close(&p);
}

static gg_status script_once(void *context)
{
    gg_error error = {0};
    return run(context, "function reward(e) return {1}, {a = #e.turns} end", &error);
}

static void every_allocation_may_fail(void **state)
{
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    a_game(&p);
    assert_true(alloc_each_fails(script_once, &p) > 0);
    play_close(&p);
}

static int make(void **state)
{
    (void)state;
    folder_make(folder);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_script_sees),    cmocka_unit_test(lists_and_parts),
        cmocka_unit_test(what_a_script_may_not), cmocka_unit_test(episodes_do_not_meet),
        cmocka_unit_test(late_tables),           cmocka_unit_test(the_text_holds_the_digest),
        cmocka_unit_test(saved_is_live),         cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
