/* Create, describe, list, stop and delete training sessions. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/inside.h"

#define RANK_MAX    256
#define ALPHA_MAX   1e6
#define TAGS_MAX    50
#define GROUPS_MAX  5
#define SUBNETS_MAX 16
#define ARN_ROOM    257
#define REQUEST_MAX (1u << 20)

/* ---- create ---- */

typedef struct creation {
    gg_hosted_options options;
    char arn[ARN_ROOM], region[GG_REGION_MAX + 1], group[GG_NAME_MAX + 1];
    char base_id[GG_MODEL_ID_MAX + 1], base_version[32];
} creation;

static const char *read_lora(const cJSON *in, creation *c, gg_error *error)
{
    const cJSON *lora = gg_json_get(in, "LoraConfig");
    if (!lora || !gg_json_number(lora, "Rank", &c->options.rank) ||
        !gg_json_number(lora, "Alpha", &c->options.alpha))
        return gg_control_fail(error, GG_VALIDATION, "LoraConfig needs Rank and Alpha");
    if (!(c->options.rank >= 1 && c->options.rank <= RANK_MAX) ||
        c->options.rank != floor(c->options.rank))
        return gg_control_fail(error, GG_VALIDATION, "Rank must be a whole number from 1 to %d",
                               RANK_MAX);
    if (!(c->options.alpha >= 1 && c->options.alpha <= ALPHA_MAX) ||
        c->options.alpha != floor(c->options.alpha))
        return gg_control_fail(error, GG_VALIDATION, "Alpha must be a whole number from 1");
    return NULL;
}

static const char *check_list(const cJSON *object, const char *name, int most, gg_error *error)
{
    const cJSON *list = gg_json_get(object, name);
    int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    if (count < 1 || count > most)
        return gg_control_fail(error, GG_VALIDATION, "VpcConfig needs 1 to %d %s", most, name);
    return NULL;
}

static const char *check_rest(const cJSON *in, gg_error *error)
{
    const cJSON *vpc = gg_json_get(in, "VpcConfig"), *tags = gg_json_get(in, "Tags"), *tag;
    const char *type = NULL;
    if (vpc && !(type = check_list(vpc, "SecurityGroupIds", GROUPS_MAX, error)))
        type = check_list(vpc, "Subnets", SUBNETS_MAX, error);
    if (type || !tags)
        return type;
    if (!cJSON_IsArray(tags) || cJSON_GetArraySize(tags) > TAGS_MAX)
        return gg_control_fail(error, GG_VALIDATION, "Tags must be at most %d tags", TAGS_MAX);
    cJSON_ArrayForEach(
        tag,
        tags) if (!gg_json_text(tag, "Key") ||
                  !gg_json_text(tag, "Value")) return gg_control_fail(error, GG_VALIDATION,
                                                                      "a tag needs Key and Value");
    return NULL;
}

static const char *read_arns(gg_request *request, const cJSON *in, creation *c, gg_error *error)
{
    const char *role, *base, *group, *path, *type;
    const cJSON *output = gg_json_path(in, "OutputConfig.S3Location");
    if ((type = gg_control_text(in, "RoleArn", GG_TEXT_ROLE_ARN, &role, error)) ||
        (type = gg_control_text(gg_json_get(in, "ModelConfig"), "BaseModelArn",
                                GG_TEXT_HUB_MODEL_ARN, &base, error)) ||
        (type = gg_control_text(output, "Path", GG_TEXT_S3_URI, &path, error)))
        return type;
    if (!gg_hub_model(base, c->base_id, sizeof c->base_id, c->base_version, sizeof c->base_version))
        return gg_control_fail(error, GG_VALIDATION, "BaseModelArn names no model");
    memcpy(c->region, request->region, sizeof c->region);
    snprintf(c->group, sizeof c->group, GG_DEFAULT_GROUP);
    if (gg_json_get(in, "ModelPackageGroupArn")) {
        type = gg_control_text(in, "ModelPackageGroupArn", GG_TEXT_GROUP_ARN, &group, error);
        if (type)
            return type;
        if (!gg_group_of_arn(group, c->group, sizeof c->group))
            return gg_control_fail(error, GG_VALIDATION, "the group's name is too long");
        if (!request->region_given)
            gg_arn_region(group, c->region, sizeof c->region);
    }
    c->options.s3_path = path;
    return NULL;
}

