/*
 * A request's way through an endpoint. Private to net/endpoint.c (address, sending, look),
 * net/queue.c (queue, pause, timer) and net/failure.c (what a failure leads to).
 */
#ifndef GG_NET_POST_H
#define GG_NET_POST_H

#include "net/address.h"
#include "net/due.h"
#include "net/endpoint.h"

#define GG_POST_HEADERS 64 /* of one request, all sources together */

typedef struct gg_post_list {
    gg_post *first, *last;
    size_t count;
} gg_post_list;

typedef enum gg_post_stage {
    GG_POST_QUEUED,
    GG_POST_FLYING,
    GG_POST_WAITING /* for its next attempt, or to end (with `trouble`) */
} gg_post_stage;

struct gg_post {
    gg_due due; /* first: the deadline while queued, the next step while waiting */
    gg_endpoint *endpoint;
    gg_post_stage stage;
    gg_post *before, *after;
    gg_transfer *transfer;
    gg_post_done done;
    void *context;
    gg_retry_judge accept;
    int64_t deadline_ms; /* INT64_MAX when there is none */
    int64_t started_ms, failed_ms;
    int tries;           /* attempts that count */
    int64_t first_epoch; /* the endpoint's at the first failure */
    int64_t epoch;       /* and when this one was last counted as failing */
    bool cut_short;      /* the attempt's time is what the deadline leaves */
    bool signed_again;   /* a refusal was answered by a new signature */
    bool sign_again;     /* the next attempt is that answer */
    uint64_t last_500;   /* hash of the text */
    int same_500;
    char *trouble; /* why it could not be sent at all, or what went wrong last */
    bool hopeless; /* `trouble` is the former */
    gg_attempt one, *attempts;
    size_t attempt_count, attempt_room;
    const char *path, *body;
    size_t body_len, header_count;
    const char **headers;
};

struct gg_endpoint {
    gg_http *http;
    uv_loop_t *loop;
    uv_timer_t timer;
    gg_address address;
    gg_secrets secrets;
    char *unix_socket;
    char **headers;
    size_t header_count;
    gg_endpoint_options options;
    gg_post_list queue, flying;
    size_t waiting, live;
    gg_due_heap heap;
    gg_buf message, url, lines; /* scratch */
    bool held;                  /* the signer is not ready */
    /* the shared pause */
    int64_t paused_until_ms, ramp_ms;
    size_t ramp_started;
    gg_retry_class pause_class;
    int busy_streak;
    /* signs of life */
    int64_t epoch;  /* grows with each good reply */
    size_t failing; /* requests that failed in this epoch */
    int64_t first_ms, requests, retries, last_reply_ms;
    bool ever_good;
};

int64_t gg_endpoint_now(const gg_endpoint *e);
/* Sends what may be sent now and sets the timer to what comes next. */
void gg_endpoint_pump(gg_endpoint *e);
void gg_endpoint_on_timer(uv_timer_t *timer);
void gg_endpoint_pause(gg_endpoint *e, gg_retry_class class, int64_t delay_ms);
/* A new post flies at once when it may, else it queues. */
void gg_post_begin(gg_post *post);
void gg_post_enqueue(gg_post *post, bool front);
/* Waits for its next attempt. */
void gg_post_wait(gg_post *post, int64_t until_ms);
/* Takes a request out of wherever it is. */
void gg_post_withdraw(gg_post *post);
void gg_post_free(gg_post *post);
/* Calls back and frees; the request is in no list any more. */
void gg_post_finish(gg_post *post, gg_retry_class outcome, const gg_http_reply *reply,
                    const char *message);
void gg_post_note(gg_post *post, int status, gg_retry_class class);

/* A reply was (not) a sign of life. */
void gg_endpoint_note(gg_post *post, bool alive);
/* After gg_retry_classify or the judge, whose text is in e->message: tries again or finishes. */
void gg_post_failed(gg_post *post, gg_retry_class class, const gg_http_reply *reply);

#endif
