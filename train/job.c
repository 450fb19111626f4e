#include "train/job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/call.h"

#define BODY_MAX     (1u << 20)
#define PAGE         "100"
#define PAGES_MAX    1000
#define HUB_MODEL    ":aws:hub-content/SageMakerPublicHub/Model/"
#define RUNTIME_PART ":bedrock-agentcore:"

/* ---- the document ---- */

static void member(gg_buf *out, const char *name, const char *value)
{
    gg_buf_printf(out, "\"%s\":", name);
    gg_buf_json_str(out, value);
}

static void write_agent(const gg_job_plan *plan, gg_buf *out)
{
    bool runtime = plan->agent && strstr(plan->agent, RUNTIME_PART);

    gg_buf_printf(out, "\"AgentConfig\":{\"%s\":{",
                  runtime ? "BedrockAgentCoreConfig" : "CustomAgentLambdaConfig");
    member(out, runtime ? "AgentRuntimeArn" : "LambdaArn", plan->agent);
    gg_buf_str(out, runtime ? ",\"Qualifier\":\"DEFAULT\"}}" : "}}");
}

static void write_channel(const char *name, const char *uri, bool first, gg_buf *out)
{
    gg_buf_str(out, first ? "{" : ",{");
    member(out, "ChannelName", name);
    gg_buf_str(out, ",\"DataSource\":{\"S3DataSource\":{\"S3DataType\":\"S3Prefix\",");
    member(out, "S3Uri", uri);
    gg_buf_str(out, "}}}");
}

static void write_training(const gg_job_plan *plan, gg_buf *out)
{
    gg_buf_printf(out, ",\"TrainingConfig\":{\"BaseModelArn\":\"arn:aws:sagemaker:%s" HUB_MODEL,
                  plan->region);
    gg_buf_json_part(out, plan->base_model, strlen(plan->base_model));
    gg_buf_printf(out, "\",\"AcceptEula\":%s", plan->accept_eula ? "true" : "false");
    if (plan->mlflow) {
        gg_buf_str(out, ",\"MlflowConfig\":{");
        member(out, "MlflowResourceArn", plan->mlflow);
        gg_buf_char(out, '}');
    }
    gg_buf_str(out, ",\"HyperParameters\":{");
    for (size_t i = 0; i < plan->value_count; i++) {
        gg_buf_str(out, i ? "," : "");
        gg_buf_json_str(out, plan->values[i].name);
        gg_buf_char(out, ':');
        gg_buf_json_str(out, plan->values[i].text);
    }
    gg_buf_str(out, "}}");
}

void gg_remote_job_document(const gg_job_plan *plan, const gg_remote_job_data *data, gg_buf *out)
{
    gg_buf_char(out, '{');
    write_agent(plan, out);
    gg_buf_str(out, ",\"InputDataConfig\":[");
    write_channel("train", data->train, true, out);
    if (data->validation)
        write_channel("validation", data->validation, false, out);
    gg_buf_str(out, "],\"OutputDataConfig\":{");
    member(out, "S3OutputPath", plan->output);
    gg_buf_str(out, "},\"ModelPackageConfig\":{");
    member(out, "OutputModelPackageGroupArn", plan->package_group);
    gg_buf_char(out, ',');
    member(out, "IntermediateCheckpointModelPackageGroupArn", plan->checkpoint_group);
    if (plan->start) {
        gg_buf_char(out, ',');
        member(out, "InputModelPackageArn", plan->start);
    }
    gg_buf_char(out, '}');
    write_training(plan, out);
    gg_buf_char(out, '}');
}

/* ---- calls ---- */

static gg_status call(const gg_remote_job_client *client, const char *operation, gg_buf *body,
                      cJSON **out, gg_error *error)
{
    gg_status status = gg_buf_status(body, operation, error);
    if (status == GG_OK)
        status = gg_control_wait(client->loop, client->control, operation, body, client->given_up,
                                 out, error);
    return status;
}

