/* Checking what others have signed. */
#include "net/sigv4_inside.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

/* ------------------------------------------------------------------ taking a claim apart */

static gg_status malformed(gg_error *error, const char *what)
{
    return gg_fail(error, GG_E_FORMAT, "the signature's %s is missing or malformed", what);
}

/* Copies what lies before `end` of `text`; false when it is empty or too long. */
static bool take(const char **text, char end, char *out, size_t room)
{
    const char *stop = strchr(*text, end);
    size_t len = stop ? (size_t)(stop - *text) : strlen(*text);
    if ((!stop && end) || len == 0 || len >= room)
        return false;
    memcpy(out, *text, len);
    out[len] = '\0';
    *text += len + (stop && end);
    return true;
}

/* "ID/20261130/us-west-2/sagemaker/aws4_request" */
static bool read_credential(const char *text, gg_sigv4_claim *out)
{
    char rest[16];
    return take(&text, '/', out->key_id, sizeof out->key_id) &&
           take(&text, '/', out->day, sizeof out->day) &&
           take(&text, '/', out->region, sizeof out->region) &&
           take(&text, '/', out->service, sizeof out->service) &&
           take(&text, '\0', rest, sizeof rest) && strcmp(rest, "aws4_request") == 0;
}

static bool read_signature(const char *text, gg_sigv4_claim *out)
{
    return take(&text, '\0', out->signature, sizeof out->signature) &&
           strlen(out->signature) == sizeof out->signature - 1 &&
           strspn(out->signature, "0123456789abcdef") == sizeof out->signature - 1;
}

static bool read_names(const char *text, gg_sigv4_claim *out)
{
    size_t count = 1;
    for (const char *c = text; *c; c++)
        count += *c == ';';
    return count <= GG_SIGV4_HEADERS_MAX &&
           take(&text, '\0', out->signed_headers, sizeof out->signed_headers);
}

static bool read_stamp(const char *text, gg_sigv4_claim *out)
{
    if (!text || !gg_sigv4_time(text, &out->time_s))
        return false;
    memcpy(out->stamp, text, sizeof out->stamp);
    return true;
}

/* The value of "Name=" in a list with commas, copied to `out`; false when it is not there. */
static bool list_value(const char *list, const char *name, gg_buf *out)
{
    size_t name_len = strlen(name);
    gg_buf_reset(out);
    for (const char *at = list; *at;) {
        at += strspn(at, " ,\t");
        size_t len = strcspn(at, ",");
        if (len > name_len && strncmp(at, name, name_len) == 0 && at[name_len] == '=') {
            size_t value = len - name_len - 1;
            while (value && at[name_len + value] == ' ')
                value--;
            gg_buf_add(out, at + name_len + 1, value);
            return out->status == GG_OK && out->len > 0;
        }
        at += len;
    }
    return false;
}

static gg_status claim_header(const char *authorization, const char *date, gg_sigv4_claim *out,
                              gg_buf *text, gg_error *error)
{
    size_t len = strlen(GG_SIGV4_ALGORITHM);
    if (!authorization || strncmp(authorization, GG_SIGV4_ALGORITHM, len) != 0 ||
        authorization[len] != ' ')
        return malformed(error, "algorithm");
    const char *list = authorization + len;
    if (!list_value(list, "Credential", text) || !read_credential(text->data, out))
        return malformed(error, "Credential");
    if (!list_value(list, "SignedHeaders", text) || !read_names(text->data, out))
        return malformed(error, "SignedHeaders");
    if (!list_value(list, "Signature", text) || !read_signature(text->data, out))
        return malformed(error, "Signature");
    if (!read_stamp(date, out))
        return malformed(error, "X-Amz-Date");
    return GG_OK;
}

gg_status gg_sigv4_claim_header(const char *authorization, const char *date, gg_sigv4_claim *out,
                                gg_error *error)
{
    gg_buf text;
    gg_buf_init(&text, GG_SIGV4_TEXT_MAX);
    *out = (gg_sigv4_claim){0};
    gg_status status = claim_header(authorization, date, out, &text, error);
    gg_buf_free(&text);
    return status;
}

