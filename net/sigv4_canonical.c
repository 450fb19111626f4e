/* The canonical form of a request, and its signature. */
#include "net/sigv4_inside.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#define QUERY_PAIRS_MAX 1024
#define KEY_BYTES       32 /* of SHA-256 */
#define SECRET_MAX      1024
#define TIME_MAX        253402300799 /* the last second of 9999 */

void gg_sigv4_stamp(int64_t time_s, char out[GG_SIGV4_STAMP_ROOM])
{
    struct tm utc;
    time_t time = (time_t)time_s;
    out[0] = '\0';
    if (time_s >= 0 && time_s <= TIME_MAX && gmtime_r(&time, &utc))
        strftime(out, GG_SIGV4_STAMP_ROOM, "%Y%m%dT%H%M%SZ", &utc);
}

bool gg_sigv4_time(const char *stamp, int64_t *time_s)
{
    struct tm utc = {0};
    char again[GG_SIGV4_STAMP_ROOM];
    if (strlen(stamp) != GG_SIGV4_STAMP_ROOM - 1)
        return false;
    const char *end = strptime(stamp, "%Y%m%dT%H%M%SZ", &utc);
    if (!end || *end)
        return false;
    *time_s = (int64_t)timegm(&utc);
    /* strptime lets the 31st of February and blanks for digits pass. */
    gg_sigv4_stamp(*time_s, again);
    return strcmp(again, stamp) == 0;
}

/* ------------------------------------------------------------------ percent-encoding */

static bool is_plain(char c, bool keep_slash)
{
    bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return alnum || (c && strchr("-._~", c)) || (keep_slash && c == '/');
}

void gg_sigv4_encode(gg_buf *out, const char *text, size_t len, bool keep_slash)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (is_plain(text[i], keep_slash)) {
            gg_buf_char(out, text[i]);
            continue;
        }
        gg_buf_char(out, '%');
        gg_buf_char(out, digits[c >> 4]);
        gg_buf_char(out, digits[c & 15]);
    }
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void gg_sigv4_decode(gg_buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        int high = text[i] == '%' && i + 2 < len ? hex_value(text[i + 1]) : -1;
        int low = high >= 0 ? hex_value(text[i + 2]) : -1;
        if (low < 0) {
            gg_buf_char(out, text[i]);
            continue;
        }
        gg_buf_char(out, (char)(high << 4 | low));
        i += 2;
    }
}

/* ------------------------------------------------------------------ the canonical request */

/* Dot segments and empty ones go, as RFC 3986 5.2.4 and AWS want it. */
static void add_normal_path(gg_buf *out, const char *path)
{
    gg_buf kept; /* '/' before each segment */
    gg_buf_init(&kept, GG_SIGV4_TEXT_MAX);
    size_t len = strlen(path);
    for (const char *at = path; *at;) {
        size_t part = strcspn(at, "/");
        if (part == 2 && at[0] == '.' && at[1] == '.') {
            const char *slash = kept.len ? strrchr(kept.data, '/') : NULL;
            gg_buf_truncate(&kept, slash ? (size_t)(slash - kept.data) : 0);
        } else if (part && !(part == 1 && at[0] == '.')) {
            gg_buf_char(&kept, '/');
            gg_buf_add(&kept, at, part);
        }
        at += part + (at[part] == '/');
    }
    if (!kept.len || path[len - 1] == '/')
        gg_buf_char(&kept, '/');
    gg_sigv4_encode(out, gg_buf_cstr(&kept), kept.len, true);
    if (kept.status != GG_OK)
        out->status = kept.status;
    gg_buf_free(&kept);
}

typedef struct pair { /* places in the scratch buffer, and texts once that no longer moves */
    size_t name_at, value_at;
    const char *name, *value;
} pair;

static int by_name_and_value(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->value, y->value);
}

/* Decoded and encoded again, so that "%2f" and "%2F" are the same. */
static void recode(gg_buf *out, const char *text, size_t len)
{
    gg_buf plain;
    gg_buf_init(&plain, GG_SIGV4_TEXT_MAX);
    gg_sigv4_decode(&plain, text, len);
    gg_sigv4_encode(out, gg_buf_cstr(&plain), plain.len, false);
    if (plain.status != GG_OK)
        out->status = plain.status;
    gg_buf_free(&plain);
}

/* The query's pairs, but for the signature. */
static size_t read_pairs(const char *query, pair *pairs, gg_buf *texts)
{
    size_t count = 0;
    for (const char *at = query; *at && count < QUERY_PAIRS_MAX;) {
        size_t len = strcspn(at, "&"), name = 0;
        while (name < len && at[name] != '=')
            name++;
        pair *p = &pairs[count];
        size_t begun = texts->len;
        p->name_at = begun;
        recode(texts, at, name);
        gg_buf_char(texts, '\0');
        p->value_at = texts->len;
        if (name < len)
            recode(texts, at + name + 1, len - name - 1);
        gg_buf_char(texts, '\0');
        if (!len || (texts->status == GG_OK &&
                     strcmp(texts->data + p->name_at, GG_SIGV4_SIGNATURE_KEY) == 0))
            gg_buf_truncate(texts, begun);
        else
            count++;
        at += len + (at[len] == '&');
    }
    return count;
}

