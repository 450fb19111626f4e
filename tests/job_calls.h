/* A local service with a job, and an agent that only notes what it is asked to play. Failures fail
 * the test. */
#ifndef GG_TESTS_JOB_CALLS_H
#define GG_TESTS_JOB_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "core/file.h"
#include "net/server.h"
#include "service/service.h"
#include "tests/client.h"
#include "tests/folder.h"

#define ROOM    8192
#define ID_ROOM 128
#define NOTED   4096
#define WAIT_MS 20000
#define ROWS    40
#define ACCOUNT "123456789012"
#define JOB_ARN "arn:aws:sagemaker:us-west-2:" ACCOUNT ":job/"
#define GROUP   "arn:aws:sagemaker:us-west-2:" ACCOUNT ":model-package-group/"

/* What the agent answers. */
typedef enum agent_mode { AGENT_ACCEPTS, AGENT_BREAKS, AGENT_ENDS } agent_mode;

static struct {
    gg_server *server;
    pthread_mutex_t lock;
    agent_mode mode;
    char ids[NOTED][ID_ROOM];
    char bodies[4][ROOM]; /* of the first ones */
    size_t count, used;
} agent = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char folder[FOLDER_PATH];
static gg_service *service;
static const char *base;
static int made;

static void on_invocation(void *context, gg_exchange *exchange, const gg_exchange_request *request)
{
    static const struct {
        int status;
        const char *body;
    } replies[] = {
        {200, "{\"status\":\"accepted\"}"}, {500, "{\"error\":\"broken\"}"}, {200, "{}"}};
    cJSON *root = NULL;
    gg_error error;
    (void)context;
    if (gg_json_parse(request->body, request->body_len, &root, &error) == GG_OK) {
        const char *id = gg_json_text(gg_json_get(root, "metadata"), "rolloutId");
        pthread_mutex_lock(&agent.lock);
        if (id && agent.count < NOTED) {
            if (agent.count < 4)
                snprintf(agent.bodies[agent.count], ROOM, "%s", request->body);
            snprintf(agent.ids[agent.count++], ID_ROOM, "%s", id);
        }
        pthread_mutex_unlock(&agent.lock);
    }
    cJSON_Delete(root);
    pthread_mutex_lock(&agent.lock);
    agent_mode mode = agent.mode;
    pthread_mutex_unlock(&agent.lock);
    gg_exchange_reply_json(exchange, replies[mode].status, replies[mode].body);
}

static inline void set_agent(agent_mode mode)
{
    pthread_mutex_lock(&agent.lock);
    agent.mode = mode;
    agent.count = agent.used = 0;
    pthread_mutex_unlock(&agent.lock);
}

static inline void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* The id of the next rollout that the agent was asked to play; false when none comes in time. */
static inline bool rollout_within(char id[ID_ROOM], int limit_ms)
{
    for (int waited = 0; waited <= limit_ms; waited += 5) {
        pthread_mutex_lock(&agent.lock);
        bool there = agent.used < agent.count;
        if (there)
            memcpy(id, agent.ids[agent.used++], ID_ROOM);
        pthread_mutex_unlock(&agent.lock);
        if (there)
            return true;
        pause_ms(5);
    }
    return false;
}

static inline void next_rollout(char id[ID_ROOM])
{
    if (!rollout_within(id, WAIT_MS))
        fail_msg("no rollout came");
}

static inline void start_service(void)
{
    gg_error error = {0};
    const gg_service_options options = {.listen = ":0",
                                        .state_dir = folder_path(folder, "state"),
                                        .agent_url = gg_server_url(agent.server),
                                        .reward_wait_ms = 300};
    if (gg_service_start(&options, &service, &error) != GG_OK)
        fail_msg("%s", error.text);
    base = gg_service_url(service);
}

static inline int open_all(void **state)
{
    gg_error error = {0};
    gg_buf rows;
    const gg_server_options options = {.listen = ":0", .handler = on_invocation};
    (void)state;
    folder_make(folder);
    if (gg_server_start(&options, &agent.server, &error) != GG_OK ||
        gg_dir_make(folder_path(folder, "state/s3/data"), &error) != GG_OK)
        return -1;
    gg_buf_init(&rows, 1u << 16);
    for (int i = 0; i < ROWS; i++)
        gg_buf_printf(&rows, "{\"prompt\":\"row %d\"}\n", i);
    folder_write(folder, "state/s3/data/rows.jsonl", rows.data, rows.len);
    gg_buf_free(&rows);
    start_service();
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    gg_service_stop(service);
    gg_server_stop(agent.server);
    folder_remove(folder);
    return 0;
}

/* ---- the control plane ---- */

