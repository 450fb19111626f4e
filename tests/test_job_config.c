/* The configuration document of jobs: what it must hold, ranges, defaults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/json.h"
#include "service/job_config.h"

#define ROOM 8192
#define ARN  "arn:aws:sagemaker:us-west-2:123456789012:model-package-group/"
#define HUB  "arn:aws:sagemaker:us-west-2:aws:hub-content/SageMakerPublicHub/Model/"

/* Parts of a document; a row of a table replaces one of them. */
typedef struct parts {
    const char *agent, *input, *output, *packages, *model, *hyper, *more;
} parts;

#define AGENT                                                                                      \
    "{\"BedrockAgentCoreConfig\":{\"AgentRuntimeArn\":\"arn:aws:bedrock-agentcore:us-west-2:"      \
    "123456789012:runtime/agent-AbCdEf0123\"}}"
#define CHANNEL(name, uri)                                                                         \
    "{\"ChannelName\":\"" name "\",\"DataSource\":{\"S3DataSource\":{\"S3DataType\":\"S3Prefix\"," \
    "\"S3Uri\":\"" uri "\"}}}"
#define INPUT  "[" CHANNEL("train", "s3://data/train.jsonl") "]"
#define OUTPUT "{\"S3OutputPath\":\"s3://out/jobs/\"}"
#define PACKAGES                                                                                   \
    "{\"OutputModelPackageGroupArn\":\"" ARN                                                       \
    "models\",\"IntermediateCheckpointModelPackageGroupArn\":\"" ARN "states\"}"

static const parts good = {AGENT, INPUT, OUTPUT, PACKAGES, HUB "letters", "{}", ""};

static void write_training(const parts *p, char out[ROOM])
{
    snprintf(out, ROOM,
             "{\"AgentConfig\":%s,\"InputDataConfig\":%s,\"OutputDataConfig\":%s,"
             "\"ModelPackageConfig\":%s,\"TrainingConfig\":{\"BaseModelArn\":\"%s\","
             "\"HyperParameters\":%s}%s}",
             p->agent, p->input, p->output, p->packages, p->model, p->hyper, p->more);
}

static void write_evaluation(const char *hyper, char out[ROOM])
{
    snprintf(out, ROOM,
             "{\"AgentConfig\":" AGENT ",\"InputDataConfig\":[" CHANNEL(
                 "evaluation", "s3://data/test.csv") "],\"OutputDataConfig\":" OUTPUT
                                                     ",\"EvaluationConfig\":{\"BaseModelArn\":"
                                                     "\"" HUB "letters\",\"HyperParameters\":%s}}",
             hyper);
}

static void expect(gg_job_category category, const char *document, const char *part)
{
    gg_job_config c;
    gg_error error = {0};
    gg_status status = gg_job_config_read(category, document, &c, NULL, NULL, &error);
    if (part ? status != GG_E_ARGUMENT || !strstr(error.text, part) : status != GG_OK)
        fail_msg("want %s, got %d %s for %s", part ? part : "OK", status, error.text, document);
    gg_job_config_free(&c);
}

static void defaults(void **state)
{
    (void)state;
    char text[ROOM];
    gg_job_config c;
    write_training(&good, text);
    assert_int_equal(gg_job_config_read(GG_JOB_TRAIN, text, &c, NULL, NULL, NULL), GG_OK);
    const struct {
        double have, want;
    } rows[] = {
        {(double)c.hyper.batch, 128},
        {(double)c.hyper.group_size, 8},
        {(double)c.hyper.max_epochs, 1},
        {(double)c.hyper.max_steps, 100},
        {(double)c.hyper.val_every, 10},
        {(double)c.hyper.max_tokens, 4096},
        {(double)c.hyper.concurrency, 96},
        {(double)c.hyper.timeout_s, 600},
        {(double)c.hyper.retries, 3},
        {(double)c.hyper.off_policy, 3},
        {c.hyper.temperature, 1},
        {c.hyper.top_p, 1},
        {c.hyper.clip.clip_low, 0.8},
        {c.hyper.clip.clip_high, 1.2},
        {c.hyper.adam.learning_rate, 0.01},
        {c.hyper.adam.beta1, 0.9},
        {c.hyper.adam.beta2, 0.95},
        {c.hyper.adam.eps, 1e-8},
        {c.hyper.adam.weight_decay, 0},
        {c.hyper.adam.clip_norm, 1},
        {c.hyper.rank, 32},
        {c.hyper.alpha, 64},
        {c.hyper.success_threshold, 1},
        {(double)c.hyper.pass_k_count, 6},
        {(double)c.hyper.pass_k[5], 32},
        {c.max_runtime_s, 86400},
        {c.hyper.loss, GG_LOSS_PPO},
        {c.hyper.advantage, GG_ADV_GROUP_BASED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].have != rows[i].want)
            fail_msg("row %zu: %g, not %g", i, rows[i].have, rows[i].want);
    assert_string_equal(c.output_path, "s3://out/jobs");
    assert_string_equal(c.output_group, "models");
    assert_string_equal(c.checkpoint_group, "states");
    assert_null(c.validation_uri);
    gg_job_config_free(&c);
    write_evaluation("{}", text);
    assert_int_equal(gg_job_config_read(GG_JOB_EVALUATE, text, &c, NULL, NULL, NULL), GG_OK);
    assert_int_equal(c.hyper.group_size, 1);
    assert_true(c.hyper.temperature == 0 && c.hyper.top_p == 1 && c.hyper.max_tokens == 4096);
    gg_job_config_free(&c);
}

