/*
 * Names, ARNs and addresses of the managed API: what they must look like, and their parts.
 * Pure functions.
 */
#ifndef GG_SERVICE_NAMES_H
#define GG_SERVICE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/buf.h>

#define GG_NAME_MAX     63 /* of a session, a model package group */
#define GG_REGION_MAX   31
#define GG_MODEL_ID_MAX 127
#define GG_S3_PATH_MAX  1024

/* Kinds of text with a pattern of their own. */
typedef enum gg_text_kind {
    GG_TEXT_NAME,          /* [a-zA-Z0-9](-*[a-zA-Z0-9]){0,62} */
    GG_TEXT_PATH_NAME,     /* 1-64 of [a-zA-Z0-9-] */
    GG_TEXT_CLIENT_TOKEN,  /* 1-128 of the same */
    GG_TEXT_NAME_PART,     /* 1-63 of the same, for filters */
    GG_TEXT_HUB_MODEL_ARN, /* arn:...:hub-content/<hub>/Model/<name>[/x.y.z] */
    GG_TEXT_ROLE_ARN,
    GG_TEXT_GROUP_ARN,   /* ...:model-package-group/<name> */
    GG_TEXT_PACKAGE_ARN, /* ...:model-package/<group>/<version> */
    GG_TEXT_S3_URI,      /* s3://bucket[/key] */
    GG_TEXT_JOB_ARN,     /* ...:job/<category>/<name> */
    GG_TEXT_RUNTIME_ARN, /* arn:...:bedrock-agentcore:...:runtime/<id> */
    GG_TEXT_LAMBDA_ARN,
    GG_TEXT_MLFLOW_ARN,
    GG_TEXT_KMS_KEY,
    GG_TEXT_SCHEMA_VERSION /* 1.0.0 */
} gg_text_kind;

bool gg_text_is(const char *text, gg_text_kind kind);
/* The pattern, for messages. */
const char *gg_text_pattern(gg_text_kind kind);

/* Parts of ARNs that gg_text_is said yes to; false when `room` is too small. */
bool gg_arn_region(const char *arn, char *out, size_t room);
bool gg_hub_model(const char *arn, char *id, size_t id_room, char *version, size_t version_room);
bool gg_group_of_arn(const char *arn, char *out, size_t room); /* of a group or a package */
bool gg_package_parts(const char *arn, char *group, size_t room, int64_t *version);

/* Parts of a job's ARN that gg_text_is said yes to; false when it is of another form. */
typedef struct gg_job_arn {
    char region[GG_REGION_MAX + 1], account[13], category[GG_NAME_MAX + 1], name[GG_NAME_MAX + 1];
} gg_job_arn;
bool gg_job_arn_parts(const char *arn, gg_job_arn *out);

/* The file or folder behind s3://BUCKET/KEY below `root`: appends ROOT/BUCKET/KEY. GG_E_ARGUMENT
 * for an address that is none or would lead out of the root. */
gg_status gg_s3_local(const char *root, const char *uri, gg_buf *path, gg_error *error);

#endif
