#include "service/job_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "service/store.h"

#define RUNTIME_MAX_S 259200

static const char *const categories[GG_JOB_CATEGORIES] = {"AgentRFT", "AgentRFTEvaluation"};

const char *gg_job_category_name(gg_job_category category)
{
    return categories[category];
}

gg_job_category gg_job_category_parse(const char *name)
{
    size_t i = 0;
    while (i < GG_JOB_CATEGORIES && !(name && strcmp(categories[i], name) == 0))
        i++;
    return (gg_job_category)i;
}

static gg_hyper_of hyper_of(gg_job_category category)
{
    return category == GG_JOB_TRAIN ? GG_HYPER_TRAIN : GG_HYPER_EVALUATE;
}

void gg_job_config_free(gg_job_config *config)
{
    free(config->data_uri);
    free(config->validation_uri);
    free(config->output_path);
    free(config->input_package);
    *config = (gg_job_config){0};
}

typedef struct reading {
    gg_job_config *out;
    gg_job_key_fn unknown;
    void *context;
    gg_error *error;
} reading;

static gg_status refuse(reading *r, const char *sentence)
{
    return gg_fail(r->error, GG_E_ARGUMENT, "JobConfigDocument: %s", sentence);
}

/* Tells of members that are not in the list. */
static void look_for_unknown(reading *r, const cJSON *object, const char *const *names)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        size_t i = 0;
        while (names[i] && strcmp(names[i], item->string) != 0)
            i++;
        if (!names[i] && r->unknown)
            r->unknown(r->context, item->string);
    }
}

/* A required section, an object. */
static gg_status section(reading *r, const cJSON *root, const char *name, const cJSON **out)
{
    *out = gg_json_get(root, name);
    return cJSON_IsObject(*out)
               ? GG_OK
               : gg_fail(r->error, GG_E_ARGUMENT, "JobConfigDocument: %s is missing", name);
}

static gg_status text(reading *r, const cJSON *object, const char *name, gg_text_kind kind,
                      const char **out)
{
    *out = gg_json_text(object, name);
    if (*out && gg_text_is(*out, kind))
        return GG_OK;
    return gg_fail(r->error, GG_E_ARGUMENT,
                   "JobConfigDocument: %s%s%.200s must satisfy the pattern %s", name,
                   *out ? " " : "", *out ? *out : " is missing;", gg_text_pattern(kind));
}

static gg_status copy(reading *r, const char *from, char **out)
{
    *out = strdup(from);
    return *out ? GG_OK : gg_fail(r->error, GG_E_MEMORY, "out of memory for a job");
}

/* ---- the sections ---- */

static gg_status read_agent(reading *r, const cJSON *root)
{
    const cJSON *agent, *core, *lambda;
    const char *arn;
    gg_status status = section(r, root, "AgentConfig", &agent);
    if (status != GG_OK)
        return status;
    core = gg_json_get(agent, "BedrockAgentCoreConfig");
    lambda = gg_json_get(agent, "CustomAgentLambdaConfig");
    if (!core == !lambda)
        return refuse(r, "AgentConfig needs either BedrockAgentCoreConfig or "
                         "CustomAgentLambdaConfig");
    return core ? text(r, core, "AgentRuntimeArn", GG_TEXT_RUNTIME_ARN, &arn)
                : text(r, lambda, "LambdaArn", GG_TEXT_LAMBDA_ARN, &arn);
}

static gg_status read_source(reading *r, const cJSON *channel, const char *name, char **out)
{
    const cJSON *source = gg_json_get(channel, "DataSource");
    const cJSON *s3 = gg_json_get(source, "S3DataSource");
    const char *uri = gg_json_text(s3, "S3Uri"), *type = gg_json_text(s3, "S3DataType");
    if (gg_json_get(source, "DatasetSource"))
        return refuse(r, "a DatasetArn cannot be read here; name the data by S3DataSource");
    if (!uri || !gg_store_is_uri(uri))
        return gg_fail(r->error, GG_E_ARGUMENT,
                       "JobConfigDocument: channel %s needs DataSource.S3DataSource.S3Uri, an "
                       "address s3://BUCKET/KEY",
                       name);
    if (type && strcmp(type, "S3Prefix") != 0)
        return refuse(r, "S3DataType must be S3Prefix");
    if (*out)
        return gg_fail(r->error, GG_E_ARGUMENT, "JobConfigDocument: channel %s is there twice",
                       name);
    return copy(r, uri, out);
}