#define DOCUMENT                                                                                   \
    "{\\\"AgentConfig\\\":{\\\"BedrockAgentCoreConfig\\\":{\\\"AgentRuntimeArn\\\":\\\"arn:aws:"   \
    "bedrock-agentcore:us-west-2:" ACCOUNT                                                         \
    ":runtime/agent-1\\\"}},\\\"InputDataConfig\\\":[{\\\"ChannelName\\\":\\\"%s\\\","             \
    "\\\"DataSource\\\":{\\\"S3DataSource\\\":{\\\"S3Uri\\\":\\\"s3://data/rows.jsonl\\\"}}}],"    \
    "\\\"OutputDataConfig\\\":{\\\"S3OutputPath\\\":\\\"s3://out/jobs\\\"},"                       \
    "\\\"ModelPackageConfig\\\":{\\\"OutputModelPackageGroupArn\\\":\\\"" GROUP                    \
    "a\\\",\\\"IntermediateCheckpointModelPackageGroupArn\\\":\\\"" GROUP                          \
    "b\\\"},\\\"%s\\\":{\\\"BaseModelArn\\\":\\\"arn:aws:sagemaker:us-west-2:aws:hub-content/"     \
    "SageMakerPublicHub/Model/letters\\\",\\\"HyperParameters\\\":{%s}}}"
#define SMALL "\\\"global_batch_size\\\":32,\\\"group_size\\\":2,\\\"max_steps\\\":1"

/* The body of a CreateJob; `hyper` with its quotes escaped once. */
static inline void write_create(const char *name, bool training, const char *hyper, char out[ROOM])
{
    snprintf(out, ROOM,
             "{\"JobName\":\"%s\",\"RoleArn\":\"arn:aws:iam::" ACCOUNT
             ":role/Role1\",\"JobCategory\":\"%s\",\"JobConfigSchemaVersion\":\"1.0.0\","
             "\"JobConfigDocument\":\"" DOCUMENT "\"}",
             name, training ? "AgentRFT" : "AgentRFTEvaluation", training ? "train" : "evaluation",
             training ? "TrainingConfig" : "EvaluationConfig", hyper);
}

static inline answer on_job(const char *operation, const char *name, bool training)
{
    char body[256];
    snprintf(body, sizeof body, "{\"JobName\":\"%s\",\"JobCategory\":\"%s\"}", name,
             training ? "AgentRFT" : "AgentRFTEvaluation");
    return client_control(base, operation, body);
}

/* Makes a job and gives its ARN. */
static inline void create_job(char name[64], char arn[256], bool training, const char *hyper)
{
    char body[ROOM];
    snprintf(name, 64, "job-%d", ++made);
    write_create(name, training, hyper, body);
    answer a = client_control(base, "CreateJob", body);
    answer_expect(&a, 200);
    snprintf(arn, 256, "%s", answer_text(&a, "JobArn"));
    answer_free(&a);
}

/* Waits until the job has this status. The caller frees the description. */
static inline answer wait_status(const char *name, bool training, const char *status)
{
    for (int waited = 0; waited < WAIT_MS; waited += 20) {
        answer a = on_job("DescribeJob", name, training);
        answer_expect(&a, 200);
        if (strcmp(answer_text(&a, "JobStatus"), status) == 0)
            return a;
        if (waited + 20 >= WAIT_MS)
            fail_msg("never %s: %s", status, a.body);
        answer_free(&a);
        pause_ms(20);
    }
    return (answer){0};
}

static inline void stop_job(const char *name, bool training)
{
    answer a = on_job("StopJob", name, training);
    answer_expect(&a, 200);
    answer_free(&a);
    a = wait_status(name, training, "Stopped");
    answer_free(&a);
}

/* ---- the runtime ---- */

#define KEY "Authorization: Bearer any-key"

static inline answer runtime(const char *path, const char *arn, const char *id, const char *body)
{
    char job[400], trajectory[ID_ROOM + 64];
    const char *const headers[] = {KEY, job, trajectory, NULL};
    snprintf(job, sizeof job, "X-Amzn-SageMaker-Job-Arn: %s", arn);
    snprintf(trajectory, sizeof trajectory, "X-Amzn-SageMaker-Trajectory-Id: %s", id);
    return client_call(base, path, body, headers);
}

#define CHAT "{\"model\":\"default\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}"

static inline answer sample(const char *arn, const char *id)
{
    return runtime("/v1/chat/completions", arn, id, CHAT);
}

static inline answer complete(const char *arn, const char *id, const char *rest)
{
    char body[512];
    snprintf(body, sizeof body, "{\"TrajectoryId\":\"%s\"%s}", id, rest);
    return runtime("/complete-rollout", arn, "-", body);
}

static inline answer reward(const char *arn, const char *id, const char *rewards, const char *rest)
{
    char body[1024];
    snprintf(body, sizeof body, "{\"TrajectoryId\":\"%s\",\"Rewards\":%s%s}", id, rewards, rest);
    return runtime("/update-reward", arn, "-", body);
}

#endif