static const char *read_creation(gg_request *request, const cJSON *in, creation *c, gg_error *error)
{
    const char *type =
        gg_control_text(in, "TrainingSessionName", GG_TEXT_NAME, &c->options.name, error);
    if (type || (type = read_lora(in, c, error)) || (type = read_arns(request, in, c, error)) ||
        (type = check_rest(in, error)) ||
        (type = gg_choose_policy(request->service, c->options.name, c->base_id, &c->options.policy,
                                 error)))
        return type;
    snprintf(c->arn, sizeof c->arn, "arn:aws:sagemaker:%s:%s:training-session/%s", c->region,
             request->service->account, c->options.name);
    gg_hosted_options *o = &c->options;
    o->arn = c->arn;
    o->region = c->region;
    o->account = request->service->account;
    o->base_id = c->base_id;
    o->base_version = c->base_version;
    o->group = c->group;
    o->seed = request->service->seed;
    o->gap_ms = request->service->gap_ms;
    o->packages = request->service->packages;
    return NULL;
}

static const char *add(gg_request *request, const creation *c, gg_error *error)
{
    static const char *const types[] = {
        [GG_REGISTRY_OK] = NULL,
        [GG_REGISTRY_TAKEN] = GG_IN_USE,
        [GG_REGISTRY_FULL] = GG_LIMIT_REACHED,
        [GG_REGISTRY_BROKEN] = GG_INTERNAL,
    };
    if (gg_packages_group(request->service->packages, c->group, c->region,
                          request->service->account, NULL, NULL, error) != GG_OK)
        return GG_INTERNAL;
    return types[gg_registry_add(request->service->sessions, &c->options, error)];
}

const char *gg_create_session(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    creation *c = calloc(1, sizeof *c);
    gg_buf text;
    if (!c)
        return gg_control_fail(error, GG_INTERNAL, "out of memory for a training session");
    gg_buf_init(&text, REQUEST_MAX);
    gg_buf_cjson(&text, in);
    c->options.request = gg_buf_cstr(&text);
    const char *type = read_creation(request, in, c, error);
    if (!type)
        type = add(request, c, error);
    if (!type) {
        gg_buf_str(out, "{\"TrainingSessionArn\":");
        gg_buf_json_str(out, c->arn);
        gg_buf_char(out, '}');
    }
    gg_buf_free(&text);
    free(c);
    return type;
}

/* ---- the others ---- */

/* The named session, kept. */
static const char *named(gg_request *request, const cJSON *in, gg_hosted **out, gg_error *error)
{
    const char *name;
    const char *type = gg_control_text(in, "TrainingSessionName", GG_TEXT_NAME, &name, error);
    if (type)
        return type;
    *out = gg_registry_find(request->service->sessions, name);
    return *out ? NULL
                : gg_control_fail(error, GG_NOT_FOUND, "there is no training session %s", name);
}

static void write_time(gg_buf *out, const char *name, double value)
{
    if (value <= 0)
        return;
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_double(out, value);
}

/* Parts of the create request that describing repeats. */
static void write_echo(const char *request, gg_buf *out)
{
    static const char *const members[] = {
        "ModelPackageGroupArn", "VpcConfig",    "RoleArn", "LoraConfig",
        "ModelConfig",          "OutputConfig", "Tags"};
    gg_error error;
    cJSON *root = NULL;
    if (gg_json_parse(request, strlen(request), &root, &error) != GG_OK)
        return;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const cJSON *item = gg_json_get(root, members[i]);
        if (!item)
            continue;
        gg_buf_printf(out, ",\"%s\":", members[i]);
        gg_buf_cjson(out, item);
    }
    cJSON_Delete(root);
}

