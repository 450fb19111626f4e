/* The table of options. Parsing, --help, the man page and the completion are made from it. */
#include "cli/options.h"

#include <string.h>

#define BIT(command) (1ull << GG_CMD_##command)
#define RUNS         (BIT(EVAL) | BIT(ROLLOUT))
#define PLAYS        (RUNS | BIT(TRAIN))
#define GAMES        (PLAYS | BIT(PLAY) | BIT(ENV_CHECK) | BIT(PROBE))
#define ASKS         (PLAYS | BIT(PROBE))
#define SERVERS      (BIT(SERVE_POLICY) | BIT(SERVE_SERVICE))
#define AGENT        BIT(SERVE_AGENT)
#define WORDS        (BIT(WORDS_SPLIT) | BIT(WORDS_CHECK))
#define JOBS         (BIT(TRAIN) | BIT(PREFLIGHT))
#define JOB          (BIT(JOB_LIST) | BIT(JOB_DESCRIBE) | BIT(JOB_FOLLOW) | BIT(JOB_STOP))
#define EVERY        (~0ull)

#define COUNT_MAX  1e9
#define SEED_MAX   9007199254740991.0 /* 2^53 - 1: exact in JSON */
#define SECONDS    1e7
#define EFFORTS    "none|minimal|low|medium|high|xhigh|max"
#define LISTEN     "where to listen; port 0 = any free one"
#define TASK       GG_SECTION_TASK
#define PLAYER     GG_SECTION_PLAYER
#define RUN        GG_SECTION_RUN
#define COMMON     GG_SECTION_COMMON
#define OF_RUN     GG_OPT_OF_RUN
#define OF_SETTING (GG_OPT_OF_RUN | GG_OPT_SETTING)

/* name, alias, letter, type, placeholder, default, choices, low, high, traits, section, commands,
 * further variable, help */
