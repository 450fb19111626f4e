/* Registry, options and plug-ins (env/env.h); the example environment, built as a stranger would.
 */
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
#include "env/check.h"
#include "env/reward/reward.h"
#include "tests/alloc.h"
#include "tests/play.h"

static char folder[] = "/tmp/gg-env-XXXXXX";
static char lock_path[128]; /* the example, built */

/* Compiles C into folder/name against the public headers alone. */
static void build(const char *source, const char *name)
{
    char command[1024];
    snprintf(
        command, sizeof command,
        "${CC:-cc} -std=c11 -Wall -Wextra -Iinclude -fPIC -fvisibility=hidden -shared -o %s/%s "
        "%s",
        folder, name, source);
    if (system(command) != 0)
        fail_msg("cannot run: %s", command);
}

/* The same from text. */
static void build_text(const char *text, const char *name)
{
    char source[128];
    gg_error error = {0};
    snprintf(source, sizeof source, "%s/source.c", folder);
    if (gg_file_write(source, text, strlen(text), &error) != GG_OK)
        fail_msg("%s", error.text);
    build(source, name);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    snprintf(lock_path, sizeof lock_path, "%s/lock.so", folder);
    build("examples/env-lock/lock.c", "lock.so");
    return 0;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void assert_refused(const char *name, const char *settings, const char *says)
{
    gg_game *game = (gg_game *)1;
    gg_error error = {0};
    assert_int_equal(gg_game_open(name, settings, &game, &error), GG_E_CONFIG);
    assert_null(game);
    if (!strstr(error.text, says))
        fail_msg("%s %s: no \"%s\" in \"%s\"", name, settings ? settings : "", says, error.text);
}

static void built_ins(void **state)
{
    (void)state;
    assert_true(gg_env_builtin_count() >= 1);
    assert_string_equal(gg_env_builtin(0)->name, "guess");
    assert_null(gg_env_builtin(gg_env_builtin_count()));
    for (size_t i = 0; i < gg_env_builtin_count(); i++) {
        const gg_env_api *api = NULL;
        void *library = NULL;
        gg_error error = {0};
        assert_int_equal(gg_env_find(gg_env_builtin(i)->name, &api, &library, &error), GG_OK);
        assert_ptr_equal(api, gg_env_builtin(i));
        assert_null(library);
    }
}

static void unknown_names(void **state)
{
    (void)state;
    assert_refused("gues", NULL, "did you mean \"guess\"?");
    assert_refused("chess-960", NULL, "guess");
    assert_refused("", NULL, "not known");
    assert_refused("./no/such.so", NULL, "cannot load ./no/such.so");
    assert_refused("nosuch.so", NULL, "cannot load nosuch.so");
    assert_refused("wordlists/answers.txt", NULL, "cannot load");
}

static void settings_are_checked(void **state)
{
    static const struct {
        const char *settings, *says;
    } rows[] = {
        {"{\"lenght\":5}", "did you mean \"length\"?"},
        {"{\"Length\":5}", "did you mean \"length\"?"},
        {"{\"colour-of-the-board\":5}", "there are: length, guesses, hard"},
        {"{\"guesses\":\"six\"}", "\"guesses\" must be a whole number"},
        {"{\"guesses\":\"6 \"}", "\"guesses\" must be a whole number"},
        {"{\"guesses\":\"\"}", "\"guesses\" must be a whole number"},
        {"{\"guesses\":6.5}", "\"guesses\" must be a whole number"},
        {"{\"guesses\":99999999999}", "\"guesses\" must be a whole number"},
        {"{\"guesses\":[6]}", "\"guesses\" must be a text, a number"},
        {"{\"hard\":\"maybe\"}", "\"hard\" must be true or false"},
        {"{\"hard\":2}", "\"hard\" must be true or false"},
        {"{\"unlisted\":\"rejct\"}", "did you mean \"reject\"?"},
        {"{\"unlisted\":\"Z\"}", "must be one of play|reject, not \"Z\""},
        {"{\"unlisted\":\"play|reject\"}", "must be one of"},
        {"{\"answers\":\"\"}", "\"answers\" must be a path"},
        {"[]", "must be a JSON object"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused("guess", rows[i].settings, rows[i].says);
    gg_game *game = NULL;
    gg_error error = {0};
    assert_int_equal(gg_game_open("guess", "{\"a\":", &game, &error), GG_E_FORMAT);
}

/* A command line gives texts, a configuration JSON values: both come to the same. */
static void settings_are_resolved(void **state)
{
    static const struct {
        const char *settings, *config;
    } rows[] = {
        {NULL, "{\"length\":5,\"guesses\":6,\"hard\":false,\"unlisted\":\"play\"}"},
        {"{}", "{\"length\":5,\"guesses\":6,\"hard\":false,\"unlisted\":\"play\"}"},
        {"{\"guesses\":null}", "{\"length\":5,\"guesses\":6,\"hard\":false,\"unlisted\":\"play\"}"},
        {"{\"hard\":\"on\",\"guesses\":\"8\"}",
         "{\"length\":5,\"guesses\":8,\"hard\":true,\"unlisted\":\"play\"}"},
        {"{\"unlisted\":\"reject\",\"guesses\":8,\"hard\":1}",
         "{\"length\":5,\"guesses\":8,\"hard\":true,\"unlisted\":\"reject\"}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play p;
        play_open(&p, "guess", rows[i].settings);
        assert_string_equal(p.game->config, rows[i].config);
        play_close(&p);
    }
}

#define HEAD "#include <stddef.h>\n#include <guessgym/env.h>\n"
#define ENTRY                                                                                      \
    "GG_API const gg_env_api *gg_env_plugin(void);\n"                                              \
    "const gg_env_api *gg_env_plugin(void) { return "

static void broken_plugins(void **state)
{
    static const struct {
        const char *name, *text, *says;
    } rows[] = {
        {"empty.so", "int gg_nothing;\n", "exports no gg_env_plugin"},
        {"null.so", HEAD ENTRY "NULL; }\n", "returned no table"},
        {"old.so",
         HEAD "static const gg_env_api api = {.abi = GG_ENV_ABI + 7};\n" ENTRY "&api; }\n",
         "was built for environment ABI 8, this program has 1"},
        {"bare.so", HEAD "static const gg_env_api api = {.abi = GG_ENV_ABI};\n" ENTRY "&api; }\n",
         "its table has no `open`"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[128];
        build_text(rows[i].text, rows[i].name);
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].name);
        assert_refused(path, NULL, rows[i].says);
    }
}

static void a_text_file_is_no_plugin(void **state)
{
    char path[128];
    gg_error error = {0};
    (void)state;
    snprintf(path, sizeof path, "%s/text.so", folder);
    assert_int_equal(gg_file_write(path, "hello", 5, &error), GG_OK);
    assert_refused(path, NULL, path);
}

/* The example: built outside the tree against the public headers, opened, played. */
static void the_example_plays(void **state)
{
    play p;
    (void)state;
    play_open(&p, lock_path, NULL);
    assert_non_null(p.game->library);
    assert_string_equal(p.game->info.name, "lock");
    assert_string_equal(p.game->config, "{\"dials\":3,\"turns\":4}");
    play_start(&p, "416");
    play_call(&p, "turn_dials", "{\"dial1\":5,\"dial2\":1,\"dial3\":0}");
    assert_string_equal(gg_buf_cstr(&p.text), "Dial 1 at 5: too high.\nDial 2 at 1: right.\n"
                                              "Dial 3 at 0: too low.\nTurns left: 3");
    play_call(&p, "turn_dials", "{\"dial1\":5,\"dial2\":1}");
    assert_int_equal(p.result.status, GG_CALL_INVALID);
    play_call(&p, "turn_dials", "{\"dial1\":4,\"dial2\":1,\"dial3\":6}");
    assert_int_equal(p.result.outcome, GG_SOLVED);
    play_call(&p, "turn_dials", "{\"dial1\":4,\"dial2\":1,\"dial3\":6}");
    assert_int_equal(p.result.status, GG_CALL_OVER);
    gg_reward *reward = NULL;
    gg_error error = {0};
    assert_int_equal(gg_reward_parse(p.game, "solve=1,quick=2,right_dials=4", &reward, &error),
                     GG_OK);
    assert_int_equal(gg_episode_judge(p.game, reward, p.episode, &error), GG_OK);
    assert_true(p.episode->reward == 1 + 2 * 0.5 + 4); /* opened with turn 2 of 4 */
    assert_string_equal(p.episode->labels[0].value, "510");
    gg_reward_free(reward);
    play_close(&p);
    assert_refused(lock_path, "{\"dial\":3}", "did you mean \"dials\"?");
    assert_refused(lock_path, "{\"dials\":7}", "dials must be 1 to 6");
}

static void see(void *context, const char *rule, bool kept, const char *detail)
{
    (void)context;
    if (!kept)
        fail_msg("%s: %s", rule, detail);
    if (strstr(detail, "not tried"))
        fail_msg("%s was not tried", rule);
}

static void the_example_conforms(void **state)
{
    static const char *const tasks[] = {"416", "{\"answer\":\"007\"}", "990", "123"};
    play p;
    size_t broken = 0;
    gg_error error = {0};
    (void)state;
    play_open(&p, lock_path, NULL);
    assert_null(p.game->api->default_tasks(p.game->env, "test")); /* built without its list */
    if (gg_env_check(p.game, tasks, 4, 1, see, NULL, &broken, &error) != GG_OK)
        fail_msg("%s", error.text);
    play_close(&p);
}

/* A list beside the plug-in is found. */
static void the_example_brings_tasks(void **state)
{
    play p;
    size_t broken = 0;
    char path[128];
    gg_error error = {0};
    (void)state;
    snprintf(path, sizeof path, "%s/tasks.txt", folder);
    assert_int_equal(gg_file_write(path, "416\n007\n", 8, &error), GG_OK);
    play_open(&p, lock_path, NULL);
    assert_string_equal(p.game->api->default_tasks(p.game->env, "test"), path);
    assert_null(p.game->api->default_tasks(p.game->env, "train"));
    if (gg_env_check(p.game, NULL, 0, 1, see, NULL, &broken, &error) != GG_OK)
        fail_msg("%s", error.text);
    play_close(&p);
    unlink(path);
}

static gg_status open_once(void *context)
{
    gg_game *game = NULL;
    gg_error error = {0};
    gg_status status = gg_game_open(context, "{\"turns\":\"5\"}", &game, &error);
    gg_game_close(game);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(open_once, lock_path) > 0);
    gg_game_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_ins),
        cmocka_unit_test(unknown_names),
        cmocka_unit_test(settings_are_checked),
        cmocka_unit_test(settings_are_resolved),
        cmocka_unit_test(broken_plugins),
        cmocka_unit_test(a_text_file_is_no_plugin),
        cmocka_unit_test(the_example_plays),
        cmocka_unit_test(the_example_conforms),
        cmocka_unit_test(the_example_brings_tasks),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