static gg_status read_input(reading *r, const cJSON *root)
{
    const cJSON *channels = gg_json_get(root, "InputDataConfig"), *channel;
    bool training = r->out->category == GG_JOB_TRAIN;
    const char *wanted = training ? "train" : "evaluation";
    gg_status status = GG_OK;
    if (!cJSON_IsArray(channels))
        return refuse(r, "InputDataConfig must be a list of channels");
    cJSON_ArrayForEach(channel, channels)
    {
        const char *name = gg_json_text(channel, "ChannelName");
        if (status != GG_OK)
            break;
        if (name && strcmp(name, wanted) == 0)
            status = read_source(r, channel, name, &r->out->data_uri);
        else if (name && training && strcmp(name, "validation") == 0)
            status = read_source(r, channel, name, &r->out->validation_uri);
        else
            status = refuse(r, training ? "a ChannelName must be train or validation"
                                        : "the ChannelName must be evaluation");
    }
    if (status == GG_OK && !r->out->data_uri)
        status = refuse(r, training ? "InputDataConfig needs the channel train"
                                    : "InputDataConfig needs the channel evaluation");
    return status;
}

static gg_status read_mlflow(reading *r, const cJSON *mlflow)
{
    const char *arn;
    return mlflow ? text(r, mlflow, "MlflowResourceArn", GG_TEXT_MLFLOW_ARN, &arn) : GG_OK;
}

static gg_status read_output(reading *r, const cJSON *root)
{
    const cJSON *output;
    gg_status status = section(r, root, "OutputDataConfig", &output);
    const char *path = status == GG_OK ? gg_json_text(output, "S3OutputPath") : NULL, *key;
    if (status != GG_OK)
        return status;
    if (!path || !gg_store_is_uri(path))
        return refuse(r, "OutputDataConfig needs S3OutputPath, an address s3://BUCKET/PREFIX");
    if (gg_json_get(output, "KmsKeyArn") &&
        (status = text(r, output, "KmsKeyArn", GG_TEXT_KMS_KEY, &key)) != GG_OK)
        return status;
    status = copy(r, path, &r->out->output_path);
    for (size_t len = status == GG_OK ? strlen(path) : 0;
         len > strlen("s3://b") && r->out->output_path[len - 1] == '/'; len--)
        r->out->output_path[len - 1] = '\0';
    return status == GG_OK ? read_mlflow(r, gg_json_get(output, "MlflowConfig")) : status;
}

static gg_status read_group(reading *r, const cJSON *packages, const char *name, char *out)
{
    const char *arn;
    gg_status status = text(r, packages, name, GG_TEXT_GROUP_ARN, &arn);
    if (status == GG_OK && !gg_group_of_arn(arn, out, GG_NAME_MAX + 1))
        status = refuse(r, "a model package group's name is too long");
    return status;
}

static gg_status read_packages(reading *r, const cJSON *root)
{
    const cJSON *packages = gg_json_get(root, "ModelPackageConfig");
    const char *input;
    bool training = r->out->category == GG_JOB_TRAIN;
    gg_status status = GG_OK;
    if (training) {
        status = section(r, root, "ModelPackageConfig", &packages);
        if (status == GG_OK)
            status = read_group(r, packages, "OutputModelPackageGroupArn", r->out->output_group);
        if (status == GG_OK)
            status = read_group(r, packages, "IntermediateCheckpointModelPackageGroupArn",
                                r->out->checkpoint_group);
        if (status == GG_OK && strcmp(r->out->output_group, r->out->checkpoint_group) == 0)
            status = refuse(r, "OutputModelPackageGroupArn and "
                               "IntermediateCheckpointModelPackageGroupArn must differ");
    }
    if (status != GG_OK || !gg_json_get(packages, "InputModelPackageArn"))
        return status;
    status = text(r, packages, "InputModelPackageArn", GG_TEXT_PACKAGE_ARN, &input);
    return status == GG_OK ? copy(r, input, &r->out->input_package) : status;
}

