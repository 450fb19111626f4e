#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "core/near.h"

#define NAME_ROOM 64

#define EXAMPLES(...)                                                                              \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* clang-format off */
static const gg_cmd commands[] = {
    {GG_CMD_PLAY, "play", "", 0, 0, "play a game yourself, in the terminal",
     EXAMPLES("guessgym play", "a word of the shipped list",
              "guessgym play --hard --seed 7", "the same word each time, hints must be used"),
     gg_cmd_play},
    {GG_CMD_EVAL, "eval", "", 0, 0, "play a list with a model and report its solve rate",
     EXAMPLES("guessgym eval", "the embedded policy on the shipped held-out list",
              "guessgym eval --effort low,medium,high", "three runs, one table",
              "guessgym eval -e http://127.0.0.1:8000/v1 -m NAME -n 4 -o runs/name",
              "a model behind an OpenAI-compatible server, 4 plays a word",
              "guessgym eval -o runs/name --resume", "go on with an interrupted run",
              "guessgym eval --min-solve-rate 0.6 --json", "for scripts: exit code 5 when missed"),
     gg_cmd_eval},
    {GG_CMD_ROLLOUT, "rollout", "", 0, 0, "play groups with a model: rewards and advantages",
     EXAMPLES("guessgym rollout --group-size 8 -o runs/groups",
              "8 plays of each task; groups.jsonl holds the advantages",
              "guessgym rollout --reward solve=1,speed=0.5 --limit 32 --advantage rloo",
              "another reward, another baseline, 32 tasks"),
     gg_cmd_rollout},
    {GG_CMD_TRAIN, "train", "", 0, 0, "train the policy on groups of plays, step by step",
     EXAMPLES("guessgym train --effort low -o runs/low",
              "100 steps of 132 tasks x 8 plays on the embedded policy",
              "guessgym eval --adapter runs/low/adapter.json --effort low",
              "then measure it on the held-out list",
              "guessgym train -o runs/low --resume", "go on after an interruption"),
     gg_cmd_train},
    {GG_CMD_COMPARE, "compare", "BEFORE AFTER [AFTER...]", 2, 65, "say by how much one run beats another",
     EXAMPLES("guessgym compare runs/before runs/after", "paired by task, with an interval",
              "guessgym compare runs/before runs/after --by reward --json", "for scripts"),
     gg_cmd_compare},
    {GG_CMD_RESCORE, "rescore", "RUN", 1, 1, "what other rewards would have paid for a saved run",
     EXAMPLES("guessgym rescore runs/groups", "the run's own reward: signal, and holes",
              "guessgym rescore runs/groups -r solve -r tutorial -r my.lua",
              "three rewards side by side, without playing again"),
     gg_cmd_rescore},
    {GG_CMD_SHAPE, "shape", "", 0, 0, "train under several rewards and see which one solves more",
     EXAMPLES("guessgym shape -r solve -r tutorial", "two rewards, three seeds each, the same tasks",
              "guessgym shape -r solve -r my.lua --seeds 5 --steps 40 -o runs/lab",
              "a script against the plain reward, shorter, more seeds"),
     gg_cmd_shape},
    {GG_CMD_REPORT, "report", "RUN [RUN2]", 1, 2, "one HTML page: figures, curves, every play",
     EXAMPLES("guessgym report runs/mine", "runs/mine/report.html",
              "guessgym report runs/before runs/after -o after.html",
              "before and after, what flipped first"),
     gg_cmd_report},
    {GG_CMD_VIEW, "view", "RUN", 1, 1, "look at the plays of a run, one at a time",
     EXAMPLES("guessgym view runs/mine --filter lost", "n and p go on and back, f filters",
              "guessgym view runs/mine --id s0-g3-1 | less", "one play, to a pipe"),
     gg_cmd_view},
    {GG_CMD_PREFLIGHT, "preflight", "", 0, 0, "what would make a managed job fail, before it costs anything",
     EXAMPLES("guessgym preflight --config job.json --baseline runs/groups",
              "a plan from a file, and what plays of the base model say of it",
              "guessgym preflight --config job.json --trust trust.json --permissions job-permissions.json",
              "the role's documents too"),
     gg_cmd_preflight},
    {GG_CMD_JOB_LIST, "job list", "", 0, 0, "the managed jobs of an account, newest first", NULL,
     gg_cmd_job_list},
    {GG_CMD_JOB_DESCRIBE, "job describe", "NAME", 1, 1, "how a managed job stands", NULL,
     gg_cmd_job_describe},
    {GG_CMD_JOB_FOLLOW, "job follow", "NAME", 1, 1, "watch a managed job to its end",
     EXAMPLES("guessgym job follow my-job --region us-west-2", "steps, plays, tokens, cost so far",
              "guessgym job follow my-job --service-url http://127.0.0.1:8070",
              "on a service of your own"),
     gg_cmd_job_follow},
    {GG_CMD_JOB_STOP, "job stop", "NAME", 1, 1, "stop a managed job; its last checkpoint stays", NULL,
     gg_cmd_job_stop},
    {GG_CMD_MLFLOW_PUSH, "mlflow-push", "RUN...", 1, 64, "log a saved run to an MLflow server, or what it has not got yet",
     EXAMPLES("guessgym mlflow-push runs/name --mlflow http://127.0.0.1:5000",
              "run, params, metrics, files and a trace an episode",
              "guessgym mlflow-push runs/name", "again, after an outage: only what is missing"),
     gg_cmd_mlflow_push},
    {GG_CMD_SERVE_POLICY, "serve policy", "", 0, 0,
     "serve an embedded policy as an OpenAI-compatible endpoint",
     EXAMPLES("guessgym serve policy --listen 127.0.0.1:8000", "letters on port 8000",
              "guessgym serve policy --policy entropy --listen 127.0.0.1:0",
              "a baseline on any free port; the address is printed"),
     gg_cmd_serve_policy},
    {GG_CMD_SERVE_SERVICE, "serve service", "", 0, 0,
     "serve a local stand-in for the managed training service",
     EXAMPLES("guessgym serve service --state service",
              "sessions and checkpoints in the folder service"),
     gg_cmd_serve_service},
    {GG_CMD_SERVE_AGENT, "serve agent", "", 0, 0,
     "serve the agent, which a managed training job calls for each rollout",
     EXAMPLES("guessgym serve agent --region us-west-2",
              "on 127.0.0.1:8080; the token goes to the service's own hosts",
              "guessgym serve agent --runtime-endpoint http://127.0.0.1:8070 --reward tutorial",
              "rollouts of a local service, another reward"),
     gg_cmd_serve_agent},
    {GG_CMD_INDEX, "index", "[FILE...]", 0, GG_ARGUMENTS_ANY,
     "build a search index from a corpus, and tasks from its judgments",
     EXAMPLES("guessgym index --corpus foldoc -o runs/foldoc", "a folder in BEIR's layout",
              "guessgym index --corpus a.jsonl b.jsonl --queries topics.tsv --qrels qrels.txt -o runs/own",
              "a corpus in two files, TREC's judgments"),
     gg_cmd_index},
    {GG_CMD_WORDS_SPLIT, "words split", "", 0, 0, "draw disjoint training, validation, test files",
     EXAMPLES("guessgym words split --train 640 --val 128 --test 256 --seed 42 -o split",
              "the split that ships"),
     gg_cmd_words_split},
    {GG_CMD_WORDS_CHECK, "words check", "[FILE...]", 0, GG_ARGUMENTS_ANY,
     "check lists and datasets, show size, identity and overlap",
     EXAMPLES("guessgym words check", "the shipped lists",
              "guessgym words check --answers my.txt --allowed all.txt", "lists of your own",
              "guessgym words check split/train.jsonl split/test.jsonl",
              "do any two of these files share a word?"),
     gg_cmd_words_check},
    {GG_CMD_MARK, "mark", "[GUESS ANSWER]", 0, 2, "mark a guess: G, Y or B a letter",
     EXAMPLES("guessgym mark speed abide", "BBYBY",
              "guessgym mark < pairs.txt", "one `guess answer` a line"),
     gg_cmd_mark},
    {GG_CMD_PROBE, "probe", "", 0, 0,
     "ask an endpoint once: what it can do, and the options to use with it",
     EXAMPLES("guessgym probe -e http://127.0.0.1:8000/v1", "a server that you have just started",
              "guessgym probe -e http://127.0.0.1:8000/v1 -m NAME --effort low --json",
              "with the options of a run, for scripts"),
     gg_cmd_probe},
    {GG_CMD_ENV_CHECK, "env-check", "[NAME|FILE.so]", 0, 1,
     "walk an environment through its contract and name each rule it breaks",
     EXAMPLES("guessgym env-check ./examples/env-lock/lock.so", "a plug-in, on the tasks it ships",
              "guessgym env-check guess --tasks mine.txt --json", "a built-in, for scripts"),
     gg_cmd_env_check},
    {GG_CMD_HELP, "help", "[COMMAND]", 0, 2, "this page, or a command's", NULL, gg_cmd_help},
    {GG_CMD_VERSION, "version", "", 0, 0, "name and version", NULL, gg_cmd_version},
};
/* clang-format on */

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