/* Learning rates, batches and ranks differ by model (the recipes' schemas). */
static void models_have_their_own_defaults(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        double rate;
        int64_t batch, group_size;
        double decay;
    } rows[] = {
        {"letters", 0.01, 128, 8, 0},
        {"openai-reasoning-gpt-oss-20b", 1e-5, 128, 8, 0},
        {"huggingface-vlm-gemma-4-31b-it", 1e-5, 128, 8, 0},
        {"huggingface-vlm-qwen3-6-27b", 4e-5, 128, 8, 0},
        {"nova-textgeneration-lite-v2", 1e-5, 32, 4, 0.01},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[ROOM], model[256];
        parts p = good;
        gg_job_config c;
        snprintf(model, sizeof model, HUB "%s", rows[i].model);
        p.model = model;
        write_training(&p, text);
        assert_int_equal(gg_job_config_read(GG_JOB_TRAIN, text, &c, NULL, NULL, NULL), GG_OK);
        if (c.hyper.adam.learning_rate != rows[i].rate || c.hyper.batch != rows[i].batch ||
            c.hyper.group_size != rows[i].group_size || c.hyper.adam.weight_decay != rows[i].decay)
            fail_msg("%s: %g %d %d %g", rows[i].model, c.hyper.adam.learning_rate,
                     (int)c.hyper.batch, (int)c.hyper.group_size, c.hyper.adam.weight_decay);
        gg_job_config_free(&c);
    }
}

