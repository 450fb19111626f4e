/*
 * What to do with a failed request: tables from what was seen to a class, and the delay before the
 * next attempt. Pure functions.
 *
 * Sources of the tables: the error bodies, codes and wordings of OpenAI, Azure, vLLM, SGLang,
 * llama.cpp, TGI, LiteLLM, OpenRouter, FastAPI and AWS JSON services, as their public source and
 * documents give them.
 */
#ifndef GG_NET_RETRY_H
#define GG_NET_RETRY_H

#include "net/http.h"
#include <guessgym/record.h>

#define GG_RETRY_ATTEMPTS      8
#define GG_RETRY_BASE_MS       500
#define GG_RETRY_CAP_MS        30000
#define GG_RETRY_SERVER_CAP_MS 120000       /* who asks for a longer wait stops the run */
#define GG_RETRY_BODY_MAX      (256u << 10) /* of an error body that is looked into */
#define GG_RETRY_TEXT_MAX      400          /* bytes of an error's text that are kept */
#define GG_RETRY_RAW_MAX       200          /* of a body that is no known error object */

typedef enum gg_retry_class {
    GG_RETRY_OK = 0,
    GG_RETRY_TRANSPORT, /* no whole reply: retry */
    GG_RETRY_TIMEOUT,   /* our own or 408: retry */
    GG_RETRY_RATE,      /* 429: retry, shared pause */
    GG_RETRY_SERVER,    /* 5xx, 409, 425: retry */
    GG_RETRY_BAD_REPLY, /* a 200 whose body is no reply: retry */
    GG_RETRY_CONTEXT,   /* context overflow: the episode is truncated */
    GG_RETRY_REFUSED,   /* 400, 422 ...: this request will never work; ends the episode */
    GG_RETRY_STOP,      /* quota, 401, 402, 403, 404: stop the run */
    GG_RETRY_DEADLINE,
    GG_RETRY_BUSY,     /* 503, 529: overloaded; retry, shared pause */
    GG_RETRY_STARTING, /* 503 that says the model is loading: retry with more patience */
    GG_RETRY_CLASS_COUNT
} gg_retry_class;

const char *gg_retry_class_name(gg_retry_class c); /* "rate", "server" ... as in the record */
bool gg_retry_again(gg_retry_class c);             /* another attempt makes sense */
bool gg_retry_shared(gg_retry_class c); /* the whole endpoint is meant, not the request */

/* Class of a reply by transport, status, error code and wording; x-should-retry overrules. Appends
 * the error's text to `message` (first non-empty of error.message, error, message, Message, detail,
 * the body's first bytes; libcurl's sentence for a transport failure); nothing for GG_RETRY_OK. */
gg_retry_class gg_retry_classify(const gg_http_reply *reply, gg_buf *message);
/* A second look at a 2xx reply, by who knows the body's format. `context` is that of the request.
 * When it answers GG_RETRY_OK the request's callback follows at once, before anything else on the
 * loop, so a judge may keep what it parsed for it. */
typedef gg_retry_class (*gg_retry_judge)(void *context, const gg_http_reply *reply,
                                         gg_buf *message);
/* What a person can do about a status: "check the API key"; "" when there is nothing to say. */
const char *gg_retry_advice(int status);

/* Delay the server asked for: retry-after-ms, Retry-After as seconds or date, "try again in 41.7s"
 * in the text, x-ratelimit-reset-requests and -tokens with a 429; -1 = none. */
int64_t gg_retry_server_delay(const gg_http_reply *reply, const char *message, int64_t now_unix_ms);
/* "1m6.5s", "850ms", "41.7 seconds", a bare number of seconds; -1 = no duration at the text's
 * start. */
int64_t gg_retry_duration(const char *text);
/* Full jitter: uniform in [0, min(cap, base * 2^attempt)]; `unit` in [0,1), attempt from 0. */
int64_t gg_retry_delay(int attempt, double unit);
/* The `unit` of an attempt, from the seed and the request's own bytes: the same in every run. */
double gg_retry_unit(uint64_t seed, const char *path, const char *body, size_t len, int attempt);
/* FNV-1a, 64 bits, started from `seed`. */
uint64_t gg_retry_hash(uint64_t seed, const void *bytes, size_t len);

#endif