const gg_cmd *gg_cmd_at(size_t index)
{
    return index < COMMAND_COUNT ? &commands[index] : NULL;
}

const gg_cmd *gg_cmd_by_id(gg_cmd_id id)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].id == id)
            return &commands[i];
    return NULL;
}

bool gg_cmd_option_used(gg_opt_id id)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (gg_opt_taken_by(id, commands[i].id))
            return true;
    return false;
}

/* "serve" begins "serve policy" but is no command itself. */
static bool is_group(const char *word)
{
    size_t len = strlen(word);

    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strncmp(commands[i].name, word, len) == 0 && commands[i].name[len] == ' ')
            return true;
    return false;
}

static void list_group(const char *word, char *out, size_t room)
{
    size_t len = strlen(word), used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strncmp(commands[i].name, word, len) == 0 && commands[i].name[len] == ' ' &&
            used < room)
            used += (size_t)snprintf(out + used, room - used, "%s%s", used ? ", " : "",
                                     commands[i].name);
}

/* Names that the mistyped word may have meant: whole names, and first words of two-word names. */
static const char *near_command(const char *typed)
{
    static char firsts[COMMAND_COUNT][NAME_ROOM];
    const char *names[2 * COMMAND_COUNT];

    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        snprintf(firsts[i], NAME_ROOM, "%.*s", (int)strcspn(commands[i].name, " "),
                 commands[i].name);
        names[2 * i] = commands[i].name;
        names[2 * i + 1] = firsts[i];
    }
    return gg_near_miss(typed, names, 2 * COMMAND_COUNT);
}