/* One value each: taken (part NULL) or refused with a part of the sentence. */
static void ranges(void **state)
{
    (void)state;
    static const struct {
        const char *hyper, *part;
    } rows[] = {
        {"{\"global_batch_size\":\"64\"}", NULL},
        {"{\"global_batch_size\":32}", NULL},
        {"{\"global_batch_size\":\"10\"}", "global_batch_size must be one of 32, 64, 128"},
        {"{\"global_batch_size\":\"64.5\"}", "global_batch_size must be one of"},
        {"{\"group_size\":\"2\"}", NULL},
        {"{\"group_size\":\"32\"}", NULL},
        {"{\"group_size\":\"1\"}", "group_size must be a whole number from 2 to 32"},
        {"{\"group_size\":\"33\"}", "from 2 to 32"},
        {"{\"group_size\":\"8.5\"}", "whole number"},
        {"{\"group_size\":\"\"}", "whole number"},
        {"{\"group_size\":\"eight\"}", "whole number"},
        {"{\"group_size\":\"0x8\"}", "whole number"},
        {"{\"group_size\":true}", "whole number"},
        {"{\"group_size\":{\"value\":8}}", "one flat list"},
        {"{\"temperature\":\"2\"}", NULL},
        {"{\"temperature\":\"2.01\"}", "temperature must be a number from 0 to 2"},
        {"{\"temperature\":\"-0.1\"}", "from 0 to 2"},
        {"{\"temperature\":\"nan\"}", "from 0 to 2"},
        {"{\"sampling_top_p\":\"1.1\"}", "from 0 to 1"},
        {"{\"sampling_max_tokens\":\"511\"}", "from 512 to 8192"},
        {"{\"sampling_max_tokens\":\"8192\"}", NULL},
        {"{\"clip_low_threshold\":\"1.1\"}", "from 0 to 1"},
        {"{\"clip_high_threshold\":\"0.9\"}", "from 1 to 10"},
        {"{\"max_epochs\":\"31\"}", "from 1 to 30"},
        {"{\"max_epochs\":\"0\"}", "from 1 to 30"},
        {"{\"max_steps\":\"1000\"}", NULL},
        {"{\"max_steps\":\"1001\"}", "from 1 to 1000"},
        {"{\"val_every\":\"0\"}", NULL},
        {"{\"val_every\":\"101\"}", "from 0 to 100"},
        {"{\"learning_rate\":\"0.01\"}", NULL},
        {"{\"learning_rate\":\"1e-5\"}", NULL},
        {"{\"learning_rate\":\"0\"}", "above 0 and at most 0.01"},
        {"{\"learning_rate\":\"0.011\"}", "above 0 and at most 0.01"},
        {"{\"lora_rank\":\"15\"}", "from 16 to 64"},
        {"{\"lora_rank\":\"64\",\"lora_alpha\":\"128\"}", NULL},
        {"{\"lora_alpha\":\"129\"}", "from 16 to 128"},
        {"{\"adam_beta1\":\"1\"}", "from 0 to 0.999999"},
        {"{\"adam_eps\":\"1e-17\"}", "from 1e-16 to 0.01"},
        {"{\"adam_weight_decay\":\"1.5\"}", "from 0 to 1"},
        {"{\"adam_grad_clip_norm\":\"101\"}", "from 0 to 100"},
        {"{\"rollout_max_concurrency\":\"31\"}", "from 32 to 96"},
        {"{\"rollout_max_concurrency\":\"97\"}", "from 32 to 96"},
        {"{\"rollout_timeout\":\"299\"}", "from 300 to 86400"},
        {"{\"rollout_max_retries\":\"0\"}", "from 1 to 10"},
        {"{\"max_steps_off_policy\":\"11\"}", "from 0 to 10"},
        {"{\"advantage_method\":\"rloo\"}", NULL},
        {"{\"advantage_method\":\"grpo_passk\"}", NULL},
        {"{\"advantage_method\":\"none\"}", "advantage_method"},
        {"{\"loss_fn\":\"cispo\"}", NULL},
        {"{\"loss_fn\":\"cross_entropy\"}", "importance_sampling, ppo, cispo"},
        {"{\"pass_k_values\":\"[1,2]\"}", NULL},
        {"{\"pass_k_values\":[1,2]}", NULL},
        {"{\"pass_k_values\":\"[]\"}", "pass_k_values"},
        {"{\"pass_k_values\":\"[0]\"}", "pass_k_values"},
        {"{\"pass_k_values\":\"1,2\"}", "pass_k_values"},
        {"{\"success_threshold\":\"0.5\"}", NULL},
        {"{\"rollout_tps\":\"50\"}", "rollout_tps cannot be set"},
        {"{\"grop_size\":\"8\"}", "did you mean group_size?"},
        {"{\"eval_group_size\":\"8\"}", "have no eval_group_size"},
        {"[]", "HyperParameters must be an object"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[ROOM];
        parts p = good;
        p.hyper = rows[i].hyper;
        write_training(&p, text);
        expect(GG_JOB_TRAIN, text, rows[i].part);
    }
}

static void ranges_of_evaluations(void **state)
{
    (void)state;
    static const struct {
        const char *hyper, *part;
    } rows[] = {
        {"{\"eval_group_size\":\"128\",\"temperature\":\"1\"}", NULL},
        {"{\"eval_group_size\":\"129\"}", "from 1 to 128"},
        {"{\"group_size\":\"8\"}", "have no group_size"},
        {"{\"sampling_temperature\":\"1\"}", "have no sampling_temperature"},
        {"{\"top_p\":\"1\"}", "have no top_p"},
        {"{\"max_tokens\":\"512\"}", "have no max_tokens"},
        {"{\"sampling\":{\"temperature\":1}}", "one flat list"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[ROOM];
        write_evaluation(rows[i].hyper, text);
        expect(GG_JOB_EVALUATE, text, rows[i].part);
    }
}

#define WITH(member, value, part)                                                                  \
    {                                                                                              \
        offsetof(parts, member), value, part                                                       \
    }

static void sections(void **state)
{
    (void)state;
    static const struct {
        size_t member;
        const char *value, *part;
    } rows[] = {
        WITH(agent, "null", "AgentConfig is missing"),
        WITH(agent, "{}", "needs either"),
        WITH(agent, "{\"BedrockAgentCoreConfig\":{\"AgentRuntimeArn\":\"agent-1\"}}",
             "AgentRuntimeArn agent-1 must satisfy the pattern"),
        WITH(agent,
             "{\"CustomAgentLambdaConfig\":{\"LambdaArn\":\"arn:aws:lambda:us-west-2:123456789012:"
             "function:forward:$LATEST\"}}",
             NULL),
        WITH(agent, "{\"CustomAgentLambdaConfig\":{}}", "LambdaArn is missing"),
        WITH(input, "{}", "must be a list of channels"),
        WITH(input, "[]", "needs the channel train"),
        WITH(input, "[" CHANNEL("test", "s3://data/a.jsonl") "]", "must be train or validation"),
        WITH(input,
             "[" CHANNEL("train", "s3://data/a.jsonl") "," CHANNEL("train", "s3://more/c") "]",
             "channel train is there twice"),
        WITH(input, "[" CHANNEL("train", "data.jsonl") "]", "an address s3://BUCKET/KEY"),
        WITH(input, "[" CHANNEL("train", "file:///data/a.jsonl") "]", NULL),
        WITH(input,
             "[{\"ChannelName\":\"train\",\"DataSource\":{\"DatasetSource\":{\"DatasetArn\":"
             "\"arn\"}}}]",
             "name the data by S3DataSource"),
        WITH(output, "{}", "needs S3OutputPath"),
        WITH(output, "{\"S3OutputPath\":\"here\"}", "needs S3OutputPath"),
        WITH(output, "{\"S3OutputPath\":\"s3://out\",\"KmsKeyArn\":\"a key\"}", "KmsKeyArn"),
        WITH(output,
             "{\"S3OutputPath\":\"s3://out\",\"MlflowConfig\":{\"MlflowResourceArn\":\"arn:aws:"
             "sagemaker:us-west-2:123456789012:mlflow-app/app-1\"}}",
             NULL),
        WITH(output, "{\"S3OutputPath\":\"s3://out\",\"MlflowConfig\":{}}", "MlflowResourceArn"),
        WITH(packages, "null", "ModelPackageConfig is missing"),
        WITH(packages, "{\"OutputModelPackageGroupArn\":\"" ARN "models\"}",
             "IntermediateCheckpointModelPackageGroupArn is missing"),
        WITH(packages,
             "{\"OutputModelPackageGroupArn\":\"" ARN
             "a\",\"IntermediateCheckpointModelPackageGroupArn\":\"" ARN "a\"}",
             "must differ"),
        WITH(packages,
             "{\"OutputModelPackageGroupArn\":\"" ARN
             "a\",\"IntermediateCheckpointModelPackageGroupArn\":\"" ARN
             "b\",\"InputModelPackageArn\":\"a/1\"}",
             "InputModelPackageArn a/1 must satisfy"),
        WITH(model, "letters", "BaseModelArn letters must satisfy the pattern"),
        WITH(more, ",\"StoppingCondition\":{\"MaxRuntimeInSeconds\":0}", "from 1 to 259200"),
        WITH(more, ",\"StoppingCondition\":{\"MaxRuntimeInSeconds\":259200}", NULL),
        WITH(more, ",\"Another\":{}", NULL),
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[ROOM];
        parts p = good;
        memcpy((char *)&p + rows[i].member, &rows[i].value, sizeof rows[i].value);
        write_training(&p, text);
        expect(GG_JOB_TRAIN, text, rows[i].part);
    }
    expect(GG_JOB_TRAIN, "[]", "must be a JSON object");
    expect(GG_JOB_TRAIN, "{", "must be a JSON object");
    expect(GG_JOB_EVALUATE, "{}", "AgentConfig is missing");
}

static void count_key(void *context, const char *key)
{
    assert_string_equal(key, "StopingCondition");
    ++*(int *)context;
}

static void unknown_keys_are_told(void **state)
{
    (void)state;
    char text[ROOM];
    parts p = good;
    gg_job_config c;
    int told = 0;
    p.more = ",\"StopingCondition\":{}";
    write_training(&p, text);
    assert_int_equal(gg_job_config_read(GG_JOB_TRAIN, text, &c, count_key, &told, NULL), GG_OK);
    assert_int_equal(told, 1);
    gg_job_config_free(&c);
}

static void schemas_are_json(void **state)
{
    (void)state;
    for (gg_job_category category = 0; category < GG_JOB_CATEGORIES; category++) {
        gg_buf text;
        cJSON *root = NULL;
        gg_buf_init(&text, 1u << 20);
        gg_job_schema_write(category, &text);
        assert_int_equal(gg_json_parse(gg_buf_cstr(&text), text.len, &root, NULL), GG_OK);
        assert_non_null(gg_json_path(
            root, category == GG_JOB_TRAIN
                      ? "properties.TrainingConfig.properties.HyperParameters.properties.loss_fn"
                      : "properties.EvaluationConfig.properties.HyperParameters.properties."
                        "eval_group_size"));
        cJSON_Delete(root);
        gg_buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),         cmocka_unit_test(models_have_their_own_defaults),
        cmocka_unit_test(ranges),           cmocka_unit_test(ranges_of_evaluations),
        cmocka_unit_test(sections),         cmocka_unit_test(unknown_keys_are_told),
        cmocka_unit_test(schemas_are_json),
    };
    return cmocka_run_group_tests_name("job_config", tests, NULL, NULL);
}