static const gg_opt rows[GG_OPT_COUNT] = {
    /* clang-format off */
[GG_OPT_ENV] = {"env", NULL, 0, GG_VALUE_TEXT, "NAME|FILE.so", "guess", NULL, 0, 0, OF_RUN, TASK,
    GAMES | BIT(PREFLIGHT) | BIT(SHAPE) | AGENT, NULL, "the game: a built-in's name or a plug-in"},
[GG_OPT_ENV_SET] = {"env-set", NULL, 0, GG_VALUE_PAIRS, "KEY=VALUE", NULL, NULL, 0, 0, OF_RUN, TASK,
    GAMES | BIT(PREFLIGHT) | BIT(SHAPE) | SERVERS | AGENT, NULL, "a setting of the game; may be given again"},
[GG_OPT_ANSWERS] = {"answers", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, OF_SETTING, TASK,
    GAMES | BIT(PREFLIGHT) | BIT(SHAPE) | SERVERS | AGENT | WORDS, NULL, "word game: words that can be hidden (the shipped list)"},
[GG_OPT_ALLOWED] = {"allowed", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, OF_SETTING, TASK,
    GAMES | BIT(PREFLIGHT) | BIT(SHAPE) | SERVERS | AGENT | WORDS, NULL, "word game: words that can be guessed (the shipped list)"},
[GG_OPT_LENGTH] = {"length", NULL, 0, GG_VALUE_INT, "N", NULL, NULL, 3, 12, OF_SETTING, TASK,
    GAMES | BIT(PREFLIGHT) | BIT(SHAPE) | SERVERS | AGENT | WORDS, NULL, "word game: letters of a word (5)"},
[GG_OPT_GUESSES] = {"guesses", NULL, 0, GG_VALUE_INT, "N", NULL, NULL, 1, 32, OF_SETTING, TASK,
    GAMES | BIT(PREFLIGHT) | BIT(SHAPE) | SERVERS | AGENT, NULL, "word game: guesses a game (6)"},
[GG_OPT_HARD] = {"hard", NULL, 0, GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, OF_SETTING, TASK,
    GAMES | BIT(PREFLIGHT) | BIT(SHAPE) | AGENT, NULL, "word game: refuse a guess that ignores a known hint"},
[GG_OPT_UNLISTED] = {"unlisted", NULL, 0, GG_VALUE_TEXT, "RULE", NULL, "play|reject", 0, 0,
    OF_SETTING, TASK, GAMES | BIT(PREFLIGHT) | BIT(SHAPE) | AGENT, NULL, "word game: a guess that is not in the list"},
[GG_OPT_TASKS] = {"tasks", "words", 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, OF_RUN, TASK,
    GAMES | BIT(PREFLIGHT) | BIT(SHAPE), NULL, "dataset rows (JSON lines with `prompt`) or a plain list; default: the shipped "
    "held-out split (rollout, train: the training split)"},
[GG_OPT_LIMIT] = {"limit", NULL, 0, GG_VALUE_INT, "N", NULL, NULL, 1, COUNT_MAX, OF_RUN, TASK,
    PLAYS, NULL, "only the first N tasks"},
[GG_OPT_SAMPLES] = {"samples", NULL, 'n', GG_VALUE_INT, "N", "1", NULL, 1, 1e6, OF_RUN, TASK,
    BIT(EVAL), NULL, "plays of each task"},
[GG_OPT_GROUP_SIZE] = {"group-size", NULL, 'g', GG_VALUE_INT, "N", "8", NULL, 2, 1e6, OF_RUN, TASK,
    BIT(ROLLOUT) | BIT(TRAIN) | BIT(PREFLIGHT) | BIT(SHAPE), NULL, "plays of each task, which share one baseline"},
[GG_OPT_SYSTEM_PROMPT] = {"system-prompt", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0,
    TASK, ASKS | AGENT, NULL, "replaces the game's system prompt"},
[GG_OPT_REWARD] = {"reward", NULL, 'r', GG_VALUE_TEXT, "REWARD", NULL, NULL, 0, 0, OF_RUN, TASK,
    PLAYS | AGENT | BIT(PLAY), NULL, "a preset (solve, solve-speed, progress, tutorial), a weighted sum of parts "
    "(solve=1,speed=0.5) or a script (my.lua)"},
[GG_OPT_ADVANTAGE] = {"advantage", NULL, 0, GG_VALUE_TEXT, "METHOD", "group_based",
    "group_based|grpo|group_based_per_turn|rloo|grpo_passk|monte_carlo|opo|gpg|reinforce_pp|"
    "reinforce_pp_baseline", 0, 0, OF_RUN, TASK, BIT(ROLLOUT) | BIT(TRAIN) | BIT(PREFLIGHT) | BIT(SHAPE), NULL, "how a group's rewards become "
    "advantages"},
[GG_OPT_SEED] = {"seed", NULL, 's', GG_VALUE_INT, "N", "42", NULL, 0, SEED_MAX, OF_RUN, TASK,
    ASKS | BIT(SHAPE) | SERVERS | AGENT | BIT(COMPARE) | BIT(REPORT) | BIT(WORDS_SPLIT) | BIT(ENV_CHECK), NULL,
    "of everything that is random"},
[GG_OPT_PLAY_SEED] = {"seed", NULL, 's', GG_VALUE_INT, "N", NULL, NULL, 0, SEED_MAX, 0, TASK,
    BIT(PLAY), NULL, "picks the task; without it another one each time"},

[GG_OPT_ENDPOINT] = {"endpoint", NULL, 'e', GG_VALUE_TEXT, "URL|builtin:NAME", NULL, NULL, 0, 0,
    OF_RUN, PLAYER, ASKS, NULL, "an OpenAI-compatible base URL, or an embedded policy; default: the "
    "game's own"},
[GG_OPT_MODEL] = {"model", NULL, 'm', GG_VALUE_TEXT, "NAME", NULL, NULL, 0, 0, OF_RUN, PLAYER,
    ASKS, NULL, "as the endpoint names it; default: the only one it lists"},
[GG_OPT_ADAPTER] = {"adapter", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, OF_RUN, PLAYER,
    ASKS | BIT(SHAPE) | BIT(SERVE_POLICY), NULL, "what training left: adapter.json (embedded policies only)"},
[GG_OPT_FAULTS] = {"faults", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0, PLAYER,
    ASKS | BIT(SERVE_POLICY), NULL, "a script of faults that the embedded policy's endpoint shows"},
[GG_OPT_EFFORT] = {"reasoning-effort", "effort", 0, GG_VALUE_MANY, "EFFORT[,...]", NULL, EFFORTS, 0,
    0, OF_RUN, PLAYER, ASKS | BIT(SHAPE), "REASONING_EFFORT", "sent with every request; several make one run "
    "each and one table"},
[GG_OPT_EFFORT_IN] = {"effort-in", NULL, 0, GG_VALUE_TEXT, "PLACE", "top",
    "top|reasoning-object|template-kwargs|system-line|off", 0, 0, OF_RUN, PLAYER, ASKS | AGENT, NULL,
    "where in the request the effort goes"},
[GG_OPT_TEMPERATURE] = {"temperature", NULL, 't', GG_VALUE_REAL, "T", "1", NULL, 0, 100, OF_RUN,
    PLAYER, ASKS | AGENT | BIT(SHAPE), NULL, "of sampling"},
[GG_OPT_TOP_P] = {"top-p", NULL, 0, GG_VALUE_REAL, "P", "1", NULL, 0, 1, OF_RUN, PLAYER, ASKS | BIT(PREFLIGHT) | AGENT, NULL,
    "of sampling"},
[GG_OPT_MAX_TOKENS] = {"max-tokens", NULL, 0, GG_VALUE_INT, "N", "4096", NULL, 1, COUNT_MAX, OF_RUN,
    PLAYER, ASKS | BIT(PREFLIGHT) | AGENT | BIT(SHAPE), NULL, "most tokens of one reply"},
[GG_OPT_SEND_SEED] = {"send-seed", NULL, 0, GG_VALUE_TEXT, "on|off", "on", "on|off", 0, 0, OF_RUN,
    PLAYER, ASKS, NULL, "send a seed with every request"},
[GG_OPT_ECHO_REASONING] = {"echo-reasoning", NULL, 0, GG_VALUE_TEXT, "WHEN", "auto", "auto|on|off",
    0, 0, OF_RUN, PLAYER, ASKS | AGENT, NULL, "send the thoughts back; auto: where token ids need it"},
[GG_OPT_TOKEN_IDS] = {"token-ids", NULL, 0, GG_VALUE_TEXT, "WHEN", "auto", "auto|on|off", 0, 0,
    OF_RUN, PLAYER, ASKS, NULL, "ask for token ids and log-probabilities; auto: as the endpoint's kind "
    "takes it, not from OpenAI's own, which refuses the question; on: in every known way"},
[GG_OPT_TRAIN_CONSTRAINED] = {"train-constrained", NULL, 0, GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0,
    OF_RUN, PLAYER, ASKS, NULL, "let plays be trained on whose sampling was held to a form (a forced "
    "call, a schema, a grammar); their log-probabilities are not the free model's"},
[GG_OPT_DROP_FIELD] = {"drop-field", NULL, 0, GG_VALUE_LIST, "NAME", NULL, NULL, 0, 0, OF_RUN, PLAYER, ASKS,
    NULL, "a field that the endpoint refuses and is never sent; may be given again"},
[GG_OPT_EXTRA_BODY] = {"extra-body", NULL, 0, GG_VALUE_TEXT, "JSON", NULL, NULL, 0, 0, OF_RUN, PLAYER,
    ASKS, NULL, "an object that is merged into every request last: {\"top_k\": 20}"},
[GG_OPT_MAX_TOKENS_FIELD] = {"max-tokens-field", NULL, 0, GG_VALUE_TEXT, "NAME", "max_tokens",
    "max_tokens|max_completion_tokens", 0, 0, OF_RUN, PLAYER, ASKS, NULL, "the name under which the token "
    "limit is sent"},
[GG_OPT_STREAM] = {"stream", NULL, 0, GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, OF_RUN, PLAYER,
    ASKS | AGENT, NULL, "ask for replies as streams, where a proxy gives up on a silent connection; "
    "plays and records are the same"},
[GG_OPT_TEXT_CALLS] = {"text-calls", NULL, 0, GG_VALUE_TEXT, "on|off", "on", "on|off", 0, 0, OF_RUN,
    PLAYER, ASKS | AGENT, NULL, "accept a tool call that is the whole text of a reply"},
[GG_OPT_NUDGES] = {"nudges", NULL, 0, GG_VALUE_INT, "N", "2", NULL, 0, 100, OF_RUN, PLAYER, ASKS | AGENT,
    NULL, "reminders to a model that answers without a call, before it forfeits"},
[GG_OPT_API_KEY_FILE] = {"api-key-file", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0,
    PLAYER, ASKS, NULL, "the endpoint's key; else $GUESSGYM_API_KEY, else $OPENAI_API_KEY"},

[GG_OPT_CONCURRENCY] = {"concurrency", NULL, 'c', GG_VALUE_INT, "N", "64", NULL, 1, 100000, 0, RUN,
    PLAYS, NULL, "episodes in flight"},
[GG_OPT_ATTEMPTS] = {"attempts", NULL, 0, GG_VALUE_INT, "N", "8", NULL, 1, 1000, 0, RUN, PLAYS | AGENT, NULL,
    "tries of one request before its episode errs"},
[GG_OPT_TIMEOUT] = {"timeout", NULL, 0, GG_VALUE_REAL, "SECONDS", "600", NULL, 0.001, SECONDS, 0,
    RUN, ASKS | AGENT, NULL, "longest wait for one reply"},
[GG_OPT_EPISODE_TIMEOUT] = {"episode-timeout", NULL, 0, GG_VALUE_REAL, "SECONDS", "1800", NULL,
    0.001, SECONDS, 0, RUN, ASKS, NULL, "longest time for one episode"},
[GG_OPT_RUN_TIMEOUT] = {"run-timeout", NULL, 0, GG_VALUE_REAL, "SECONDS", NULL, NULL, 0.001,
    SECONDS, 0, RUN, RUNS, NULL, "then stop as on Ctrl-C (no limit)"},
[GG_OPT_OUTPUT] = {"output", NULL, 'o', GG_VALUE_FOLDER, "DIR", NULL, NULL, 0, 0, 0, RUN, PLAYS | BIT(SHAPE),
    NULL, "run folder; default: a new one under runs/"},
[GG_OPT_RESUME] = {"resume", NULL, 0, GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, GG_OPT_FLAG_ONLY, RUN,
    PLAYS | BIT(SHAPE), NULL, "go on with the run in the folder: plays what is missing and what errored; options left "
    "out are as they were"},
[GG_OPT_MAX_ERRORED] = {"max-errored", NULL, 0, GG_VALUE_INT, "N", "0", NULL, 0, COUNT_MAX, 0, RUN,
    RUNS, NULL, "exit code 4 when more episodes errored"},
[GG_OPT_MIN_SOLVE_RATE] = {"min-solve-rate", NULL, 0, GG_VALUE_REAL, "P", NULL, NULL, 0, 1, 0, RUN,
    RUNS, NULL, "exit code 5 when a solve rate is below (0.6 = 60 %)"},
[GG_OPT_MLFLOW] = {"mlflow", NULL, 0, GG_VALUE_TEXT, "URL", NULL, NULL, 0, 0, 0, RUN,
    PLAYS | BIT(MLFLOW_PUSH), NULL, "log the run to the MLflow server at this address; default: "
    "$MLFLOW_TRACKING_URI (keys: $MLFLOW_TRACKING_TOKEN, or _USERNAME and _PASSWORD)"},
[GG_OPT_MLFLOW_EXPERIMENT] = {"mlflow-experiment", NULL, 0, GG_VALUE_TEXT, "NAME", NULL, NULL, 0, 0,
    0, RUN, PLAYS | BIT(MLFLOW_PUSH), "MLFLOW_EXPERIMENT_NAME", "MLflow's experiment; made when it is not there "
    "(guessgym)"},
[GG_OPT_MLFLOW_TRACES] = {"mlflow-traces", NULL, 0, GG_VALUE_REAL, "SHARE", NULL, NULL, 0, 1, 0, RUN,
    PLAYS | BIT(MLFLOW_PUSH), NULL, "share of the episodes that get a trace, drawn by the seed (1, and about "
    "200 of a longer eval or rollout)"},

[GG_OPT_STEPS] = {"steps", NULL, 0, GG_VALUE_INT, "N", "100", NULL, 1, 1e6, OF_RUN, TASK,
    JOBS, NULL, "training steps"},
[GG_OPT_BATCH] = {"batch", NULL, 'b', GG_VALUE_INT, "N", "132", NULL, 1, 1e6, OF_RUN, TASK,
    BIT(TRAIN), NULL, "tasks a step"},
[GG_OPT_LOSS] = {"loss", NULL, 0, GG_VALUE_TEXT, "LOSS", "ppo",
    "importance_sampling|ppo|cispo|cross_entropy", 0, 0, OF_RUN, TASK, JOBS | BIT(SHAPE), NULL,
    "of the sampled tokens"},
[GG_OPT_LEARNING_RATE] = {"learning-rate", "lr", 0, GG_VALUE_REAL, "R", "0.01", NULL, 1e-12, 0.01,
    OF_RUN, TASK, JOBS | BIT(SHAPE), NULL, "of Adam (0.9, 0.95, 1e-8, clip 1)"},
[GG_OPT_CLIP_LOW] = {"clip-low", NULL, 0, GG_VALUE_REAL, "R", "0.8", NULL, 0, 1, OF_RUN, TASK,
    JOBS | BIT(SHAPE), NULL, "lower bound of the ratio (ppo, cispo)"},
[GG_OPT_CLIP_HIGH] = {"clip-high", NULL, 0, GG_VALUE_REAL, "R", "1.2", NULL, 1, 10, OF_RUN, TASK,
    JOBS | BIT(SHAPE), NULL, "upper bound of the ratio (ppo, cispo)"},
[GG_OPT_MAX_STALENESS] = {"max-staleness", NULL, 0, GG_VALUE_INT, "N", "0", NULL, 0, 10, OF_RUN,
    TASK, JOBS, NULL, "weight versions that a play may be behind; above 0 the next step is "
    "played while one is trained"},
[GG_OPT_VAL] = {"val", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, OF_RUN, TASK, JOBS | BIT(SHAPE),
    NULL, "validation rows; default: the shipped split"},
[GG_OPT_VAL_EVERY] = {"val-every", NULL, 0, GG_VALUE_INT, "N", "10", NULL, 0, 1e6, OF_RUN, TASK,
    JOBS, NULL, "steps between validations; also before the first and after the last; 0 = only "
    "those"},
[GG_OPT_HELD_OUT] = {"held-out", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, OF_RUN, TASK,
    JOBS | BIT(SHAPE), NULL, "never train on these; default: test.jsonl beside the rows, else the shipped "
    "test split"},
[GG_OPT_FROM] = {"from", NULL, 0, GG_VALUE_FOLDER, "RUN", NULL, NULL, 0, 0, OF_RUN, TASK,
    BIT(TRAIN), NULL, "train on the plays of a saved run instead of playing (--loss cross_entropy)"},
[GG_OPT_KEEP] = {"keep", NULL, 0, GG_VALUE_TEXT, "WHAT", "sample:200", NULL, 0, 0, OF_RUN, RUN,
    BIT(TRAIN), NULL, "records to keep: all, none, or sample:N drawn by the seed"},
[GG_OPT_MAX_TOTAL_TOKENS] = {"max-total-tokens", NULL, 0, GG_VALUE_INT, "N", NULL, NULL, 1, 1e15, 0,
    RUN, BIT(TRAIN), NULL, "stop after the step that uses them up"},
[GG_OPT_MAX_COST] = {"max-cost", NULL, 0, GG_VALUE_REAL, "DOLLARS", NULL, NULL, 0.000001, 1e9, 0,
    RUN, JOBS, NULL, "stop after the step that uses it up"},
[GG_OPT_PRICES] = {"prices", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0, RUN, JOBS | JOB,
    NULL, "dollars a million tokens, as JSON; default: a dated table"},
[GG_OPT_PRICE_MODEL] = {"price-model", NULL, 0, GG_VALUE_TEXT, "NAME",
    "openai-reasoning-gpt-oss-20b", NULL, 0, 0, 0, RUN, JOBS | JOB, NULL,
    "whose prices the cost is told in"},
[GG_OPT_ON] = {"on", NULL, 0, GG_VALUE_TEXT, "WHERE", "local", "local|session|job", 0, 0, OF_RUN,
    RUN, BIT(TRAIN), NULL, "who trains: our service on a loopback port, or a training session at "
    "--service-url"},
[GG_OPT_SERVICE_URL] = {"service-url", NULL, 0, GG_VALUE_TEXT, "URL", NULL, NULL, 0, 0, 0, RUN,
    BIT(TRAIN) | JOB, NULL, "address of the training service"},

[GG_OPT_JOB_NAME] = {"job-name", NULL, 0, GG_VALUE_TEXT, "NAME", NULL, NULL, 0, 0, OF_RUN, RUN, JOBS,
    NULL, "job: its name; default: from the output folder"},
[GG_OPT_BASE_MODEL] = {"base-model", NULL, 0, GG_VALUE_TEXT, "ID", NULL, NULL, 0, 0, OF_RUN, RUN, JOBS,
    NULL, "job, session: hub id of the model that is trained"},
[GG_OPT_AGENT] = {"agent", NULL, 0, GG_VALUE_TEXT, "ARN", NULL, NULL, 0, 0, OF_RUN, RUN, JOBS, NULL,
    "job: the agent runtime, or the forwarder function"},
[GG_OPT_ROLE] = {"role", NULL, 0, GG_VALUE_TEXT, "ARN", NULL, NULL, 0, 0, OF_RUN, RUN, JOBS, NULL,
    "job, session: its execution role"},
[GG_OPT_JOB_OUTPUT] = {"s3-output", NULL, 0, GG_VALUE_TEXT, "S3-URI", NULL, NULL, 0, 0, OF_RUN, RUN,
    JOBS, NULL, "job, session: where results and uploaded rows go"},
[GG_OPT_PACKAGE_GROUP] = {"package-group", NULL, 0, GG_VALUE_TEXT, "ARN", NULL, NULL, 0, 0, OF_RUN, RUN,
    JOBS, NULL, "job, session: model package group of the adapters"},
[GG_OPT_CHECKPOINT_GROUP] = {"checkpoint-group", NULL, 0, GG_VALUE_TEXT, "ARN", NULL, NULL, 0, 0, OF_RUN,
    RUN, JOBS, NULL, "job: another one, of the resumable checkpoints"},
[GG_OPT_MLFLOW_ARN] = {"mlflow-arn", NULL, 0, GG_VALUE_TEXT, "ARN", NULL, NULL, 0, 0, OF_RUN, RUN, JOBS,
    NULL, "job: the MLflow app that gets its metrics"},
[GG_OPT_START_PACKAGE] = {"start", NULL, 0, GG_VALUE_TEXT, "ARN", NULL, NULL, 0, 0, OF_RUN, RUN, JOBS,
    NULL, "job: a model package to start from"},
[GG_OPT_ACCEPT_EULA] = {"accept-eula", NULL, 0, GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, OF_RUN, RUN, JOBS,
    NULL, "job: the base model's licence is accepted"},
[GG_OPT_EPOCHS] = {"epochs", NULL, 0, GG_VALUE_INT, "N", NULL, NULL, 1, 1000, OF_RUN, RUN, JOBS, NULL,
    "job: times that it goes through the rows (as many as the steps need)"},
[GG_OPT_HYPER] = {"hyper", NULL, 0, GG_VALUE_LIST, "NAME=VALUE", NULL, NULL, 0, 0, OF_RUN, RUN, JOBS,
    NULL, "job: a hyperparameter by the service's name; may be given again"},
[GG_OPT_JOB_BATCH] = {"batch", NULL, 'b', GG_VALUE_INT, "N", "128", NULL, 1, 1e6, OF_RUN, TASK,
    BIT(PREFLIGHT), NULL, "tasks a step"},
[GG_OPT_JOB_CONCURRENCY] = {"concurrency", NULL, 'c', GG_VALUE_INT, "N", "96", NULL, 1, 100000, 0, RUN,
    BIT(PREFLIGHT), NULL, "plays at a time"},
[GG_OPT_TRUST] = {"trust", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0, RUN, BIT(PREFLIGHT), NULL,
    "trust policy of the job's role"},
[GG_OPT_PERMISSIONS] = {"permissions", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0, RUN,
    BIT(PREFLIGHT), NULL, "permissions of the job's role"},
[GG_OPT_AGENT_PERMISSIONS] = {"agent-permissions", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0,
    RUN, BIT(PREFLIGHT), NULL, "permissions of the agent's role"},
[GG_OPT_BASELINE] = {"baseline", NULL, 0, GG_VALUE_FOLDER, "RUN", NULL, NULL, 0, 0, 0, RUN,
    BIT(PREFLIGHT), NULL, "plays of the base model: what signal to expect, tokens, cost"},

[GG_OPT_REWARDS] = {"reward", NULL, 'r', GG_VALUE_LIST, "REWARD", NULL, NULL, 0, 0, 0, TASK,
    BIT(RESCORE), NULL, "a preset, a weighted sum of parts or a script; may be given again (the "
    "run's own)"},

[GG_OPT_SHAPED] = {"reward", NULL, 'r', GG_VALUE_LIST, "REWARD", NULL, NULL, 0, 0, GG_OPT_NEEDED, TASK,
    BIT(SHAPE), NULL, "a preset, a weighted sum of parts or a script; give one for each training to "
    "compare"},
[GG_OPT_SHAPE_STEPS] = {"steps", NULL, 0, GG_VALUE_INT, "N", "100", NULL, 4, 1e6, 0, TASK, BIT(SHAPE),
    NULL, "training steps"},
[GG_OPT_SHAPE_BATCH] = {"batch", NULL, 'b', GG_VALUE_INT, "N", "32", NULL, 1, 1e6, OF_RUN, TASK,
    BIT(SHAPE), NULL, "tasks a step"},
[GG_OPT_SEEDS] = {"seeds", NULL, 0, GG_VALUE_INT, "K", "3", NULL, 1, 64, 0, TASK, BIT(SHAPE), NULL,
    "trainings of each reward; their seeds count up from --seed"},
[GG_OPT_JOBS] = {"jobs", NULL, 0, GG_VALUE_INT, "N", NULL, NULL, 1, 1024, 0, RUN, BIT(SHAPE), NULL,
    "trainings at a time (one a core)"},

[GG_OPT_BY] = {"by", NULL, 0, GG_VALUE_TEXT, "WHAT", "measure", "measure|solved|reward", 0, 0, 0,
    RUN, BIT(COMPARE), NULL, "the number that is compared"},
[GG_OPT_COMMON] = {"common", NULL, 0, GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, 0, RUN, BIT(COMPARE),
    NULL, "compare the tasks that both runs played when their lists differ"},

[GG_OPT_REPORT_FILE] = {"output", NULL, 'o', GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0, RUN, BIT(REPORT),
    NULL, "the page; - for stdout (report.html in the run's folder, the second's of two)"},
[GG_OPT_REPORT_PLAYS] = {"plays", NULL, 0, GG_VALUE_INT, "N", "10000", NULL, 1, 1e6, 0, RUN, BIT(REPORT),
    NULL, "most plays in the viewer; figures count all"},
[GG_OPT_NO_PLOTS] = {"no-plots", NULL, 0, GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, 0, RUN, BIT(REPORT), NULL,
    "tables instead of gnuplot's curves"},
[GG_OPT_VIEW_FILTER] = {"filter", NULL, 'f', GG_VALUE_TEXT, "WHICH", "all",
    "all|solved|lost|failed|errored|repaired", 0, 0, 0, RUN, BIT(VIEW), NULL, "the plays to begin with"},
[GG_OPT_VIEW_ID] = {"id", NULL, 0, GG_VALUE_TEXT, "ID", NULL, NULL, 0, 0, 0, RUN, BIT(VIEW), NULL,
    "one play, such as s0-g3-1"},

[GG_OPT_POLICY] = {"policy", NULL, 'p', GG_VALUE_TEXT, "NAME", "letters", NULL, 0, 0, 0, PLAYER,
    SERVERS, NULL, "the embedded policy to serve; of a service: the one for models that are not here"},
[GG_OPT_LISTEN_POLICY] = {"listen", NULL, 'l', GG_VALUE_TEXT, "HOST:PORT", "127.0.0.1:8000", NULL,
    0, 0, 0, RUN, BIT(SERVE_POLICY), NULL, LISTEN},
[GG_OPT_LISTEN_SERVICE] = {"listen", NULL, 'l', GG_VALUE_TEXT, "HOST:PORT", "127.0.0.1:8070", NULL,
    0, 0, 0, RUN, BIT(SERVE_SERVICE), NULL, LISTEN},
[GG_OPT_THREADS] = {"threads", NULL, 0, GG_VALUE_INT, "N", NULL, NULL, 1, 1024, 0, RUN, SERVERS,
    NULL, "threads that answer (one a core)"},
[GG_OPT_STATE] = {"state", NULL, 0, GG_VALUE_FOLDER, "DIR", NULL, NULL, 0, 0, 0, RUN,
    BIT(SERVE_SERVICE), NULL, "keep sessions and checkpoints here (a temporary folder)"},
[GG_OPT_S3_ROOT] = {"s3-root", NULL, 0, GG_VALUE_FOLDER, "DIR", NULL, NULL, 0, 0, 0, RUN,
    BIT(SERVE_SERVICE) | BIT(TRAIN), NULL, "s3://BUCKET/KEY is DIR/BUCKET/KEY (s3 in the state "
    "folder)"},
[GG_OPT_S3_ENDPOINT] = {"s3-endpoint", NULL, 0, GG_VALUE_TEXT, "URL", NULL, NULL, 0, 0, 0, RUN,
    BIT(SERVE_SERVICE) | BIT(TRAIN), NULL, "s3:// lies at this S3 endpoint, with the keys of the environment"},
[GG_OPT_AGENT_URL] = {"agent", NULL, 0, GG_VALUE_TEXT, "URL", NULL, NULL, 0, 0, 0, RUN,
    BIT(SERVE_SERVICE), NULL, "the agent that jobs have play, at URL/invocations"},
[GG_OPT_ROLLOUT_TPS] = {"rollout-tps", NULL, 0, GG_VALUE_REAL, "N", "5", NULL, 0, 100000, 0, RUN,
    BIT(SERVE_SERVICE), NULL, "rollouts that a job begins a second (0: no limit)"},
[GG_OPT_ACCOUNT] = {"account", NULL, 0, GG_VALUE_TEXT, "ID", "123456789012", NULL, 0, 0, 0, RUN,
    BIT(SERVE_SERVICE), NULL, "account number in the names the service makes"},

[GG_OPT_LISTEN_AGENT] = {"listen", NULL, 'l', GG_VALUE_TEXT, "HOST:PORT", "127.0.0.1:8080", NULL,
    0, 0, 0, RUN, AGENT, NULL, LISTEN "; a container listens on 0.0.0.0:8080"},
[GG_OPT_AGENT_EFFORT] = {"reasoning-effort", "effort", 0, GG_VALUE_TEXT, "EFFORT", NULL, EFFORTS, 0,
    0, 0, PLAYER, AGENT, "REASONING_EFFORT", "sent with every request ($REASONING_EFFORT)"},
[GG_OPT_PROMPT_HINT] = {"reasoning-prompt-hint", NULL, 0, GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, 0,
    PLAYER, AGENT, "REASONING_PROMPT_HINT", "the system prompt tells the effort too "
    "($REASONING_PROMPT_HINT)"},
[GG_OPT_REGION] = {"region", NULL, 0, GG_VALUE_TEXT, "REGION", NULL, NULL, 0, 0, 0, RUN,
    AGENT | JOBS | JOB,
    "AWS_REGION", "where the service is; of an agent: where a request names none ($AWS_REGION)"},
[GG_OPT_RUNTIME_ENDPOINT] = {"runtime-endpoint", NULL, 0, GG_VALUE_TEXT, "URL", NULL, NULL, 0, 0, 0,
    RUN, AGENT, "RFT_RUNTIME_ENDPOINT", "the runtime where a request names none ($RFT_RUNTIME_ENDPOINT; the region's "
    "own host)"},
[GG_OPT_ALLOW_ENDPOINT] = {"allow-endpoint", NULL, 0, GG_VALUE_LIST, "URL|HOST[:PORT]", NULL, NULL,
    0, 0, 0, RUN, AGENT, NULL, "one more runtime that may have the token; may be given again"},
[GG_OPT_BUDGET] = {"budget", NULL, 0, GG_VALUE_REAL, "SECONDS", "420", NULL, 1, SECONDS, 0, RUN,
    AGENT, "ROLLOUT_BUDGET_SECONDS", "longest time for the play of one rollout ($ROLLOUT_BUDGET_SECONDS)"},
[GG_OPT_REPLY] = {"reply", NULL, 0, GG_VALUE_TEXT, "early|late", "late", "early|late", 0, 0, 0, RUN,
    AGENT, NULL, "answer a rollout at once, or when it is over"},
[GG_OPT_ROLLOUTS] = {"concurrency", NULL, 'c', GG_VALUE_INT, "N", "256", NULL, 1, 100000, 0, RUN,
    AGENT, NULL, "rollouts in flight; more are answered 429"},
[GG_OPT_CORPUS] = {"corpus", NULL, 0, GG_VALUE_FILE, "FILE|DIR", NULL, NULL, 0, 0, GG_OPT_NEEDED,
    TASK, BIT(INDEX), NULL, "documents as JSON lines (_id, title, text), more files after the options; "
    "or a folder with corpus.jsonl, queries.jsonl and qrels/*.tsv"},
[GG_OPT_QUERIES] = {"queries", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0, TASK,
    BIT(INDEX), NULL, "questions: JSON lines (_id, text) or `id TAB text`; default: those beside the "
    "corpus"},
[GG_OPT_QRELS] = {"qrels", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0, TASK, BIT(INDEX), NULL,
    "judgments, BEIR's or TREC's; FILE.tsv becomes FILE.jsonl in the index"},
[GG_OPT_EMBED_URL] = {"embed-url", NULL, 0, GG_VALUE_TEXT, "URL", NULL, NULL, 0, 0, 0, TASK, BIT(INDEX), NULL,
    "vectors from an OpenAI-compatible server at this base URL ($GUESSGYM_EMBED_API_KEY); default: the built-in hashing"},
[GG_OPT_EMBED_MODEL] = {"embed-model", NULL, 0, GG_VALUE_TEXT, "NAME", NULL, NULL, 0, 0, 0, TASK, BIT(INDEX), NULL,
    "its model"},
[GG_OPT_EMBED_BYTES] = {"embed-bytes", NULL, 0, GG_VALUE_INT, "N", "8000", NULL, 16, 8000, 0, TASK, BIT(INDEX), NULL,
    "bytes of a document that are sent to it, at most"},
[GG_OPT_INDEX_OUTPUT] = {"output", NULL, 'o', GG_VALUE_FOLDER, "DIR", NULL, NULL, 0, 0, GG_OPT_NEEDED,
    RUN, BIT(INDEX), NULL, "folder of the index"},

[GG_OPT_TRAIN_ROWS] = {"train", NULL, 0, GG_VALUE_INT, "N", "640", NULL, 0, COUNT_MAX, 0, TASK,
    BIT(WORDS_SPLIT), NULL, "rows of train.jsonl"},
[GG_OPT_VAL_ROWS] = {"val", NULL, 0, GG_VALUE_INT, "N", "128", NULL, 0, COUNT_MAX, 0, TASK,
    BIT(WORDS_SPLIT), NULL, "rows of val.jsonl"},
[GG_OPT_TEST_ROWS] = {"test", NULL, 0, GG_VALUE_INT, "N", "256", NULL, 0, COUNT_MAX, 0, TASK,
    BIT(WORDS_SPLIT), NULL, "rows of test.jsonl"},
[GG_OPT_SPLIT_OUTPUT] = {"output", NULL, 'o', GG_VALUE_FOLDER, "DIR", NULL, NULL, 0, 0,
    GG_OPT_NEEDED, RUN, BIT(WORDS_SPLIT), NULL, "folder for the three files"},

[GG_OPT_JSON] = {"json", NULL, 'j', GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, 0, COMMON,
    GAMES | BIT(PREFLIGHT) | JOB | BIT(SHAPE) | WORDS | BIT(COMPARE) | BIT(RESCORE) | BIT(MLFLOW_PUSH) | BIT(INDEX) | BIT(MARK) | BIT(VERSION), NULL,
    "the result as JSON, with stable keys"},
[GG_OPT_QUIET] = {"quiet", NULL, 'q', GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, 0, COMMON,
    ASKS | JOB | BIT(SHAPE) | SERVERS | AGENT | BIT(INDEX), NULL, "no progress, no remarks: only results, warnings and errors"},
[GG_OPT_NO_COLOR] = {"no-color", NULL, 0, GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, 0, COMMON,
    GAMES | BIT(PREFLIGHT) | BIT(SHAPE) | BIT(COMPARE) | BIT(RESCORE) | BIT(VIEW), NULL, "plain text; so does the variable NO_COLOR"},
[GG_OPT_CONFIG] = {"config", NULL, 0, GG_VALUE_FILE, "FILE", NULL, NULL, 0, 0, 0, COMMON, EVERY,
    NULL, "options as JSON, with the keys of run.json"},
[GG_OPT_HELP] = {"help", NULL, 'h', GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, GG_OPT_FLAG_ONLY, COMMON,
    EVERY, NULL, "this page"},
[GG_OPT_VERSION] = {"version", NULL, 'V', GG_VALUE_FLAG, NULL, NULL, NULL, 0, 0, GG_OPT_FLAG_ONLY,
    COMMON, EVERY, NULL, "name and version"},
    /* clang-format on */
};

const gg_opt *gg_opt_row(gg_opt_id id)
{
    return &rows[id];
}

bool gg_opt_taken_by(gg_opt_id id, gg_cmd_id command)
{
    return rows[id].commands >> command & 1;
}

static bool is(const char *known, const char *name, size_t len)
{
    return known && strlen(known) == len && memcmp(known, name, len) == 0;
}

gg_opt_id gg_opt_named(gg_cmd_id command, const char *name, size_t len)
{
    for (int id = 0; id < GG_OPT_COUNT; id++)
        if (gg_opt_taken_by((gg_opt_id)id, command) &&
            (is(rows[id].name, name, len) || is(rows[id].alias, name, len)))
            return (gg_opt_id)id;
    return GG_OPT_COUNT;
}

gg_opt_id gg_opt_lettered(gg_cmd_id command, char letter)
{
    for (int id = 0; letter && id < GG_OPT_COUNT; id++)
        if (gg_opt_taken_by((gg_opt_id)id, command) && rows[id].letter == letter)
            return (gg_opt_id)id;
    return GG_OPT_COUNT;
}
