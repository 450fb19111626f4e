#include "service/names.h"

#include <stdlib.h>
#include <string.h>

#define LOWER   "abcdefghijklmnopqrstuvwxyz"
#define LETTERS LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"
#define ACCOUNT "[0-9]{12}"
/* The API's (-*[a-zA-Z0-9]){0,62} without its repeat; the length is checked apart. */
#define SHORT "[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?"
#define ARN   "^arn:aws[a-z-]*:sagemaker:[a-z0-9-]{1,31}:"

/* The same by hand: a regex takes up to 80 us a text, and a name stands in every request's path.
 * tests/test_names.c compares the two. Each takes a part off the front and tells whether it was
 * there. */
static bool alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool take(const char **at, const char *text)
{
    size_t len = strlen(text);
    if (strncmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

/* One to `most` characters of a class given by its members; strspn's letters. */
static bool take_of(const char **at, const char *members, size_t most)
{
    size_t len = strspn(*at, members);
    *at += len;
    return len > 0 && len <= most;
}

static bool take_digits(const char **at, size_t least, size_t most)
{
    size_t len = strspn(*at, DIGITS);
    *at += len;
    return len >= least && len <= most;
}

/* Letters, digits and hyphens, the first and the last no hyphen. */
static bool take_short(const char **at)
{
    const char *start = *at;
    return take_of(at, LETTERS DIGITS "-", SIZE_MAX) && alnum(*start) && alnum((*at)[-1]);
}

static bool is_name(const char *text)
{
    return take_short(&text) && !*text;
}

static bool is_hyphened(const char *text)
{
    return take_of(&text, LETTERS DIGITS "-", SIZE_MAX) && !*text;
}

/* "arn:aws-cn:" */
static bool take_partition(const char **at)
{
    if (!take(at, "arn:aws"))
        return false;
    *at += strspn(*at, LOWER "-");
    return true;
}

static bool take_arn(const char **at)
{
    return take_partition(at) && take(at, ":sagemaker:") && take_of(at, LOWER DIGITS "-", 31) &&
           take(at, ":");
}

static bool is_hub_model(const char *text)
{
    if (!take_arn(&text) ||
        (!take(&text, "aws:") && !(take_digits(&text, 12, 12) && take(&text, ":"))) ||
        !take(&text, "hub-content/") || !take_short(&text) || !take(&text, "/Model/") ||
        !alnum(*text) || !take_of(&text, LETTERS DIGITS ".-", 63))
        return false;
    return !*text || (take(&text, "/") && take_digits(&text, 1, SIZE_MAX) && take(&text, ".") &&
                      take_digits(&text, 1, SIZE_MAX) && take(&text, ".") &&
                      take_digits(&text, 1, SIZE_MAX) && !*text);
}

static bool is_role(const char *text)
{
    if (!take_partition(&text) || !take(&text, ":iam::") || !take_digits(&text, 12, 12) ||
        !take(&text, ":role"))
        return false;
    return take_of(&text, LETTERS DIGITS "_+=,.@/-", SIZE_MAX) && !*text;
}

static bool is_group(const char *text)
{
    return take_arn(&text) && take_digits(&text, 12, 12) && take(&text, ":model-package-group/") &&
           take_short(&text) && !*text;
}

static bool is_package(const char *text)
{
    return take_arn(&text) && take_digits(&text, 12, 12) && take(&text, ":model-package/") &&
           take_short(&text) && take(&text, "/") && *text != '0' && take_digits(&text, 1, 9) &&
           !*text;
}

static bool is_s3(const char *text)
{
    if (!take(&text, "s3://"))
        return false;
    size_t len = strspn(text, LOWER DIGITS ".-");
    if (len < 3 || len > 63 || !strchr(LOWER DIGITS, text[0]) ||
        !strchr(LOWER DIGITS, text[len - 1]) || (text[len] && text[len] != '/'))
        return false;
    for (text += len; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static const struct {
    size_t shortest, longest;
    bool (*is)(const char *text);
    const char *pattern;
} kinds[] = {
    [GG_TEXT_NAME] = {1, GG_NAME_MAX, is_name, "^" SHORT "$"},
    [GG_TEXT_PATH_NAME] = {1, 64, is_hyphened, "^[a-zA-Z0-9-]+$"},
    [GG_TEXT_CLIENT_TOKEN] = {1, 128, is_hyphened, "^[a-zA-Z0-9-]+$"},
    [GG_TEXT_NAME_PART] = {1, 63, is_hyphened, "^[a-zA-Z0-9-]+$"},
    [GG_TEXT_HUB_MODEL_ARN] =
        {1, 2048, is_hub_model,
         ARN "(" ACCOUNT "|aws):hub-content/" SHORT
             "/Model/[a-zA-Z0-9][a-zA-Z0-9.-]{0,62}(/[0-9]+[.][0-9]+[.][0-9]+)?$"},
    [GG_TEXT_ROLE_ARN] = {20, 2048, is_role,
                          "^arn:aws[a-z-]*:iam::" ACCOUNT ":role/?[a-zA-Z_0-9+=,.@/_-]+$"},
    [GG_TEXT_GROUP_ARN] = {1, 2048, is_group, ARN ACCOUNT ":model-package-group/" SHORT "$"},
    [GG_TEXT_PACKAGE_ARN] = {1, 2048, is_package,
                             ARN ACCOUNT ":model-package/" SHORT "/[1-9][0-9]{0,8}$"},
    [GG_TEXT_S3_URI] = {8, GG_S3_PATH_MAX, is_s3,
                        "^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^[:cntrl:]]*)?$"},
};

bool gg_text_is(const char *text, gg_text_kind kind)
{
    size_t len = text ? strlen(text) : 0;
    return len >= kinds[kind].shortest && len <= kinds[kind].longest && kinds[kind].is(text);
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
