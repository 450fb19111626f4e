/* Options: parsing, precedence, errors, run.json (cli/options.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/command.h"
#include "core/file.h"

#define WORDS_MAX   24
#define CONFIG_FILE "build/test/options-config.json"

/* A command line in one string, cut at blanks. */
typedef struct line {
    char storage[512];
    char *argv[WORDS_MAX];
    const char *plain[WORDS_MAX];
    size_t plain_count;
    gg_opts *opts;
    gg_error error;
} line;

static gg_status parse(line *l, gg_cmd_id command, const char *text)
{
    int argc = 0;

    memset(l, 0, sizeof *l);
    snprintf(l->storage, sizeof l->storage, "%s", text);
    char *rest = l->storage;
    for (char *word; (word = strsep(&rest, " "));)
        if (*word)
            l->argv[argc++] = word;
    return gg_opts_parse(command, argc, l->argv, &l->opts, l->plain, &l->plain_count, &l->error);
}

static void write_config(const char *text)
{
    gg_error error = {0};
    assert_int_equal(gg_file_write(CONFIG_FILE, text, strlen(text), &error), GG_OK);
}

static void precedence_table(void **state)
{
    static const struct {
        const char *flags, *variable, *config, *want;
    } rows[] = {
        {"", NULL, NULL, "1"}, /* the table's default */
        {"", NULL, "{\"samples\":2}", "2"},
        {"", "3", NULL, "3"},
        {"", "3", "{\"samples\":2}", "3"},
        {"--samples 4", NULL, NULL, "4"},
        {"--samples 4", "3", "{\"samples\":2}", "4"},
        {"-n5 --samples=6", "3", NULL, "6"}, /* the later flag */
        {"", "", "{\"samples\":2}", "2"},    /* an empty variable is not set */
        {"", NULL, "{\"samples\":null}", "1"},
        {"", NULL, "{\"config\":{\"samples\":7},\"version\":\"x\"}", "7"}, /* a whole run.json */
        {"", NULL, "{\"samples\":\"8\"}", "8"},
    };
    line l;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        write_config(rows[i].config ? rows[i].config : "{}");
        if (rows[i].variable)
            setenv("GUESSGYM_SAMPLES", rows[i].variable, 1);
        snprintf(text, sizeof text, "%s --config %s", rows[i].flags, CONFIG_FILE);
        assert_int_equal(parse(&l, GG_CMD_EVAL, text), GG_OK);
        assert_string_equal(gg_opt_text(l.opts, GG_OPT_SAMPLES), rows[i].want);
        assert_int_equal(gg_opt_int(l.opts, GG_OPT_SAMPLES), atol(rows[i].want));
        assert_int_equal(gg_opt_given(l.opts, GG_OPT_SAMPLES), strcmp(rows[i].want, "1") != 0);
        gg_opts_free(l.opts);
        unsetenv("GUESSGYM_SAMPLES");
    }
}

static void error_table(void **state)
{
    static const struct {
        gg_cmd_id command;
        const char *line, *want; /* a part of the sentence */
    } rows[] = {
        {GG_CMD_EVAL, "--smaples 3", "unknown option --smaples; did you mean --samples?"},
        {GG_CMD_EVAL, "--wrods=x", "did you mean --words?"},
        {GG_CMD_EVAL, "--frobnicate", "unknown option --frobnicate"},
        {GG_CMD_EVAL, "-z", "unknown option -z"},
        {GG_CMD_EVAL, "--group-size 8", "unknown option --group-size"},
        {GG_CMD_EVAL, "--samples", "--samples needs a value: --samples N"},
        {GG_CMD_EVAL, "--samples 0", "--samples: \"0\" is not a whole number from 1"},
        {GG_CMD_EVAL, "--samples 1.5", "is not a whole number"},
        {GG_CMD_EVAL, "--samples 1e3", "is not a whole number"},
        {GG_CMD_EVAL, "--samples 99999999999999999999", "is not a whole number"},
        {GG_CMD_EVAL, "--seed 9007199254740992", "from 0 to 9007199254740991"},
        {GG_CMD_EVAL, "--temperature nan", "is not a number from 0 to 100"},
        {GG_CMD_EVAL, "--top-p 1.1", "is not a number from 0 to 1"},
        {GG_CMD_EVAL, "--effort lo", "\"lo\" is unknown; did you mean \"low\"?"},
        {GG_CMD_EVAL, "--effort low,,high", "\"\" is not one of"},
        {GG_CMD_EVAL, "--effort low,low", "\"low\" is named twice"},
        {GG_CMD_EVAL, "--effort enormous", "\"enormous\" is not one of none|minimal|low|"},
        {GG_CMD_EVAL, "--json=maybe", "--json: \"maybe\" is neither true nor false"},
        {GG_CMD_EVAL, "--model=", "--model: the value is empty"},
        {GG_CMD_EVAL, "--env-set hard", "\"hard\" is not KEY=VALUE"},
        {GG_CMD_EVAL, "--no-samples", "unknown option --no-samples"},
        {GG_CMD_EVAL, "--config build/test/nowhere.json", "build/test/nowhere.json"},
        {GG_CMD_WORDS_SPLIT, "--train 1", "--output DIR is needed"},
    };
    line l;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_status status = parse(&l, rows[i].command, rows[i].line);
        if (status == GG_OK || !strstr(l.error.text, rows[i].want))
            fail_msg("%s: \"%s\"", rows[i].line, l.error.text);
        gg_opts_free(l.opts);
    }
}

