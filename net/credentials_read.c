/* Keys from the environment, the shared file, and replies. */
#include "net/credentials_inside.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "core/file.h"
#include "core/json.h"

#define PATH_ROOM 4096

/* Keys go into header lines: a line break in one would be another header. */
static bool is_clean(const char *text)
{
    for (; text && *text; text++)
        if (!isgraph((unsigned char)*text))
            return false;
    return true;
}

/* Copies what was found; both halves must be there. */
static gg_status keep(gg_key_set *out, const char *id, const char *secret, const char *token,
                      const char *where, gg_error *error)
{
    if (!id || !secret || !*id || !*secret)
        return gg_fail(error, GG_E_CONFIG, "%s gives no %s", where,
                       id && *id ? "secret access key" : "access key id");
    if (!is_clean(id) || !is_clean(secret) || !is_clean(token))
        return gg_fail(error, GG_E_CONFIG,
                       "%s gives a key with a blank or another character that no key has", where);
    out->id = strdup(id);
    out->secret = strdup(secret);
    out->token = token && *token ? strdup(token) : NULL;
    if (out->id && out->secret && (out->token || !token || !*token))
        return GG_OK;
    gg_key_set_free(out);
    return gg_fail(error, GG_E_MEMORY, "no memory for credentials");
}

gg_status gg_keys_from_environment(const gg_credentials *c, gg_key_set *out, bool *found,
                                   gg_error *error)
{
    const char *id = gg_credentials_variable(c, "AWS_ACCESS_KEY_ID");
    const char *secret = gg_credentials_variable(c, "AWS_SECRET_ACCESS_KEY");
    *found = id || secret;
    if (!*found)
        return GG_OK;
    return keep(out, id, secret, gg_credentials_variable(c, "AWS_SESSION_TOKEN"), "the environment",
                error);
}

/* ------------------------------------------------------------------ the shared file */

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len && strchr(" \t\r", text[len - 1]))
        text[--len] = '\0';
    return text;
}

typedef struct section {
    const char *id, *secret, *token;
    bool found;
} section;

static void take_setting(section *s, char *line)
{
    char *equals = strchr(line, '=');
    if (!equals)
        return;
    *equals = '\0';
    const char *name = trim(line), *value = trim(equals + 1);
    if (strcmp(name, "aws_access_key_id") == 0)
        s->id = value;
    else if (strcmp(name, "aws_secret_access_key") == 0)
        s->secret = value;
    else if (strcmp(name, "aws_session_token") == 0)
        s->token = value;
}

/* Cuts the text into lines in place. */
static section read_section(char *text, const char *profile)
{
    section s = {NULL, NULL, NULL, false};
    bool inside = false;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line = trim(line);
        char *end = *line == '[' ? strchr(line, ']') : NULL;
        if (end) {
            *end = '\0';
            inside = strcmp(trim(line + 1), profile) == 0;
            s.found = s.found || inside;
        } else if (inside && *line != '#' && *line != ';') {
            take_setting(&s, line);
        }
    }
    return s;
}

static void file_path(const gg_credentials *c, gg_buf *path)
{
    const char *given = gg_credentials_variable(c, "AWS_SHARED_CREDENTIALS_FILE");
    const char *home = gg_credentials_variable(c, "HOME");
    gg_buf_init(path, PATH_ROOM);
    if (given && strncmp(given, "~/", 2) == 0 && home)
        gg_buf_printf(path, "%s%s", home, given + 1);
    else if (given)
        gg_buf_str(path, given);
    else if (home)
        gg_buf_printf(path, "%s/.aws/credentials", home);
}

