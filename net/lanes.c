#include "net/lanes.h"
#include "net/http.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A descriptor that libcurl wants watched. */
typedef struct watch {
    uv_poll_t poll; /* first: the close callback frees the whole */
    gg_lane *lane;  /* of the last transfer that used it */
    curl_socket_t fd;
    int events;  /* registered with the loop */
    bool wanted; /* libcurl waits for it; else an idle connection */
    bool open;   /* `poll` is initialised */
} watch;

struct gg_lane {
    gg_lanes *owner;
    CURLM *multi;
    uv_timer_t timer;
    size_t count; /* transfers in it */
    bool due;     /* in the list of lanes to run */
    gg_lane *next_due;
    gg_lane *before, *after; /* lanes with room, the last used first */
    gg_lane *next;           /* all */
};

struct gg_lanes {
    uv_loop_t *loop;
    gg_lanes_calls calls;
    uv_prepare_t prepare; /* runs the due lanes, right before the loop sleeps */
    uv_idle_t idle;       /* keeps it from sleeping while lanes are due */
    gg_lane *all, *roomy, *due;
    watch **watches; /* by descriptor */
    size_t watch_room;
    size_t handles; /* libuv handles not closed yet; the last one frees this */
    bool closing;
};

/* ---- room ---- */

static void room_out(gg_lane *lane)
{
    if (lane->before)
        lane->before->after = lane->after;
    else if (lane->owner->roomy == lane)
        lane->owner->roomy = lane->after;
    if (lane->after)
        lane->after->before = lane->before;
    lane->before = lane->after = NULL;
}

/* To the front: a lane that has just finished a transfer has a connection to spare. */
static void room_in(gg_lane *lane)
{
    gg_lanes *lanes = lane->owner;
    if (lanes->roomy == lane)
        return;
    room_out(lane);
    lane->after = lanes->roomy;
    if (lane->after)
        lane->after->before = lane;
    lanes->roomy = lane;
}

static void took_out(gg_lane *lane)
{
    lane->count--;
    room_in(lane);
    if (lane->count == 0)
        uv_unref((uv_handle_t *)&lane->timer);
}

/* ---- running libcurl ---- */

static void drain(gg_lane *lane)
{
    gg_lanes *lanes = lane->owner;
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(lane->multi, &left))) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result; /* the message dies with the removal */
        curl_multi_remove_handle(lane->multi, easy);
        took_out(lane);
        lanes->calls.done(lanes->calls.context, easy, code);
    }
    lanes->calls.after(lanes->calls.context);
}

static void run(gg_lane *lane, curl_socket_t fd, int mask)
{
    int running;
    CURLMcode code = curl_multi_socket_action(lane->multi, fd, mask, &running);
    if (code == CURLM_ABORTED_BY_CALLBACK) /* all are to fail: no event of theirs will come */
        curl_multi_perform(lane->multi, &running);
    drain(lane);
}

static void on_idle(uv_idle_t *idle)
{
    (void)idle;
}

static void on_prepare(uv_prepare_t *prepare)
{
    gg_lanes *lanes = prepare->data;
    gg_lane *batch = lanes->due;
    lanes->due = NULL;
    for (gg_lane *lane = batch, *next; lane; lane = next) {
        next = lane->next_due;
        lane->due = false;
        run(lane, CURL_SOCKET_TIMEOUT, 0);
    }
    if (lanes->due) {
        uv_idle_start(&lanes->idle, on_idle);
        return;
    }
    uv_idle_stop(&lanes->idle);
    uv_prepare_stop(prepare);
}

static void make_due(gg_lane *lane)
{
    gg_lanes *lanes = lane->owner;
    if (lane->due || lanes->closing)
        return;
    lane->due = true;
    lane->next_due = lanes->due;
    lanes->due = lane;
    uv_prepare_start(&lanes->prepare, on_prepare);
}

