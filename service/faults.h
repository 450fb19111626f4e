/*
 * Fault scripts: which request meets which trouble. docs/faults.md describes them for users.
 *
 *     # half an outage
 *     seed 7
 *     10% : status 503 retry-after-ms=20
 *     5%  : reset
 *     turn 2, 20% : as-tag
 *     request 500.. : quota
 *
 * What a request meets follows from the script's seed and the request's own bytes, counting how
 * often they came: never from time or the order of different requests (but for the conditions that
 * say so: `request`, `every`, `times`). Troubles of the model are drawn apart from those of
 * the transport, so that the latter change no play.
 *
 * Threads: a script may be used by many at once.
 */
#ifndef GG_SERVICE_FAULTS_H
#define GG_SERVICE_FAULTS_H

#include "service/trouble.h"

#define GG_FAULTS_MAX    (1u << 20) /* bytes of a script */
#define GG_FAULTS_RULES  256
#define GG_FAULTS_IN_ROW 3          /* transport troubles in a row on one request */
#define GG_FAULTS_SEEN   (1u << 20) /* different requests remembered; then all are forgotten */
#define GG_RULE_HEADERS  4
#define GG_RULE_TEXT     256

/* One rule's trouble with its settings. */
typedef struct gg_rule {
    const gg_trouble *trouble;
    /* when */
    double share;                     /* of 1; 1 = always */
    int64_t request_from, request_to; /* counted over all requests, from 1 */
    int64_t turn_from, turn_to;       /* of the conversation, from 1 */
    int64_t attempt_from, attempt_to; /* of the same bytes, from 1 */
    int64_t every;                    /* each n-th request; 0 = all */
    int64_t times;                    /* most hits; 0 = any number */
    /* how; 0 or "" where not said */
    int status;
    size_t bytes, piece;
    int64_t delay_ms, every_ms;
    char form[16], message[GG_RULE_TEXT];
    char headers[GG_RULE_HEADERS][GG_RULE_TEXT];
    size_t header_count;
    int64_t retry_date_s; /* Retry-After as a date so far ahead; -1 = none */
} gg_rule;

typedef struct gg_faults gg_faults;

/* GG_E_CONFIG with file, line and the name that was probably meant. `name` is for messages. */
gg_status gg_faults_parse(const char *text, size_t len, const char *name, gg_faults **out,
                          gg_error *error);
/* Reads a file. */
gg_status gg_faults_load(const char *path, gg_faults **out, gg_error *error);
void gg_faults_free(gg_faults *script);
const char *gg_faults_policy(const gg_faults *script); /* who answers; NULL = not said */
bool gg_faults_checks(const gg_faults *script);        /* whether histories are checked */

typedef struct gg_verdict {
    const gg_rule *wire;  /* transport or stop; NULL = none */
    const gg_rule *model; /* what becomes of the reply, when one is given; NULL = none */
    int64_t request, attempt;
} gg_verdict;
/* Counts one request. `turn`: from 1. */
gg_verdict gg_faults_decide(gg_faults *script, const char *body, size_t len, int64_t turn);
/* How often each class was decided, for the closing line. */
int64_t gg_faults_hits(const gg_faults *script, gg_trouble_class class);
int64_t gg_faults_requests(const gg_faults *script);

#endif
