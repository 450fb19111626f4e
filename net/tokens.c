#include "net/tokens.h"

#include <stdlib.h>
#include <string.h>

typedef struct token {
    struct token *next;
    gg_buf text; /* empty = none */
    int64_t made_s, version;
    char region[];
} token;

struct gg_tokens {
    gg_credentials *credentials;
    token *first;
};

struct gg_signer {
    gg_credentials_waiter waiter; /* first */
    gg_tokens *tokens;
    token *token;
    gg_endpoint *endpoint;
};

gg_tokens *gg_tokens_new(gg_credentials *credentials)
{
    gg_tokens *tokens = calloc(1, sizeof *tokens);
    if (tokens)
        tokens->credentials = credentials;
    return tokens;
}

void gg_tokens_free(gg_tokens *tokens)
{
    if (!tokens)
        return;
    for (token *t = tokens->first, *next; t; t = next) {
        next = t->next;
        gg_buf_free(&t->text);
        free(t);
    }
    free(tokens);
}

static token *token_of(gg_tokens *tokens, const char *region)
{
    size_t len = strlen(region);
    for (token *t = tokens->first; t; t = t->next)
        if (strcmp(t->region, region) == 0)
            return t;
    token *t = calloc(1, sizeof *t + len + 1);
    if (!t)
        return NULL;
    gg_buf_init(&t->text, GG_BEARER_MAX);
    memcpy(t->region, region, len + 1);
    t->next = tokens->first;
    tokens->first = t;
    return t;
}

static void on_ready(gg_credentials_waiter *waiter)
{
    gg_endpoint_go_on(((gg_signer *)waiter)->endpoint);
}

gg_status gg_signer_new(gg_tokens *tokens, const char *region, gg_signer **out, gg_error *error)
{
    *out = NULL;
    gg_signer *signer = calloc(1, sizeof *signer);
    token *t = signer ? token_of(tokens, region) : NULL;
    if (!t) {
        free(signer);
        return gg_fail(error, GG_E_MEMORY, "no memory for a signer");
    }
    signer->waiter.ready = on_ready;
    signer->tokens = tokens;
    signer->token = t;
    *out = signer;
    return GG_OK;
}

void gg_signer_attach(gg_signer *signer, gg_endpoint *endpoint)
{
    signer->endpoint = endpoint;
}

void gg_signer_free(gg_signer *signer)
{
    if (!signer)
        return;
    gg_credentials_leave(signer->tokens->credentials, &signer->waiter);
    free(signer);
}

/* The token was refused. */
static void drop(gg_signer *signer, int64_t now)
{
    token *t = signer->token;
    if (!t->text.len || now - t->made_s < GG_TOKEN_FRESH_S)
        return;
    gg_buf_reset(&t->text);
    gg_credentials_forget(signer->tokens->credentials);
}

static gg_status renew(gg_signer *signer, int64_t now, gg_error *error)
{
    gg_credentials *credentials = signer->tokens->credentials;
    token *t = signer->token;
    gg_aws_keys keys;
    gg_status status = gg_credentials_keys(credentials, &keys, error);
    if (status == GG_E_STATE)
        gg_credentials_wait(credentials, &signer->waiter);
    if (status != GG_OK)
        return status;
    gg_buf_reset(&t->text);
    status = gg_bearer_make(&keys, t->region, now, GG_TOKEN_EXPIRES_S, &t->text, error);
    if (status != GG_OK) {
        gg_buf_reset(&t->text);
        return status;
    }
    t->made_s = now;
    t->version = gg_credentials_version(credentials);
    return GG_OK;
}

gg_status gg_signer_sign(void *context, const gg_sign_request *request, gg_buf *lines,
                         gg_error *error)
{
    gg_signer *signer = context;
    gg_credentials *credentials = signer->tokens->credentials;
    token *t = signer->token;
    int64_t now = gg_credentials_now(credentials);
    gg_status status = GG_OK;
    if (request->again)
        drop(signer, now);
    bool good = t->text.len && now - t->made_s < GG_TOKEN_KEEP_S && now >= t->made_s &&
                t->version == gg_credentials_version(credentials);
    if (!good)
        status = renew(signer, now, error);
    if (status != GG_OK)
        return status;
    gg_buf_printf(lines, "Authorization: Bearer %s\n", gg_buf_cstr(&t->text));
    return GG_OK;
}
