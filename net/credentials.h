/*
 * AWS credentials, from where the AWS clients take them, in their order:
 *
 *   environment   AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
 *   web identity  AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN, AWS_ROLE_SESSION_NAME: the token
 *                 buys keys of the role at the security token service of AWS_REGION; another
 *                 address by AWS_ENDPOINT_URL_STS
 *   shared file   AWS_SHARED_CREDENTIALS_FILE, else ~/.aws/credentials; section AWS_PROFILE, else
 *                 "default"
 *   container     AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI, with the token of
 *                 AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE or AWS_CONTAINER_AUTHORIZATION_TOKEN
 *   instance      the metadata service, version 2, unless AWS_EC2_METADATA_DISABLED is "true";
 *                 another address by AWS_EC2_METADATA_SERVICE_ENDPOINT
 *
 * The first source that is there counts; one that is there and broken is an error, not passed over
 * (a profile that is missing while AWS_PROFILE names it, half a key). Keys that expire are renewed
 * in good time; while they are, or when there are none yet, one request goes out, however many
 * wait. Keys never stand in an error's text.
 *
 * Threads: the loop's thread.
 */
#ifndef GG_NET_CREDENTIALS_H
#define GG_NET_CREDENTIALS_H

#include "net/http.h"
#include "net/sigv4.h"

#define GG_CREDENTIALS_AHEAD_S  300 /* renewed in the background so long before they expire */
#define GG_CREDENTIALS_LAST_S   30  /* not used any more so long before */
#define GG_CREDENTIALS_TRIES    3
#define GG_CREDENTIALS_BASE_MS  500   /* between tries, doubled each time */
#define GG_CREDENTIALS_CALL_MS  5000  /* of one request */
#define GG_CREDENTIALS_SORRY_MS 1000  /* a failure is told so long before it is tried again */
#define GG_CREDENTIALS_REST_MS  10000 /* after a failed renewal while the old keys still hold */
#define GG_CREDENTIALS_MAX      (256u << 10) /* bytes of a file or a reply */

typedef struct gg_credentials gg_credentials;

typedef struct gg_credentials_options {
    gg_http *http;
    /* For tests; NULL = getenv, the system's clock (Unix time), http://169.254.170.2. */
    const char *(*variable)(const char *name);
    int64_t (*clock_s)(void);
    const char *container_base;
} gg_credentials_options;

gg_status gg_credentials_new(const gg_credentials_options *options, gg_credentials **out,
                             gg_error *error);
/* Waiters are forgotten. The caller lets the loop run once more. NULL is fine. */
void gg_credentials_free(gg_credentials *credentials);

/* The keys to use now, valid until the loop runs again. GG_E_STATE: they are being fetched (this
 * call has begun it, if nobody had); wait. Else why there are none. */
gg_status gg_credentials_keys(gg_credentials *credentials, gg_aws_keys *out, gg_error *error);
/* These keys were refused: the next call fetches them anew. */
void gg_credentials_forget(gg_credentials *credentials);
/* Changes whenever the keys may have changed. */
int64_t gg_credentials_version(const gg_credentials *credentials);
int64_t gg_credentials_now(const gg_credentials *credentials); /* Unix time */

/* Told once, from the loop, when the fetching has ended, well or not. The caller's memory. */
typedef struct gg_credentials_waiter gg_credentials_waiter;
struct gg_credentials_waiter {
    void (*ready)(gg_credentials_waiter *waiter);
    gg_credentials_waiter *next; /* the credentials' own */
    bool waits;
};
void gg_credentials_wait(gg_credentials *credentials, gg_credentials_waiter *waiter);
void gg_credentials_leave(gg_credentials *credentials, gg_credentials_waiter *waiter);

#endif