static void on_timer(uv_timer_t *timer)
{
    run(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

/* libcurl's timer callback: only notes things down, as libcurl must not be called from here. */
static int set_timer(CURLM *multi, long timeout_ms, void *context)
{
    (void)multi;
    gg_lane *lane = context;
    if (lane->owner->closing)
        return 0;
    if (timeout_ms == 0)
        make_due(lane);
    else if (timeout_ms < 0)
        uv_timer_stop(&lane->timer);
    else
        uv_timer_start(&lane->timer, on_timer, (uint64_t)timeout_ms, 0);
    return 0;
}

/* ---- sockets ---- */

static void handle_closed(gg_lanes *lanes);

static void on_watch_closed(uv_handle_t *handle)
{
    gg_lanes *lanes = handle->data;
    free(handle);
    handle_closed(lanes);
}

static void forget(gg_lanes *lanes, watch *w)
{
    lanes->watches[w->fd] = NULL;
    if (!w->open) {
        free(w);
        return;
    }
    uv_poll_stop(&w->poll);
    uv_close((uv_handle_t *)&w->poll, on_watch_closed);
}

static watch *watch_of(gg_lanes *lanes, curl_socket_t fd, bool make)
{
    size_t index = (size_t)fd;
    if (index >= lanes->watch_room) {
        size_t room = index + index / 2 + 64;
        watch **grown = make ? realloc(lanes->watches, room * sizeof(watch *)) : NULL;
        if (!grown)
            return NULL;
        memset(grown + lanes->watch_room, 0, (room - lanes->watch_room) * sizeof(watch *));
        lanes->watches = grown;
        lanes->watch_room = room;
    }
    if (!lanes->watches[index] && make && (lanes->watches[index] = calloc(1, sizeof(watch))))
        lanes->watches[index]->fd = fd;
    return lanes->watches[index];
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    watch *w = (watch *)poll;
    if (!w->wanted) { /* the other side closes an idle connection: libcurl will find out */
        uv_poll_stop(poll);
        w->events = 0;
        return;
    }
    int mask = status < 0 ? CURL_CSELECT_ERR : 0;
    mask |= events & (UV_READABLE | UV_DISCONNECT) ? CURL_CSELECT_IN : 0;
    mask |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    run(w->lane, w->fd, mask);
}

/* A connection that has brought a reply may go idle and be wanted again; libcurl tells before it
 * closes one. Its pipes, and sockets that did not get that far, it closes untold. */
static void unwatch(gg_lanes *lanes, watch *w, CURL *easy)
{
    long status = 0;
    if (!w)
        return;
    if (curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK || status == 0) {
        forget(lanes, w);
        return;
    }
    w->wanted = false;
    uv_unref((uv_handle_t *)&w->poll);
}

/* libcurl's socket callback. Returning -1 fails all transfers of the lane. */
static int set_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    (void)known;
    gg_lane *lane = context;
    gg_lanes *lanes = lane->owner;
    watch *w = watch_of(lanes, fd, what != CURL_POLL_REMOVE);
    if (what == CURL_POLL_REMOVE) {
        unwatch(lanes, w, easy);
        return 0;
    }
    if (!w)
        return -1;
    if (!w->open) {
        if (uv_poll_init(lanes->loop, &w->poll, fd) != 0)
            return -1;
        w->poll.data = lanes;
        w->open = true;
        lanes->handles++;
    }
    w->lane = lane;
    if (!w->wanted)
        uv_ref((uv_handle_t *)&w->poll);
    w->wanted = true;
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    if (events != w->events && uv_poll_start(&w->poll, events, on_poll) != 0)
        return -1;
    w->events = events;
    return 0;
}

int gg_lanes_close_socket(gg_lanes *lanes, curl_socket_t fd)
{
    watch *w = watch_of(lanes, fd, false);
    if (w)
        forget(lanes, w);
    return close(fd);
}

/* ---- life ---- */

static void handle_closed(gg_lanes *lanes)
{
    if (--lanes->handles > 0)
        return;
    for (gg_lane *lane = lanes->all, *next; lane; lane = next) {
        next = lane->next;
        free(lane);
    }
    free(lanes->watches);
    free(lanes);
}

static void on_closed(uv_handle_t *handle)
{
    /* prepare and idle carry the lanes, a timer its lane */
    handle_closed(handle->type == UV_TIMER ? ((gg_lane *)handle->data)->owner : handle->data);
}

gg_status gg_lanes_new(uv_loop_t *loop, const gg_lanes_calls *calls, gg_lanes **out,
                       gg_error *error)
{
    gg_lanes *lanes = calloc(1, sizeof *lanes);
    *out = lanes;
    if (!lanes)
        return gg_fail(error, GG_E_MEMORY, "no memory for an HTTP client");
    lanes->loop = loop;
    lanes->calls = *calls;
    uv_prepare_init(loop, &lanes->prepare);
    uv_idle_init(loop, &lanes->idle);
    lanes->prepare.data = lanes->idle.data = lanes;
    lanes->handles = 2;
    return GG_OK;
}

void gg_lanes_free(gg_lanes *lanes)
{
    if (!lanes)
        return;
    lanes->closing = true;
    for (gg_lane *lane = lanes->all; lane; lane = lane->next) {
        curl_multi_cleanup(lane->multi); /* closes its connections through gg_lanes_close_socket */
        uv_close((uv_handle_t *)&lane->timer, on_closed);
    }
    uv_close((uv_handle_t *)&lanes->prepare, on_closed);
    uv_close((uv_handle_t *)&lanes->idle, on_closed);
}

static gg_lane *lane_new(gg_lanes *lanes)
{
    gg_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->multi = curl_multi_init();
    if (!lane->multi) {
        free(lane);
        return NULL;
    }
    lane->owner = lanes;
    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, (long)GG_HTTP_PER_MULTI);
    curl_multi_setopt(lane->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    uv_timer_init(lanes->loop, &lane->timer);
    uv_unref((uv_handle_t *)&lane->timer);
    lane->timer.data = lane;
    lanes->handles++;
    lane->next = lanes->all;
    lanes->all = lane;
    room_in(lane);
    return lane;
}

gg_lane *gg_lanes_add(gg_lanes *lanes, CURL *easy)
{
    gg_lane *lane = lanes->roomy ? lanes->roomy : lane_new(lanes);
    if (!lane || curl_multi_add_handle(lane->multi, easy) != CURLM_OK)
        return NULL;
    if (lane->count++ == 0)
        uv_ref((uv_handle_t *)&lane->timer);
    if (lane->count == GG_HTTP_PER_MULTI)
        room_out(lane);
    make_due(lane);
    return lane;
}

void gg_lane_remove(gg_lane *lane, CURL *easy)
{
    curl_multi_remove_handle(lane->multi, easy);
    took_out(lane);
}
