#include "service/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/pattern.h"

#define ACCOUNT "[0-9]{12}"
/* The API's (-*[a-zA-Z0-9]){0,62} without its repeat; the length is checked apart. */
#define SHORT "[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?"
#define ARN   "arn:aws[a-z-]*:sagemaker:[a-z0-9-]{1,31}:"

static const struct {
    size_t shortest, longest;
    const char *pattern; /* of the whole text */
} kinds[] = {
    [GG_TEXT_NAME] = {1, GG_NAME_MAX, SHORT},
    [GG_TEXT_PATH_NAME] = {1, 64, "[a-zA-Z0-9-]+"},
    [GG_TEXT_CLIENT_TOKEN] = {1, 128, "[a-zA-Z0-9-]+"},
    [GG_TEXT_NAME_PART] = {1, 63, "[a-zA-Z0-9-]+"},
    [GG_TEXT_HUB_MODEL_ARN] = {1, 2048,
                               ARN
                               "(" ACCOUNT "|aws):hub-content/" SHORT
                               "/Model/[a-zA-Z0-9][a-zA-Z0-9.-]{0,62}(/[0-9]+[.][0-9]+[.][0-9]+)?"},
    [GG_TEXT_ROLE_ARN] = {20, 2048, "arn:aws[a-z-]*:iam::" ACCOUNT ":role/?[a-zA-Z_0-9+=,.@/_-]+"},
    [GG_TEXT_GROUP_ARN] = {1, 2048, ARN ACCOUNT ":model-package-group/" SHORT},
    [GG_TEXT_PACKAGE_ARN] = {1, 2048, ARN ACCOUNT ":model-package/" SHORT "/[1-9][0-9]{0,8}"},
    [GG_TEXT_S3_URI] = {8, GG_S3_PATH_MAX,
                        "s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^[:cntrl:]]*)?"},
    [GG_TEXT_JOB_ARN] = {1, 256, ARN ACCOUNT ":job/[a-zA-Z0-9_-]+/" SHORT},
    [GG_TEXT_RUNTIME_ARN] = {1, 2048,
                             "arn:aws[a-z-]*:bedrock-agentcore:[a-z0-9-]{1,31}:" ACCOUNT
                             ":runtime/[a-zA-Z0-9_-]+"},
    [GG_TEXT_LAMBDA_ARN] = {1, 2048,
                            "arn:aws[a-z-]*:lambda:[a-z0-9-]{1,31}:" ACCOUNT
                            ":function:[a-zA-Z0-9_.-]+(:([$]LATEST|[a-zA-Z0-9_-]+))?"},
    [GG_TEXT_MLFLOW_ARN] = {1, 2048,
                            ARN ACCOUNT ":(mlflow-app|mlflow-tracking-server)/[a-zA-Z0-9_-]+"},
    [GG_TEXT_KMS_KEY] = {1, 2048, "[a-zA-Z0-9:/_-]+"},
    [GG_TEXT_SCHEMA_VERSION] = {5, 16, "[0-9]+[.][0-9]+[.][0-9]+"},
};

#define KINDS (sizeof kinds / sizeof *kinds)

static gg_pattern
    *compiled[KINDS]; /* once for the process; NULL = memory was short: nothing fits */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void compile_all(void)
{
    for (size_t i = 0; i < KINDS; i++)
        (void)gg_pattern_compile(kinds[i].pattern, &compiled[i], NULL);
}

bool gg_text_is(const char *text, gg_text_kind kind)
{
    size_t len = text ? strlen(text) : 0;
    pthread_once(&once, compile_all);
    return compiled[kind] && len >= kinds[kind].shortest && len <= kinds[kind].longest &&
           gg_pattern_is(compiled[kind], text, len);
}

const char *gg_text_pattern(gg_text_kind kind)
{
    return kinds[kind].pattern;
}

static bool copy(char *out, size_t room, const char *from, size_t len)
{
    if (len >= room)
        return false;
    memcpy(out, from, len);
    out[len] = '\0';
    return true;
}

/* Start of the part after the n-th colon. */
static const char *after_colon(const char *arn, int n)
{
    while (n-- > 0 && arn) {
        arn = strchr(arn, ':');
        arn = arn ? arn + 1 : NULL;
    }
    return arn;
}

bool gg_arn_region(const char *arn, char *out, size_t room)
{
    const char *region = after_colon(arn, 3);
    return region && copy(out, room, region, strcspn(region, ":"));
}

bool gg_hub_model(const char *arn, char *id, size_t id_room, char *version, size_t version_room)
{
    const char *name = strstr(arn, "/Model/");
    if (!name)
        return false;
    name += strlen("/Model/");
    size_t len = strcspn(name, "/");
    const char *rest = name[len] ? name + len + 1 : "";
    return copy(id, id_room, name, len) && copy(version, version_room, rest, strlen(rest));
}

bool gg_group_of_arn(const char *arn, char *out, size_t room)
{
    const char *slash = strchr(arn, '/');
    return slash && copy(out, room, slash + 1, strcspn(slash + 1, "/"));
}

bool gg_package_parts(const char *arn, char *group, size_t room, int64_t *version)
{
    const char *slash = strrchr(arn, '/');
    if (!slash || !gg_group_of_arn(arn, group, room))
        return false;
    *version = strtoll(slash + 1, NULL, 10);
    return *version > 0;
}

bool gg_job_arn_parts(const char *arn, gg_job_arn *out)
{
    const char *account = after_colon(arn, 4), *kind = after_colon(arn, 5);
    const char *category = kind ? strchr(kind, '/') : NULL;
    const char *name = category ? strchr(category + 1, '/') : NULL;
    return name && gg_arn_region(arn, out->region, sizeof out->region) &&
           copy(out->account, sizeof out->account, account, strcspn(account, ":")) &&
           copy(out->category, sizeof out->category, category + 1, (size_t)(name - category - 1)) &&
           copy(out->name, sizeof out->name, name + 1, strlen(name + 1));
}

/* "." and ".." as parts of a key would leave the root, or name one object by two addresses. */
static bool has_dots(const char *key)
{
    for (const char *part = key; *part;) {
        size_t len = strcspn(part, "/");
        if ((len == 1 && part[0] == '.') || (len == 2 && part[0] == '.' && part[1] == '.'))
            return true;
        part += len;
        part += strspn(part, "/");
    }
    return false;
}

gg_status gg_s3_local(const char *root, const char *uri, gg_buf *path, gg_error *error)
{
    if (!gg_text_is(uri, GG_TEXT_S3_URI))
        return gg_fail(error, GG_E_ARGUMENT, "%s is no s3://bucket/key address",
                       uri ? uri : "(none)");
    const char *rest = uri + strlen("s3://");
    if (has_dots(rest))
        return gg_fail(error, GG_E_ARGUMENT, "%s has a part . or .., which this service refuses",
                       uri);
    gg_buf_str(path, root);
    gg_buf_char(path, '/');
    gg_buf_str(path, rest);
    return gg_buf_status(path, "a path", error);
}