static void add_query(gg_buf *out, const char *query)
{
    gg_buf texts;
    pair *pairs = calloc(QUERY_PAIRS_MAX, sizeof *pairs);
    if (!pairs) {
        out->status = GG_E_MEMORY;
        return;
    }
    gg_buf_init(&texts, GG_SIGV4_TEXT_MAX);
    size_t count = read_pairs(query, pairs, &texts);
    if (texts.status != GG_OK) {
        out->status = texts.status;
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        pairs[i].name = texts.data + pairs[i].name_at;
        pairs[i].value = texts.data + pairs[i].value_at;
    }
    if (count)
        qsort(pairs, count, sizeof *pairs, by_name_and_value);
    for (size_t i = 0; i < count; i++)
        gg_buf_printf(out, "%s%s=%s", i ? "&" : "", pairs[i].name, pairs[i].value);
    gg_buf_free(&texts);
    free(pairs);
}

/* Outer blanks go, inner ones become one. */
static void add_folded(gg_buf *out, const char *value)
{
    bool begun = false;
    while (*value) {
        value += strspn(value, " \t\r\n\v\f");
        size_t part = strcspn(value, " \t\r\n\v\f");
        if (part && begun)
            gg_buf_char(out, ' ');
        gg_buf_add(out, value, part);
        begun = begun || part;
        value += part;
    }
}

static gg_status add_headers(gg_buf *out, const gg_sigv4_matter *matter, gg_error *error)
{
    char name[GG_SIGV4_NAME_ROOM];
    for (const char *at = matter->signed_headers; *at;) {
        size_t len = strcspn(at, ";");
        if (len >= sizeof name)
            return gg_fail(error, GG_E_ARGUMENT, "a signed header's name is too long");
        memcpy(name, at, len);
        name[len] = '\0';
        const char *value = matter->header(matter->context, name);
        if (!value)
            return gg_fail(error, GG_E_ARGUMENT, "the signed header %s is missing", name);
        gg_buf_printf(out, "%s:", name);
        add_folded(out, value);
        gg_buf_char(out, '\n');
        at += len + (at[len] == ';');
    }
    return GG_OK;
}

static gg_status add_canonical(gg_buf *out, const gg_sigv4_matter *matter, gg_error *error)
{
    const char *path = matter->path && *matter->path ? matter->path : "/";
    gg_buf_printf(out, "%s\n", matter->method);
    if (matter->s3)
        gg_buf_str(out, path);
    else
        add_normal_path(out, path);
    gg_buf_char(out, '\n');
    add_query(out, matter->query ? matter->query : "");
    gg_buf_char(out, '\n');
    gg_status status = add_headers(out, matter, error);
    if (status != GG_OK)
        return status;
    gg_buf_printf(out, "\n%s\n%s", matter->signed_headers, matter->payload_hash);
    return gg_buf_status(out, "a request's head", error);
}

/* ------------------------------------------------------------------ the signature */

static bool mac(const void *key, size_t key_len, const char *text, uint8_t out[KEY_BYTES])
{
    unsigned len = 0;
    return HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text, strlen(text), out,
                &len) &&
           len == KEY_BYTES;
}

/* AWS4 + secret -> day -> region -> service -> "aws4_request". */
static bool derive(const gg_sigv4_matter *matter, const char *secret, uint8_t key[KEY_BYTES])
{
    char first[SECRET_MAX + 5], day[9];
    size_t len = strlen(secret);
    if (len > SECRET_MAX)
        return false;
    memcpy(first, "AWS4", 4);
    memcpy(first + 4, secret, len);
    memcpy(day, matter->stamp, 8);
    day[8] = '\0';
    bool made = mac(first, len + 4, day, key) && mac(key, KEY_BYTES, matter->region, key) &&
                mac(key, KEY_BYTES, matter->service, key) &&
                mac(key, KEY_BYTES, "aws4_request", key);
    OPENSSL_cleanse(first, sizeof first);
    return made;
}

static bool sign_text(const gg_sigv4_matter *matter, const char *secret, const char *text,
                      char out[GG_DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t key[KEY_BYTES], signature[KEY_BYTES];
    bool made = derive(matter, secret, key) && mac(key, KEY_BYTES, text, signature);
    for (size_t i = 0; made && i < KEY_BYTES; i++) {
        out[2 * i] = digits[signature[i] >> 4];
        out[2 * i + 1] = digits[signature[i] & 15];
    }
    out[made ? 2 * KEY_BYTES : 0] = '\0';
    OPENSSL_cleanse(key, sizeof key);
    return made;
}

gg_status gg_sigv4_signature(const gg_sigv4_matter *matter, const char *secret,
                             char out[GG_DIGEST_HEX], gg_error *error)
{
    gg_buf canonical, text;
    char digest[GG_DIGEST_HEX];
    gg_buf_init(&canonical, GG_SIGV4_TEXT_MAX);
    gg_buf_init(&text, GG_SIGV4_TEXT_MAX);
    gg_status status = add_canonical(&canonical, matter, error);
    if (status == GG_OK) {
        gg_sha256_hex(canonical.data, canonical.len, digest);
        gg_buf_printf(&text, GG_SIGV4_ALGORITHM "\n%s\n%.8s/%s/%s/aws4_request\n%s", matter->stamp,
                      matter->stamp, matter->region, matter->service, digest);
        status = gg_buf_status(&text, "a text to sign", error);
    }
    if (status == GG_OK && !sign_text(matter, secret, text.data, out))
        status = gg_fail(error, GG_E_ARGUMENT, "the secret key cannot be used for signing");
    gg_buf_free(&canonical);
    gg_buf_free(&text);
    return status;
}
