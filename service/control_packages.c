/* Model packages and their groups on the control plane. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/inside.h"

#define DESCRIPTION_MAX 1024

/* A group by name or ARN. */
static const char *read_group(const cJSON *in, char out[GG_NAME_MAX + 1], gg_error *error)
{
    const char *text = gg_json_text(in, "ModelPackageGroupName");
    if (gg_text_is(text, GG_TEXT_NAME)) {
        memcpy(out, text, strlen(text) + 1);
        return NULL;
    }
    if (gg_text_is(text, GG_TEXT_GROUP_ARN) && gg_group_of_arn(text, out, GG_NAME_MAX + 1))
        return NULL;
    return gg_control_fail(error, GG_VALIDATION,
                           "ModelPackageGroupName must be a group's name or ARN");
}

static void write_time(gg_buf *out, double value)
{
    gg_buf_str(out, ",\"CreationTime\":");
    gg_buf_double(out, value);
}

static void write_text(gg_buf *out, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_json_str(out, text);
}

/* ---- groups ---- */

typedef struct group_look {
    const char *name;
    gg_buf *out; /* NULL: only the ARN is wanted */
    char arn[GG_PACKAGE_ARN_MAX + 1];
    bool found;
} group_look;

static bool look_group(void *context, const gg_group_info *info)
{
    group_look *look = context;
    if (strcmp(info->name, look->name) != 0)
        return true;
    look->found = true;
    snprintf(look->arn, sizeof look->arn, "%s", info->arn);
    if (look->out) {
        gg_buf_printf(look->out,
                      "{\"ModelPackageGroupName\":\"%s\",\"ModelPackageGroupArn\":\"%s\"",
                      info->name, info->arn);
        write_text(look->out, "ModelPackageGroupDescription", info->description);
        write_time(look->out, info->created);
        gg_buf_str(look->out, ",\"CreatedBy\":{},\"ModelPackageGroupStatus\":\"Completed\"}");
    }
    return false;
}

const char *gg_create_package_group(gg_request *request, const cJSON *in, gg_buf *out,
                                    gg_error *error)
{
    const char *name, *description = gg_json_text(in, "ModelPackageGroupDescription");
    const char *type = gg_control_text(in, "ModelPackageGroupName", GG_TEXT_NAME, &name, error);
    bool made = false;
    if (type)
        return type;
    if (description && strlen(description) > DESCRIPTION_MAX)
        return gg_control_fail(error, GG_VALIDATION, "the description is too long");
    gg_packages *packages = request->service->packages;
    if (gg_packages_group(packages, name, request->region, request->service->account, description,
                          &made, error) != GG_OK)
        return GG_INTERNAL;
    group_look look = {.name = name};
    gg_packages_each_group(packages, look_group, &look);
    if (!made)
        return gg_control_fail(error, GG_VALIDATION, "Model Package Group already exists: %s",
                               look.arn);
    gg_buf_printf(out, "{\"ModelPackageGroupArn\":\"%s\"}", look.arn);
    return NULL;
}

const char *gg_describe_package_group(gg_request *request, const cJSON *in, gg_buf *out,
                                      gg_error *error)
{
    char name[GG_NAME_MAX + 1];
    const char *type = read_group(in, name, error);
    if (type)
        return type;
    group_look look = {.name = name, .out = out};
    gg_packages_each_group(request->service->packages, look_group, &look);
    return look.found
               ? NULL
               : gg_control_fail(error, GG_VALIDATION, "ModelPackageGroup %s does not exist", name);
}

/* ---- packages ---- */

static const char *package_arn(const cJSON *in, const char **out, gg_error *error)
{
    return gg_control_text(in, "ModelPackageName", GG_TEXT_PACKAGE_ARN, out, error);
}

static const char *no_package(const char *arn, gg_error *error)
{
    return gg_control_fail(error, GG_VALIDATION, "ModelPackage %.300s does not exist", arn);
}

