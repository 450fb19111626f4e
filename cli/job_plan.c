#include "cli/job_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPOCHS_MAX 30
#define PAIR_ROOM  256

/* Options that are hyperparameters of the service. */
static const struct {
    gg_opt_id option;
    const char *name;
} values[] = {
    {GG_OPT_STEPS, "max_steps"},
    {GG_OPT_GROUP_SIZE, "group_size"},
    {GG_OPT_ADVANTAGE, "advantage_method"},
    {GG_OPT_LOSS, "loss_fn"},
    {GG_OPT_LEARNING_RATE, "learning_rate"},
    {GG_OPT_CLIP_LOW, "clip_low_threshold"},
    {GG_OPT_CLIP_HIGH, "clip_high_threshold"},
    {GG_OPT_TEMPERATURE, "temperature"},
    {GG_OPT_TOP_P, "sampling_top_p"},
    {GG_OPT_MAX_TOKENS, "sampling_max_tokens"},
    {GG_OPT_VAL_EVERY, "val_every"},
    {GG_OPT_MAX_STALENESS, "max_steps_off_policy"},
};

/* A later value of a name takes the place of an earlier one. */
static gg_status put(gg_job_plan *plan, const char *name, const char *text, gg_error *error)
{
    size_t i = 0;

    while (i < plan->value_count && strcmp(plan->values[i].name, name) != 0)
        i++;
    if (i == GG_PLAN_VALUES_MAX)
        return gg_fail(error, GG_E_CONFIG, "--hyper: more than %d hyperparameters",
                       GG_PLAN_VALUES_MAX);
    gg_plan_value *value = &plan->values[i];
    if (strlen(name) >= sizeof value->name || strlen(text) >= sizeof value->text)
        return gg_fail(error, GG_E_CONFIG, "--hyper: %.40s has a name or a value that is too long",
                       name);
    memcpy(value->name, name, strlen(name) + 1);
    memcpy(value->text, text, strlen(text) + 1);
    plan->value_count += i == plan->value_count;
    return GG_OK;
}

static gg_status put_number(gg_job_plan *plan, const char *name, int64_t value, gg_error *error)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)value);
    return put(plan, name, text, error);
}

/* As many epochs as the steps need, of whole batches each. */
static int64_t epochs(const gg_cli *cli, size_t rows, int64_t batch)
{
    int64_t in_one = (int64_t)rows / batch, steps = gg_opt_int(cli->opts, GG_OPT_STEPS);

    if (gg_opt_given(cli->opts, GG_OPT_EPOCHS))
        return gg_opt_int(cli->opts, GG_OPT_EPOCHS);
    int64_t wanted = in_one > 0 ? (steps + in_one - 1) / in_one : 1;
    return wanted < EPOCHS_MAX ? wanted : EPOCHS_MAX;
}

static gg_status put_pairs(const gg_cli *cli, gg_job_plan *plan, gg_error *error)
{
    char pair[PAIR_ROOM];
    gg_status status = GG_OK;

    for (size_t i = 0;
         status == GG_OK && gg_opt_item(cli->opts, GG_OPT_HYPER, i, pair, sizeof pair); i++) {
        char *value = strchr(pair, '=');
        if (!value || value == pair)
            return gg_fail(error, GG_E_CONFIG, "--hyper: \"%s\" is not NAME=VALUE", pair);
        *value++ = '\0';
        status = put(plan, pair, value, error);
    }
    return status;
}

/* A job's batch and concurrency have other defaults than a local training's. */
static int64_t number_of(const gg_cli *cli, gg_opt_id of_train, gg_opt_id of_job)
{
    bool train = gg_opt_taken_by(of_train, cli->cmd->id);

    if (train && !gg_opt_given(cli->opts, of_train))
        return strtoll(gg_opt_row(of_job)->fallback, NULL, 10);
    return gg_opt_int(cli->opts, train ? of_train : of_job);
}

static gg_status put_values(const gg_cli *cli, size_t rows, gg_job_plan *out, gg_error *error)
{
    int64_t batch = number_of(cli, GG_OPT_BATCH, GG_OPT_JOB_BATCH);
    gg_status status = put_number(out, "global_batch_size", batch, error);

    for (size_t i = 0; status == GG_OK && i < sizeof values / sizeof *values; i++) {
        const char *text = gg_opt_text(cli->opts, values[i].option);
        bool model_decides = values[i].option == GG_OPT_LEARNING_RATE;
        if (text && (!model_decides || gg_opt_given(cli->opts, values[i].option)))
            status = put(out, values[i].name, strcmp(text, "grpo") ? text : "group_based", error);
    }
    if (status == GG_OK)
        status = put_number(out, "rollout_max_concurrency",
                            number_of(cli, GG_OPT_CONCURRENCY, GG_OPT_JOB_CONCURRENCY), error);
    if (status == GG_OK)
        status = put_number(out, "max_epochs", epochs(cli, rows, batch), error);
    return status == GG_OK ? put_pairs(cli, out, error) : status;
}

gg_status gg_cli_job_plan(const gg_cli *cli, size_t rows, gg_job_plan *out, gg_error *error)
{
    const gg_opts *opts = cli->opts;

    *out = (gg_job_plan){
        .name = gg_opt_text(opts, GG_OPT_JOB_NAME),
        .region = gg_opt_text(opts, GG_OPT_REGION),
        .base_model = gg_opt_text(opts, GG_OPT_BASE_MODEL),
        .agent = gg_opt_text(opts, GG_OPT_AGENT),
        .role = gg_opt_text(opts, GG_OPT_ROLE),
        .output = gg_opt_text(opts, GG_OPT_JOB_OUTPUT),
        .package_group = gg_opt_text(opts, GG_OPT_PACKAGE_GROUP),
        .checkpoint_group = gg_opt_text(opts, GG_OPT_CHECKPOINT_GROUP),
        .mlflow = gg_opt_text(opts, GG_OPT_MLFLOW_ARN),
        .start = gg_opt_text(opts, GG_OPT_START_PACKAGE),
        .accept_eula = gg_opt_flag(opts, GG_OPT_ACCEPT_EULA),
    };
    return put_values(cli, rows, out, error);
}