static void write_detail(gg_hosted *session, gg_buf *out)
{
    const gg_hosted_options *made = gg_hosted_made_with(session);
    gg_hosted_info info;
    gg_hosted_look(session, &info);
    gg_buf_str(out, "{\"TrainingSessionDetail\":{\"TrainingSessionArn\":");
    gg_buf_json_str(out, made->arn);
    gg_buf_printf(out, ",\"TrainingSessionName\":\"%s\",\"TrainingSessionStatus\":\"%s\"",
                  made->name, gg_hosted_state_name(info.state));
    write_time(out, "CreationTime", info.created);
    write_time(out, "LastModifiedTime", info.modified);
    write_time(out, "EndTime", info.ended);
    if (info.detail[0]) {
        gg_buf_str(out, ",\"ErrorDetails\":");
        gg_buf_json_str(out, info.detail);
    }
    if (info.last_received)
        gg_buf_printf(out, ",\"LastReceivedSequenceNumber\":%" PRId64, info.last_received);
    gg_buf_printf(out,
                  ",\"BillableTokenUsage\":{\"PrefillTokenCount\":%" PRId64
                  ",\"SampleTokenCount\":%" PRId64 ",\"TrainingTokenCount\":%" PRId64 "}",
                  info.usage.prefill, info.usage.sampled, info.usage.trained);
    write_echo(made->request, out);
    gg_buf_str(out, "}}");
}

const char *gg_describe_session(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    gg_hosted *session = NULL;
    const char *type = named(request, in, &session, error);
    if (!type)
        write_detail(session, out);
    gg_hosted_release(session);
    return type;
}

const char *gg_stop_session(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    gg_hosted *session = NULL;
    const char *type = named(request, in, &session, error);
    if (!type && gg_hosted_stop(session, error) != GG_OK)
        type = GG_VALIDATION;
    if (!type) {
        gg_registry_save(request->service->sessions, session);
        gg_buf_str(out, "{}");
    }
    gg_hosted_release(session);
    return type;
}

const char *gg_delete_session(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    gg_hosted *session = NULL;
    const char *type = named(request, in, &session, error);
    if (!type && gg_hosted_may_delete(session, error) != GG_OK)
        type = GG_VALIDATION;
    if (!type) {
        gg_registry_remove(request->service->sessions, gg_hosted_made_with(session)->name);
        gg_buf_str(out, "{}");
    }
    gg_hosted_release(session);
    return type;
}

/* ---- list ---- */

typedef struct listing {
    const char *contains, *status;
    double after, before;
    int64_t most, count, last;
    bool more;
    gg_buf *out;
} listing;

static bool list_one(void *context, gg_hosted *session, int64_t serial)
{
    listing *list = context;
    const gg_hosted_options *made = gg_hosted_made_with(session);
    gg_hosted_info info;
    gg_hosted_look(session, &info);
    if ((list->contains && !strstr(made->name, list->contains)) ||
        (list->status && strcmp(gg_hosted_state_name(info.state), list->status) != 0) ||
        info.created <= list->after || info.created >= list->before)
        return true;
    list->more = list->count == list->most;
    if (list->more)
        return false;
    gg_buf_str(list->out, list->count++ ? ",{\"TrainingSessionArn\":" : "{\"TrainingSessionArn\":");
    gg_buf_json_str(list->out, made->arn);
    gg_buf_printf(list->out, ",\"TrainingSessionStatus\":\"%s\"", gg_hosted_state_name(info.state));
    write_time(list->out, "CreationTime", info.created);
    write_time(list->out, "LastModifiedTime", info.modified);
    gg_buf_char(list->out, '}');
    list->last = serial;
    return true;
}

const char *gg_list_sessions(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    listing list = {.contains = gg_json_text(in, "NameContains"),
                    .status = gg_json_text(in, "StatusEquals"),
                    .after = -INFINITY,
                    .before = INFINITY,
                    .out = out};
    int64_t below;
    const char *type = gg_control_page(in, &list.most, &below, error);
    if (type)
        return type;
    if (list.contains && !gg_text_is(list.contains, GG_TEXT_NAME_PART))
        return gg_control_fail(error, GG_VALIDATION,
                               "NameContains must be 1 to 63 of a-z, A-Z, 0-9 and -");
    gg_json_number(in, "CreationTimeAfter", &list.after);
    gg_json_number(in, "CreationTimeBefore", &list.before);
    gg_buf_str(out, "{\"TrainingSessionSummaries\":[");
    gg_registry_each(request->service->sessions, below, list_one, &list);
    gg_buf_char(out, ']');
    if (list.more)
        gg_buf_printf(out, ",\"NextToken\":\"%" PRId64 "\"", list.last);
    gg_buf_char(out, '}');
    return NULL;
}