static void write_container(gg_buf *out, const gg_package_info *info)
{
    gg_buf_printf(out, "{\"IsCheckpoint\":%s,\"BaseModel\":{\"HubContentName\":",
                  info->checkpoint ? "true" : "false");
    gg_buf_json_str(out, info->base_id);
    write_text(out, "HubContentVersion", info->base_version);
    gg_buf_str(out, "},\"ModelDataSource\":{\"S3DataSource\":{\"S3Uri\":");
    gg_buf_json_str(out, info->s3_uri);
    gg_buf_str(out, ",\"S3DataType\":\"S3Prefix\",\"CompressionType\":\"None\"}}}");
}

static bool write_package(void *context, const gg_package_info *info)
{
    gg_buf *out = context;
    gg_buf_printf(out,
                  "{\"ModelPackageName\":\"%s\",\"ModelPackageGroupName\":\"%s\","
                  "\"ModelPackageVersion\":%" PRId64 ",\"ModelPackageArn\":\"%s\"",
                  info->group, info->group, info->version, info->arn);
    write_text(out, "ModelPackageDescription", info->description);
    write_time(out, info->created);
    gg_buf_str(out, ",\"ModelPackageStatus\":\"Completed\",\"ModelPackageStatusDetails\":"
                    "{\"ValidationStatuses\":[]},\"ModelApprovalStatus\":\"Approved\","
                    "\"InferenceSpecification\":{\"Containers\":[");
    write_container(out, info);
    gg_buf_str(out, "]}}");
    return true;
}

const char *gg_describe_package(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    const char *arn;
    const char *type = package_arn(in, &arn, error);
    if (type)
        return type;
    return gg_packages_look(request->service->packages, arn, write_package, out)
               ? NULL
               : no_package(arn, error);
}

const char *gg_delete_package(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    const char *arn;
    const char *type = package_arn(in, &arn, error);
    if (type)
        return type;
    if (!gg_packages_delete(request->service->packages, arn))
        return no_package(arn, error);
    gg_buf_str(out, "{}");
    return NULL;
}

/* Registers an adapter that lies at an S3 address. */
const char *gg_create_package(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    char group[GG_NAME_MAX + 1], arn[GG_PACKAGE_ARN_MAX + 1];
    gg_buf uri;
    const cJSON *container = gg_json_path(in, "InferenceSpecification.Containers.0");
    const char *text =
        gg_json_text(gg_json_path(container, "ModelDataSource.S3DataSource"), "S3Uri");
    const char *base = gg_json_text(gg_json_get(container, "BaseModel"), "HubContentName");
    const char *type = read_group(in, group, error);
    if (type)
        return type;
    if (!gg_text_is(text, GG_TEXT_S3_URI))
        return gg_control_fail(error, GG_VALIDATION,
                               "InferenceSpecification needs a container whose ModelDataSource is "
                               "an S3DataSource with an s3:// address");
    gg_buf_init(&uri, GG_S3_PATH_MAX + 2);
    gg_buf_str(&uri, text);
    if (text[strlen(text) - 1] != '/')
        gg_buf_char(&uri, '/');
    gg_package_save save = {.group = group,
                            .region = request->region,
                            .account = request->service->account,
                            .description = gg_json_text(in, "ModelPackageDescription"),
                            .base_id = base ? base : request->service->model};
    gg_status status =
        gg_packages_register(request->service->packages, &save, gg_buf_cstr(&uri), arn, error);
    gg_buf_free(&uri);
    if (status != GG_OK)
        return GG_INTERNAL;
    gg_buf_printf(out, "{\"ModelPackageArn\":\"%s\"}", arn);
    return NULL;
}

/* ---- list ---- */

/* Packages stand in the order of their creation within a group; a page starts after the first
 * `skip` of what fits, so that newest-first and oldest-first share one walk. */
typedef struct listing {
    const char *contains;
    double after, before;
    int64_t fitting, from, to; /* places in the walk that are written: [from, to) */
    int64_t at;
    gg_buf *entries; /* one a package, written in walking order */
    size_t *ends;
    int64_t written;
} listing;