/* {"JobName":...,"JobCategory":...: the caller closes it. */
static void begin(gg_buf *body, const char *name)
{
    gg_buf_init(body, BODY_MAX);
    gg_buf_char(body, '{');
    member(body, "JobName", name);
    gg_buf_str(body, ",\"JobCategory\":\"" GG_JOB_CATEGORY "\"");
}

static void copy(char *out, size_t room, const char *text)
{
    snprintf(out, room, "%s", text ? text : "");
}

gg_status gg_remote_job_create(const gg_remote_job_client *client, const gg_job_plan *plan,
                               const gg_remote_job_data *data, char arn[GG_JOB_ARN_MAX + 1],
                               gg_error *error)
{
    gg_buf body, document;
    cJSON *reply = NULL;

    gg_buf_init(&document, BODY_MAX);
    gg_remote_job_document(plan, data, &document);
    begin(&body, plan->name);
    gg_buf_char(&body, ',');
    member(&body, "RoleArn", plan->role);
    gg_buf_str(&body, ",\"JobConfigSchemaVersion\":\"" GG_JOB_SCHEMA "\",");
    member(&body, "JobConfigDocument", gg_buf_cstr(&document));
    gg_buf_char(&body, '}');
    gg_status status = gg_buf_status(&document, "a job's document", error);
    if (status == GG_OK)
        status = call(client, "CreateJob", &body, &reply, error);
    if (status == GG_OK && !gg_json_text(reply, "JobArn"))
        status = gg_fail(error, GG_E_PROTOCOL, "%s answered CreateJob without a JobArn",
                         gg_endpoint_shown(client->control));
    if (status == GG_OK)
        copy(arn, GG_JOB_ARN_MAX + 1, gg_json_text(reply, "JobArn"));
    cJSON_Delete(reply);
    gg_buf_free(&body);
    gg_buf_free(&document);
    return status;
}

gg_status gg_remote_job_stop(const gg_remote_job_client *client, const char *name, gg_error *error)
{
    gg_buf body;
    cJSON *reply = NULL;

    begin(&body, name);
    gg_buf_char(&body, '}');
    gg_status status = call(client, "StopJob", &body, &reply, error);
    cJSON_Delete(reply);
    gg_buf_free(&body);
    return status;
}

/* ---- what it tells ---- */

static int64_t whole(const cJSON *object, const char *name)
{
    int64_t value;
    return gg_json_int(object, name, &value) ? value : -1;
}

static double moment(const cJSON *object, const char *name)
{
    double value = 0;
    return gg_json_number(object, name, &value) && isfinite(value) ? value : 0;
}

/* The step form, or the epoch form. */
static void read_progress(const cJSON *output, gg_remote_job_state *out)
{
    const cJSON *progress = gg_json_get(output, "ProgressInfo");
    int64_t epochs = whole(progress, "MaxEpoch"), in_epoch = whole(progress, "StepsPerEpoch"),
            epoch = whole(progress, "CurrentEpoch");

    out->step = whole(progress, "CurrentStep");
    out->steps = whole(progress, "MaxSteps");
    if (out->steps < 0 && epochs > 0 && in_epoch > 0) {
        out->steps = epochs * in_epoch;
        out->step = (epoch > 0 ? epoch : 0) * in_epoch + (out->step > 0 ? out->step : 0);
    }
}

/* What the service writes into the document while it works. */
static void read_document(const char *text, gg_remote_job_state *out)
{
    cJSON *root = NULL;

    if (!text || gg_json_parse(text, strlen(text), &root, NULL) != GG_OK)
        return;
    const cJSON *output = gg_json_get(root, "ServiceOutput");
    const cJSON *rollouts = gg_json_get(output, "RolloutInfo"),
                *tokens = gg_json_get(output, "BillableTokenUsage");
    read_progress(output, out);
    copy(out->output, sizeof out->output,
         gg_json_text(gg_json_get(root, "OutputDataConfig"), "S3OutputPath"));
    copy(out->package, sizeof out->package, gg_json_text(output, "OutputModelPackageArn"));
    out->rollouts_done = whole(rollouts, "Completed");
    out->rollouts = whole(rollouts, "Total");
    out->prefill = whole(tokens, "PrefillTokenCount");
    out->sample = whole(tokens, "SampleTokenCount");
    out->train = whole(tokens, "TrainTokenCount");
    cJSON_Delete(root);
}