bool gg_sigv4_query_value(const char *query, const char *name, gg_buf *out)
{
    gg_buf key;
    bool found = false;
    gg_buf_init(&key, GG_SIGV4_TEXT_MAX);
    gg_buf_reset(out);
    for (const char *at = query ? query : ""; *at && !found;) {
        size_t len = strcspn(at, "&"), part = 0;
        while (part < len && at[part] != '=')
            part++;
        gg_buf_reset(&key);
        gg_sigv4_decode(&key, at, part);
        found = strcmp(gg_buf_cstr(&key), name) == 0;
        if (found && part < len)
            gg_sigv4_decode(out, at + part + 1, len - part - 1);
        at += len + (at[len] == '&');
    }
    gg_buf_free(&key);
    return found && out->status == GG_OK;
}

static bool read_expires(const char *text, gg_sigv4_claim *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    out->expires_s = strtoll(text, &end, 10);
    return !*end && out->expires_s >= 1 && out->expires_s <= GG_SIGV4_EXPIRES_MAX;
}

static bool is_algorithm(const char *text, gg_sigv4_claim *out)
{
    (void)out;
    return strcmp(text, GG_SIGV4_ALGORITHM) == 0;
}

gg_status gg_sigv4_claim_query(const char *query, gg_sigv4_claim *out, gg_error *error)
{
    static const struct {
        const char *name;
        bool (*read)(const char *text, gg_sigv4_claim *out);
    } parts[] = {
        {"X-Amz-Algorithm", is_algorithm},   {"X-Amz-Credential", read_credential},
        {"X-Amz-Date", read_stamp},          {"X-Amz-Expires", read_expires},
        {"X-Amz-SignedHeaders", read_names}, {GG_SIGV4_SIGNATURE_KEY, read_signature},
    };
    gg_buf text;
    gg_status status = GG_OK;
    gg_buf_init(&text, GG_SIGV4_TEXT_MAX);
    *out = (gg_sigv4_claim){0};
    for (size_t i = 0; status == GG_OK && i < sizeof parts / sizeof *parts; i++)
        if (!gg_sigv4_query_value(query, parts[i].name, &text) ||
            !parts[i].read(gg_buf_cstr(&text), out))
            status = malformed(error, parts[i].name);
    gg_buf_free(&text);
    return status;
}

/* ------------------------------------------------------------------ the verdict */

const char *gg_sigv4_verdict_text(gg_sigv4_verdict verdict)
{
    static const char *const texts[] = {
        [GG_SIGV4_GOOD] = "the signature is good",
        [GG_SIGV4_MISMATCH] = "the signature does not match the request and the secret key",
        [GG_SIGV4_EXPIRED] = "the signature has expired",
        [GG_SIGV4_EARLY] = "the signature is from the future; is the clock right?",
        [GG_SIGV4_UNFIT] = "the signature does not cover what it must",
    };
    return texts[verdict];
}

static bool signs(const char *signed_headers, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = signed_headers; *at;) {
        size_t part = strcspn(at, ";");
        if (part == len && strncmp(at, name, len) == 0)
            return true;
        at += part + (at[part] == ';');
    }
    return false;
}

static gg_sigv4_verdict check_time(const gg_sigv4_claim *claim, int64_t now_s)
{
    int64_t lasts = claim->expires_s ? claim->expires_s : GG_SIGV4_SKEW_S;
    if (now_s - claim->time_s > lasts)
        return GG_SIGV4_EXPIRED;
    return claim->time_s - now_s > GG_SIGV4_SKEW_S ? GG_SIGV4_EARLY : GG_SIGV4_GOOD;
}

gg_sigv4_verdict gg_sigv4_check(const gg_sigv4_received *request, const gg_sigv4_claim *claim,
                                const char *secret, int64_t now_s)
{
    const gg_sigv4_matter matter = {.method = request->method,
                                    .path = request->path,
                                    .query = request->query,
                                    .signed_headers = claim->signed_headers,
                                    .header = request->header,
                                    .context = request->context,
                                    .payload_hash = request->payload_hash,
                                    .s3 = request->s3,
                                    .region = claim->region,
                                    .service = claim->service,
                                    .stamp = claim->stamp};
    char signature[GG_DIGEST_HEX];
    if (!signs(claim->signed_headers, "host") || strncmp(claim->day, claim->stamp, 8) != 0 ||
        gg_sigv4_signature(&matter, secret, signature, NULL) != GG_OK)
        return GG_SIGV4_UNFIT;
    if (CRYPTO_memcmp(signature, claim->signature, sizeof signature) != 0)
        return GG_SIGV4_MISMATCH;
    return check_time(claim, now_s);
}