static gg_status read_file(const gg_credentials *c, const char *path, gg_key_set *out, bool *found,
                           gg_error *error)
{
    const char *profile = gg_credentials_variable(c, "AWS_PROFILE");
    gg_buf text;
    gg_buf_init(&text, GG_CREDENTIALS_MAX);
    gg_status status = gg_file_read(path, &text, error);
    if (status == GG_OK && text.len) {
        section s = read_section(text.data, profile ? profile : "default");
        *found = s.found;
        char where[PATH_ROOM];
        snprintf(where, sizeof where, "%.3000s, profile %.200s,", path,
                 profile ? profile : "default");
        if (s.found)
            status = keep(out, s.id, s.secret, s.token, where, error);
    }
    gg_buf_free(&text);
    return status;
}

gg_status gg_keys_from_file(const gg_credentials *c, gg_key_set *out, bool *found, gg_error *error)
{
    const char *profile = gg_credentials_variable(c, "AWS_PROFILE");
    gg_buf path;
    file_path(c, &path);
    gg_status status = gg_buf_status(&path, "the path of the credentials file", error);
    *found = false;
    if (status == GG_OK && path.len && access(path.data, F_OK) == 0)
        status = read_file(c, path.data, out, found, error);
    if (status == GG_OK && profile && !*found)
        status = gg_fail(error, GG_E_CONFIG, "AWS_PROFILE is %s, but %s has no such section",
                         profile, path.len ? path.data : "no credentials file");
    gg_buf_free(&path);
    return status;
}

/* ------------------------------------------------------------------ replies */

/* "2026-11-30T12:00:00Z", with or without parts of a second. */
static bool read_time(const char *text, int64_t *out)
{
    struct tm utc = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
    if (!end || !(*end == 'Z' || *end == '.' || *end == '+'))
        return false;
    *out = (int64_t)timegm(&utc);
    return true;
}

/* The text of the first element of that name, which holds no markup; NULL when there is none. */
static char *element(const char *xml, const char *name)
{
    char open[64];
    snprintf(open, sizeof open, "<%s>", name);
    const char *at = strstr(xml, open);
    if (!at)
        return NULL;
    at += strlen(open);
    return strndup(at, strcspn(at, "<"));
}

gg_status gg_keys_from_xml(const char *text, gg_key_set *out, gg_error *error)
{
    static const char *const names[] = {"AccessKeyId", "SecretAccessKey", "SessionToken",
                                        "Expiration"};
    char *values[4];
    for (size_t i = 0; i < 4; i++)
        values[i] = element(text, names[i]);
    *out = (gg_key_set){NULL, NULL, NULL, GG_NEVER};
    gg_status status =
        keep(out, values[0], values[1], values[2], "the security token service", error);
    if (status == GG_OK && (!values[3] || !read_time(values[3], &out->expires_s))) {
        gg_key_set_free(out);
        status =
            gg_fail(error, GG_E_PROTOCOL, "the security token service gives keys without an end");
    }
    for (size_t i = 0; i < 4; i++) {
        if (values[i])
            OPENSSL_cleanse(values[i], strlen(values[i]));
        free(values[i]);
    }
    return status;
}

gg_status gg_keys_from_json(const char *text, size_t len, gg_key_set *out, gg_error *error)
{
    cJSON *root = NULL;
    *out = (gg_key_set){NULL, NULL, NULL, GG_NEVER};
    /* The parser's own text might quote a key. */
    if (gg_json_parse(text, len, &root, NULL) != GG_OK)
        return gg_fail(error, GG_E_PROTOCOL, "the credentials endpoint answered no JSON");
    const char *expires = gg_json_text(root, "Expiration");
    gg_status status =
        keep(out, gg_json_text(root, "AccessKeyId"), gg_json_text(root, "SecretAccessKey"),
             gg_json_text(root, "Token"), "the credentials endpoint", error);
    if (status == GG_OK && expires && !read_time(expires, &out->expires_s)) {
        gg_key_set_free(out);
        status = gg_fail(error, GG_E_PROTOCOL,
                         "the credentials endpoint gives an expiration that is no time");
    }
    cJSON_Delete(root);
    return status;
}