static void read_job(const cJSON *reply, const char *secondary, gg_remote_job_state *out)
{
    *out = (gg_remote_job_state){.step = -1,
                                 .steps = -1,
                                 .rollouts_done = -1,
                                 .rollouts = -1,
                                 .prefill = -1,
                                 .sample = -1,
                                 .train = -1};
    copy(out->name, sizeof out->name, gg_json_text(reply, "JobName"));
    copy(out->arn, sizeof out->arn, gg_json_text(reply, "JobArn"));
    copy(out->status, sizeof out->status, gg_json_text(reply, "JobStatus"));
    copy(out->secondary, sizeof out->secondary, gg_json_text(reply, secondary));
    copy(out->failure, sizeof out->failure, gg_json_text(reply, "FailureReason"));
    out->created_s = moment(reply, "CreationTime");
    out->ended_s = moment(reply, "EndTime");
}

gg_status gg_remote_job_describe(const gg_remote_job_client *client, const char *name,
                                 gg_remote_job_state *out, gg_error *error)
{
    gg_buf body;
    cJSON *reply = NULL;

    begin(&body, name);
    gg_buf_char(&body, '}');
    gg_status status = call(client, "DescribeJob", &body, &reply, error);
    if (status == GG_OK && !gg_json_text(reply, "JobStatus"))
        status = gg_fail(error, GG_E_PROTOCOL, "%s described job %s without a JobStatus",
                         gg_endpoint_shown(client->control), name);
    if (status == GG_OK) {
        read_job(reply, "SecondaryStatus", out);
        read_document(gg_json_text(reply, "JobConfigDocument"), out);
    }
    cJSON_Delete(reply);
    gg_buf_free(&body);
    return status;
}

static gg_status each_summary(const cJSON *reply, gg_remote_job_fn each, void *context,
                              gg_error *error)
{
    const cJSON *item;
    gg_remote_job_state job;

    cJSON_ArrayForEach(item, gg_json_get(reply, "JobSummaries"))
    {
        read_job(item, "JobSecondaryStatus", &job);
        gg_status status = each(context, &job, error);
        if (status != GG_OK)
            return status;
    }
    return GG_OK;
}

gg_status gg_remote_job_list(const gg_remote_job_client *client, gg_remote_job_fn each,
                             void *context, gg_error *error)
{
    gg_status status = GG_OK;
    cJSON *reply = NULL;
    gg_buf body;

    gg_buf_init(&body, BODY_MAX);
    for (int page = 0; status == GG_OK && page < PAGES_MAX; page++) {
        const char *next = gg_json_text(reply, "NextToken");
        if (reply && (!next || !*next))
            break;
        gg_buf_reset(&body);
        gg_buf_str(&body, "{\"JobCategory\":\"" GG_JOB_CATEGORY "\",\"MaxResults\":" PAGE
                          ",\"SortBy\":\"CreationTime\",\"SortOrder\":\"Descending\"");
        if (next) {
            gg_buf_char(&body, ',');
            member(&body, "NextToken", next);
        }
        gg_buf_char(&body, '}');
        cJSON_Delete(reply);
        reply = NULL;
        status = call(client, "ListJobs", &body, &reply, error);
        if (status == GG_OK)
            status = each_summary(reply, each, context, error);
    }
    cJSON_Delete(reply);
    gg_buf_free(&body);
    return status;
}

bool gg_remote_job_ended(const gg_remote_job_state *job)
{
    static const char *const ends[] = {"Completed", "Failed", "Stopped", "Deleting",
                                       "DeleteFailed"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(job->status, ends[i]) == 0)
            return true;
    return false;
}

bool gg_remote_job_completed(const gg_remote_job_state *job)
{
    return strcmp(job->status, "Completed") == 0;
}
