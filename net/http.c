#include "net/listen.h"
#include "net/transfer.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void join_running(gg_transfer *t)
{
    gg_http *http = t->http;
    t->before = NULL;
    t->after = http->running;
    if (t->after)
        t->after->before = t;
    http->running = t;
    http->in_flight++;
}

static void leave_running(gg_transfer *t)
{
    gg_http *http = t->http;
    *(t->before ? &t->before->after : &http->running) = t->after;
    if (t->after)
        t->after->before = t->before;
    http->in_flight--;
}

static void to_idle(gg_transfer *t)
{
    gg_http *http = t->http;
    gg_transfer_give_reply(t);
    t->lane = NULL;
    t->after = http->idle;
    http->idle = t;
}

static void finish(gg_transfer *t, gg_transport transport, const char *detail)
{
    gg_http_reply reply;
    gg_transfer_fill(t, transport, detail, &reply);
    leave_running(t);
    t->done(t->context, &reply);
    to_idle(t);
}

static void start(gg_transfer *t)
{
    t->lane = gg_lanes_add(t->http->lanes, t->easy);
}

/* The host's name leads nowhere: who waits for it fails as the scout did. The callbacks may send
 * and cancel meanwhile. */
static void fail_waiting(gg_host *h, const char *detail)
{
    for (gg_transfer *w = h->first; w; w = w->waits_after)
        w->doomed = true;
    while (h->first && h->first->doomed) {
        gg_transfer *w = h->first;
        gg_host_leave(w);
        finish(w, GG_TRANSPORT_RESOLVE, detail);
    }
}

static void start_waiting(gg_host *h)
{
    while (h->known && h->first) {
        gg_transfer *w = h->first;
        gg_host_leave(w);
        start(w);
        if (!w->lane)
            finish(w, GG_TRANSPORT_OTHER, "out of memory");
    }
}

static void send_scout(gg_host *h)
{
    gg_transfer *t = h->first;
    gg_host_leave(t);
    gg_scout_begin(t);
    start(t);
    if (t->lane)
        return;
    gg_scout_end(t);
    finish(t, GG_TRANSPORT_OTHER, "out of memory");
}

static void on_done(void *context, CURL *easy, CURLcode code)
{
    (void)context;
    gg_transfer *t = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &t);
    gg_transport transport = gg_transfer_result(t, code);
    gg_host *h = t->host;
    bool scout = h->scout == t;
    if (scout)
        gg_scout_end(t);
    if (transport == GG_TRANSPORT_CONNECT || transport == GG_TRANSPORT_RESOLVE) {
        h->known = false;
        h->stale = true;
    }
    char detail[CURL_ERROR_SIZE];
    memcpy(detail, t->detail, sizeof detail);
    if (transport == GG_TRANSPORT_TOO_BIG && (!t->reply || t->reply->status == GG_E_MEMORY)) {
        transport = GG_TRANSPORT_OTHER;
        snprintf(detail, sizeof detail, "out of memory");
    } else if (transport == GG_TRANSPORT_TOO_BIG)
        snprintf(detail, sizeof detail, "the reply is longer than %zu bytes", t->reply_max);
    finish(t, transport, detail);
    if (scout && transport == GG_TRANSPORT_RESOLVE)
        fail_waiting(h, detail);
    t->http->release = t->http->release || h->first;
}

/* libcurl has run: hosts that have become known let their transfers go. */
static void on_after(void *context)
{
    gg_http *http = context;
    if (!http->release)
        return;
    http->release = false;
    for (gg_host *h = http->hosts; h; h = h->next) {
        start_waiting(h);
        if (!h->known && !h->scout && h->first)
            send_scout(h);
    }
}

gg_status gg_http_send(gg_http *http, const gg_http_request *request, gg_http_done done,
                       void *context, gg_transfer **transfer, gg_error *error)
{
    *transfer = NULL;
    gg_transfer *t = http->idle;
    if (t)
        http->idle = t->after;
    else if (!(t = gg_transfer_new(http)))
        return gg_fail(error, GG_E_MEMORY, "no memory for a request");
    gg_status status = gg_transfer_configure(t, request, error);
    if (status != GG_OK) {
        gg_transfer_free(t);
        return status;
    }
    t->done = done;
    t->context = context;
    t->started_ms = uv_now(http->loop);
    t->detail[0] = '\0';
    t->doomed = false;
    join_running(t);
    if (!t->unix_socket && !t->host->known && t->host->scout) {
        gg_host_wait(t);
        *transfer = t;
        return GG_OK;
    }
    if (!t->unix_socket && !t->host->known)
        gg_scout_begin(t);
    start(t);
    if (!t->lane) {
        if (t->host->scout == t)
            gg_scout_end(t);
        leave_running(t);
        to_idle(t);
        return gg_fail(error, GG_E_MEMORY, "no memory for a request");
    }
    *transfer = t;
    return GG_OK;
}

void gg_http_cancel(gg_transfer *t)
{
    gg_host *h = t->host;
    if (t->lane)
        gg_lane_remove(t->lane, t->easy);
    else
        gg_host_leave(t);
    leave_running(t);
    if (h->scout == t) {
        gg_scout_end(t);
        if (h->first)
            send_scout(h);
    }
    to_idle(t);
}

size_t gg_http_in_flight(const gg_http *http)
{
    return http->in_flight;
}

uv_loop_t *gg_http_loop(const gg_http *http)
{
    return http->loop;
}

/* ---- the client ---- */

static void start_libcurl(void)
{
    curl_global_init(CURL_GLOBAL_ALL);
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
        now.sa_handler = SIG_IGN;
        sigaction(SIGPIPE, &now, NULL);
    }
}

gg_status gg_http_new(uv_loop_t *loop, gg_http **out, gg_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_libcurl);
    gg_files_raise();
    *out = NULL;
    gg_http *http = calloc(1, sizeof *http);
    CURLSH *names = http ? curl_share_init() : NULL;
    if (!names) {
        free(http);
        return gg_fail(error, GG_E_MEMORY, "no memory for an HTTP client");
    }
    http->loop = loop;
    http->names = names;
    /* One thread uses it, so it needs no locks. */
    curl_share_setopt(names, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    gg_lanes_calls calls = {.done = on_done, .after = on_after, .context = http};
    gg_status status = gg_lanes_new(loop, &calls, &http->lanes, error);
    if (status != GG_OK) {
        gg_http_free(http);
        return status;
    }
    *out = http;
    return GG_OK;
}

void gg_http_free(gg_http *http)
{
    if (!http)
        return;
    for (gg_transfer *t = http->running, *next; t; t = next) {
        next = t->after;
        if (t->lane)
            gg_lane_remove(t->lane, t->easy);
        gg_transfer_free(t);
    }
    for (gg_transfer *t = http->idle, *next; t; t = next) {
        next = t->after;
        gg_transfer_free(t);
    }
    gg_lanes_free(http->lanes);
    curl_share_cleanup(http->names);
    gg_replies_free(http);
    gg_hosts_free(http);
    free(http);
}