const gg_cmd *gg_cmd_find(int argc, char *const *argv, int *used, gg_error *error)
{
    char typed[NAME_ROOM], list[NAME_ROOM * 4];

    for (*used = argc < 2 ? argc : 2; *used > 0; --*used) {
        snprintf(typed, sizeof typed, *used == 2 ? "%s %s" : "%s", argv[0], argv[1]);
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            if (strcmp(commands[i].name, typed) == 0)
                return &commands[i];
    }
    if (is_group(argv[0])) {
        list_group(argv[0], list, sizeof list);
        bool second = argc > 1 && argv[1][0] != '-';
        snprintf(typed, sizeof typed, second ? "%s %s" : "%s", argv[0], second ? argv[1] : "");
        const char *near = second ? near_command(typed) : NULL;
        if (near)
            gg_fail(error, GG_E_CONFIG, "unknown command %s; did you mean %s?", typed, near);
        else
            gg_fail(error, GG_E_CONFIG, "%s is not a whole command; there are: %s", typed, list);
        return NULL;
    }
    if (argv[0][0] == '-') {
        gg_fail(error, GG_E_CONFIG, "unknown option %s; options come after a command", argv[0]);
        return NULL;
    }
    const char *near = near_command(argv[0]);
    gg_fail(error, GG_E_CONFIG,
            near ? "unknown command %s; did you mean %s?" : "unknown command %s", argv[0], near);
    return NULL;
}