static void config_error_table(void **state)
{
    static const struct {
        const char *config, *want;
    } rows[] = {
        {"{\"smaples\":3}", "unknown key \"smaples\"; did you mean \"samples\"?"},
        {"{\"samples\":[3]}", "samples is neither text nor number"},
        {"{\"samples\":0}", "options-config.json: samples: \"0\" is not a whole number"},
        {"{\"env_set\":3}", "env_set should be an object"},
        {"{\"env_set\":{\"a\":[]}}", "env_set.a is neither"},
        {"{\"resume\":true}", "works on the command line only"},
        {"[1]", "should be a JSON object"},
        {"{", "options-config.json"},
    };
    line l;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_config(rows[i].config);
        gg_status status = parse(&l, GG_CMD_EVAL, "--config " CONFIG_FILE);
        if (status == GG_OK || !strstr(l.error.text, rows[i].want))
            fail_msg("%s: \"%s\"", rows[i].config, l.error.text);
        gg_opts_free(l.opts);
    }
}

/* One file may serve every command: what another command takes is passed over. */
static void config_of_another_command(void **state)
{
    line l;

    (void)state;
    write_config("{\"group_size\":4,\"seed\":7}");
    assert_int_equal(parse(&l, GG_CMD_EVAL, "--config " CONFIG_FILE), GG_OK);
    assert_int_equal(gg_opt_int(l.opts, GG_OPT_SEED), 7);
    gg_opts_free(l.opts);
}

static void plain_words(void **state)
{
    line l;

    (void)state;
    assert_int_equal(parse(&l, GG_CMD_COMPARE, "a --json b - -- --by"), GG_OK);
    assert_int_equal(l.plain_count, 4);
    assert_string_equal(l.plain[0], "a");
    assert_string_equal(l.plain[2], "-");
    assert_string_equal(l.plain[3], "--by");
    assert_true(gg_opt_flag(l.opts, GG_OPT_JSON));
    gg_opts_free(l.opts);
}

static void help_works_whatever_else_is_wrong(void **state)
{
    line l;

    (void)state;
    assert_int_equal(parse(&l, GG_CMD_EVAL, "--nonsense -h --samples x"), GG_OK);
    assert_true(gg_opt_flag(l.opts, GG_OPT_HELP));
    gg_opts_free(l.opts);
}

static void flags_can_be_taken_back(void **state)
{
    line l;

    (void)state;
    setenv("GUESSGYM_HARD", "yes", 1);
    assert_int_equal(parse(&l, GG_CMD_EVAL, ""), GG_OK);
    assert_true(gg_opt_flag(l.opts, GG_OPT_HARD));
    gg_opts_free(l.opts);
    assert_int_equal(parse(&l, GG_CMD_EVAL, "--no-hard"), GG_OK);
    assert_false(gg_opt_flag(l.opts, GG_OPT_HARD));
    gg_opts_free(l.opts);
    unsetenv("GUESSGYM_HARD");
}

static void efforts(void **state)
{
    char item[16];
    line l;

    (void)state;
    setenv("REASONING_EFFORT", "high", 1);
    assert_int_equal(parse(&l, GG_CMD_EVAL, ""), GG_OK);
    assert_string_equal(gg_opt_text(l.opts, GG_OPT_EFFORT), "high");
    gg_opts_free(l.opts);
    assert_int_equal(parse(&l, GG_CMD_EVAL, "--effort low,medium"), GG_OK);
    assert_true(gg_opt_item(l.opts, GG_OPT_EFFORT, 1, item, sizeof item));
    assert_string_equal(item, "medium");
    assert_false(gg_opt_item(l.opts, GG_OPT_EFFORT, 2, item, sizeof item));
    gg_opts_free(l.opts);
    unsetenv("REASONING_EFFORT");
}