static gg_status read_model(reading *r, const cJSON *root)
{
    const cJSON *config;
    const char *arn;
    bool eula = false;
    gg_status status = section(
        r, root, r->out->category == GG_JOB_TRAIN ? "TrainingConfig" : "EvaluationConfig", &config);
    if (status == GG_OK)
        status = text(r, config, "BaseModelArn", GG_TEXT_HUB_MODEL_ARN, &arn);
    if (status != GG_OK)
        return status;
    if (!gg_hub_model(arn, r->out->base_id, sizeof r->out->base_id, r->out->base_version,
                      sizeof r->out->base_version))
        return refuse(r, "BaseModelArn names no model");
    if (gg_json_get(config, "AcceptEula") && !gg_json_bool(config, "AcceptEula", &eula))
        return refuse(r, "AcceptEula must be true or false");
    status = read_mlflow(r, gg_json_get(config, "MlflowConfig"));
    return status == GG_OK
               ? gg_hyper_read(hyper_of(r->out->category), r->out->base_id,
                               gg_json_get(config, "HyperParameters"), &r->out->hyper, r->error)
               : status;
}

static gg_status read_stopping(reading *r, const cJSON *root)
{
    const cJSON *stopping = gg_json_get(root, "StoppingCondition");
    double *seconds = &r->out->max_runtime_s;
    *seconds = GG_JOB_RUNTIME_S;
    if (!stopping)
        return GG_OK;
    bool there = gg_json_number(stopping, "MaxRuntimeInSeconds", seconds);
    bool fine = there && *seconds >= 1 && *seconds <= RUNTIME_MAX_S && *seconds == floor(*seconds);
    return fine || !gg_json_get(stopping, "MaxRuntimeInSeconds")
               ? GG_OK
               : refuse(r, "MaxRuntimeInSeconds must be a whole number from 1 to 259200");
}

static gg_status read_all(reading *r, const cJSON *root)
{
    static const char *const known[] = {"AgentConfig",      "InputDataConfig",
                                        "OutputDataConfig", "ModelPackageConfig",
                                        "TrainingConfig",   "EvaluationConfig",
                                        "VpcConfig",        "StoppingCondition",
                                        "ServiceOutput",    NULL};
    static gg_status (*const readers[])(reading *, const cJSON *) = {
        read_agent, read_input, read_output, read_packages, read_model, read_stopping};
    gg_status status = cJSON_IsObject(root) ? GG_OK : refuse(r, "it must be a JSON object");
    if (status == GG_OK)
        look_for_unknown(r, root, known);
    for (size_t i = 0; status == GG_OK && i < sizeof readers / sizeof *readers; i++)
        status = readers[i](r, root);
    return status;
}

gg_status gg_job_config_read(gg_job_category category, const char *document, gg_job_config *out,
                             gg_job_key_fn unknown, void *context, gg_error *error)
{
    cJSON *root = NULL;
    *out = (gg_job_config){.category = category};
    reading r = {out, unknown, context, error};
    gg_status status = gg_json_parse(document, strlen(document), &root, error);
    if (status == GG_E_FORMAT)
        status = refuse(&r, "it must be a JSON object");
    if (status == GG_OK)
        status = read_all(&r, root);
    cJSON_Delete(root);
    if (status != GG_OK)
        gg_job_config_free(out);
    return status;
}

/* ---- the schema ---- */

void gg_job_schema_write(gg_job_category category, gg_buf *out)
{
    bool training = category == GG_JOB_TRAIN;
    const char *config = training ? "TrainingConfig" : "EvaluationConfig";
    gg_buf_printf(out,
                  "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"%s\","
                  "\"type\":\"object\",\"required\":[\"AgentConfig\",\"InputDataConfig\","
                  "\"OutputDataConfig\",%s\"%s\"],\"properties\":{\"AgentConfig\":{\"type\":"
                  "\"object\"},\"InputDataConfig\":{\"type\":\"array\"},\"OutputDataConfig\":{"
                  "\"type\":\"object\",\"required\":[\"S3OutputPath\"]},\"ModelPackageConfig\":{"
                  "\"type\":\"object\"},\"StoppingCondition\":{\"type\":\"object\"},\"%s\":{"
                  "\"type\":\"object\",\"required\":[\"BaseModelArn\"],\"properties\":{"
                  "\"BaseModelArn\":{\"type\":\"string\"},\"HyperParameters\":{\"type\":\"object\","
                  "\"additionalProperties\":false,\"properties\":{",
                  categories[category], training ? "\"ModelPackageConfig\"," : "", config, config);
    gg_hyper_schema(hyper_of(category), out);
    gg_buf_str(out, "}}}}}}");
}