static bool fits(const listing *list, const gg_package_info *info)
{
    return !(list->contains && !strstr(info->group, list->contains)) &&
           info->created > list->after && info->created < list->before;
}

static bool count_one(void *context, const gg_package_info *info)
{
    listing *list = context;
    list->fitting += fits(list, info);
    return true;
}

static bool write_summary(void *context, const gg_package_info *info)
{
    listing *list = context;
    gg_buf *out = list->entries;
    if (!fits(list, info))
        return true;
    int64_t place = list->at++;
    if (place < list->from)
        return true;
    if (place >= list->to)
        return false;
    gg_buf_printf(out,
                  "{\"ModelPackageName\":\"%s\",\"ModelPackageGroupName\":\"%s\","
                  "\"ModelPackageVersion\":%" PRId64 ",\"ModelPackageArn\":\"%s\"",
                  info->group, info->group, info->version, info->arn);
    write_text(out, "ModelPackageDescription", info->description);
    write_time(out, info->created);
    gg_buf_str(out, ",\"ModelPackageStatus\":\"Completed\",\"ModelApprovalStatus\":\"Approved\"}");
    list->ends[list->written++] = out->len;
    return true;
}

static void write_entries(const listing *list, bool descending, gg_buf *out)
{
    for (int64_t i = 0; i < list->written; i++) {
        int64_t k = descending ? list->written - 1 - i : i;
        size_t start = k ? list->ends[k - 1] : 0;
        if (i)
            gg_buf_char(out, ',');
        gg_buf_add(out, list->entries->data + start, list->ends[k] - start);
    }
}

static void walk(gg_request *request, const char *group, listing *list, bool descending,
                 int64_t most, int64_t skip, gg_buf *out)
{
    gg_packages *packages = request->service->packages;
    gg_packages_each(packages, group, count_one, list);
    int64_t rest = list->fitting > skip ? list->fitting - skip : 0;
    int64_t take = rest < most ? rest : most;
    list->from = descending ? rest - take : skip;
    list->to = list->from + take;
    gg_packages_each(packages, group, write_summary, list);
    gg_buf_str(out, "{\"ModelPackageSummaryList\":[");
    write_entries(list, descending, out);
    gg_buf_char(out, ']');
    if (rest > take)
        gg_buf_printf(out, ",\"NextToken\":\"%" PRId64 "\"", skip + take);
    gg_buf_char(out, '}');
}

static bool is_absent_or(const cJSON *in, const char *name, const char *value)
{
    const char *text = gg_json_text(in, name);
    return !text || strcmp(text, value) == 0;
}

const char *gg_list_packages(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    char group[GG_NAME_MAX + 1];
    const char *order = gg_json_text(in, "SortOrder");
    bool one_group = gg_json_get(in, "ModelPackageGroupName") != NULL;
    listing list = {
        .contains = gg_json_text(in, "NameContains"), .after = -INFINITY, .before = INFINITY};
    int64_t most, token;
    gg_buf entries;
    const char *type = gg_control_page(in, &most, &token, error);
    if (!type && one_group)
        type = read_group(in, group, error);
    if (type)
        return type;
    gg_json_number(in, "CreationTimeAfter", &list.after);
    gg_json_number(in, "CreationTimeBefore", &list.before);
    /* All of ours are approved and have a version: other wishes find nothing. */
    if (!is_absent_or(in, "ModelApprovalStatus", "Approved") ||
        (!is_absent_or(in, "ModelPackageType", "Versioned") &&
         !is_absent_or(in, "ModelPackageType", "Both")))
        list.before = -INFINITY;
    list.ends = calloc((size_t)most, sizeof *list.ends);
    if (!list.ends)
        return gg_control_fail(error, GG_INTERNAL, "out of memory for a list");
    gg_buf_init(&entries, GG_SERVER_BODY_MAX);
    list.entries = &entries;
    walk(request, one_group ? group : NULL, &list, order && strcmp(order, "Descending") == 0, most,
         token == INT64_MAX ? 0 : token, out);
    gg_buf_free(&entries);
    free(list.ends);
    return NULL;
}