static void settings_table(void **state)
{
    static const struct {
        const char *line, *want;
    } rows[] = {
        {"", ""},
        {"--hard", "{\"hard\":\"true\"}"},
        {"--env-set guesses=8", "{\"guesses\":\"8\"}"},
        {"--env-set a=1 --env-set a=2 --env-set b=x=y", "{\"a\":\"2\",\"b\":\"x=y\"}"},
        {"--env-set unlisted=play --unlisted reject", "{\"unlisted\":\"reject\"}"},
    };
    line l;
    gg_buf out;

    (void)state;
    gg_buf_init(&out, 1024);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(parse(&l, GG_CMD_EVAL, rows[i].line), GG_OK);
        gg_buf_reset(&out);
        assert_int_equal(gg_opts_settings(l.opts, &out), *rows[i].want != '\0');
        assert_string_equal(gg_buf_cstr(&out), rows[i].want);
        gg_opts_free(l.opts);
    }
    gg_buf_free(&out);
}

/* What gg_opts_write_run writes, --config reads back to the same. */
static void run_json_reads_back(void **state)
{
    line first, second;
    gg_buf once, twice;

    (void)state;
    gg_buf_init(&once, 4096);
    gg_buf_init(&twice, 4096);
    assert_int_equal(parse(&first, GG_CMD_EVAL,
                           "--samples 3 --hard --env-set guesses=7 --temperature 0.7 --model a\"b "
                           "--effort low,high -o out --concurrency 9 --json"),
                     GG_OK);
    gg_opts_write_run(first.opts, NULL, 0, &once);
    assert_non_null(strstr(gg_buf_cstr(&once), ",\"temperature\":0.7"));
    assert_non_null(strstr(gg_buf_cstr(&once), ",\"reasoning_effort\":\"low,high\""));
    assert_null(strstr(gg_buf_cstr(&once), "concurrency"));
    once.data[0] = '{';
    gg_buf_char(&once, '}');
    write_config(gg_buf_cstr(&once));
    assert_int_equal(parse(&second, GG_CMD_EVAL, "--config " CONFIG_FILE), GG_OK);
    gg_opts_write_run(second.opts, NULL, 0, &twice);
    twice.data[0] = '{';
    gg_buf_char(&twice, '}');
    assert_string_equal(gg_buf_cstr(&once), gg_buf_cstr(&twice));
    gg_opts_free(first.opts);
    gg_opts_free(second.opts);
    gg_buf_free(&once);
    gg_buf_free(&twice);
}

/* A list may be given again; its texts may hold commas. */
static void lists_go_on(void **state)
{
    line l;
    char item[64];

    (void)state;
    assert_int_equal(parse(&l, GG_CMD_RESCORE, "-r solve=1,speed=0.5 --reward my.lua run"), GG_OK);
    assert_true(gg_opt_item(l.opts, GG_OPT_REWARDS, 0, item, sizeof item));
    assert_string_equal(item, "solve=1,speed=0.5");
    assert_true(gg_opt_item(l.opts, GG_OPT_REWARDS, 1, item, sizeof item));
    assert_string_equal(item, "my.lua");
    assert_false(gg_opt_item(l.opts, GG_OPT_REWARDS, 2, item, sizeof item));
    gg_opts_free(l.opts);
}

/* No command has two options under one name or letter, and every default passes its own check. */
static void table_is_sound(void **state)
{
    (void)state;
    for (int command = 0; command < GG_CMD_COUNT; command++)
        for (int id = 0; id < GG_OPT_COUNT; id++) {
            const gg_opt *row = gg_opt_row((gg_opt_id)id);
            if (!gg_opt_taken_by((gg_opt_id)id, (gg_cmd_id)command))
                continue;
            assert_int_equal(gg_opt_named((gg_cmd_id)command, row->name, strlen(row->name)), id);
            if (row->letter)
                assert_int_equal(gg_opt_lettered((gg_cmd_id)command, row->letter), id);
            assert_non_null(row->help);
            assert_int_equal(row->value == NULL, row->type == GG_VALUE_FLAG);
        }
    for (size_t i = 0; gg_cmd_at(i); i++) {
        line l;
        gg_cmd_id id = gg_cmd_at(i)->id;
        const char *needed = id == GG_CMD_WORDS_SPLIT ? "-o x"
                             : id == GG_CMD_SHAPE     ? "-r solve"
                             : id == GG_CMD_INDEX     ? "-o x --corpus y"
                             : id == GG_CMD_SHAPE     ? "--reward solve"
                                                      : "";
        if (parse(&l, id, needed) != GG_OK)
            fail_msg("%s: %s", gg_cmd_at(i)->name, l.error.text);
        gg_opts_free(l.opts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence_table),
        cmocka_unit_test(error_table),
        cmocka_unit_test(config_error_table),
        cmocka_unit_test(config_of_another_command),
        cmocka_unit_test(plain_words),
        cmocka_unit_test(help_works_whatever_else_is_wrong),
        cmocka_unit_test(flags_can_be_taken_back),
        cmocka_unit_test(efforts),
        cmocka_unit_test(settings_table),
        cmocka_unit_test(run_json_reads_back),
        cmocka_unit_test(lists_go_on),
        cmocka_unit_test(table_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
