/*
 * Lanes: libcurl's multi interface on a libuv loop. Private to net/http.c.
 *
 * A lane is one multi handle of at most GG_HTTP_PER_MULTI transfers with its timer; there are as
 * many as the transfers need. Lanes know sockets and time, and nothing of requests.
 *
 * Two things keep the system calls few. New transfers are started together, once a turn of the
 * loop. And a connection that goes idle stays registered with the loop (without keeping it alive),
 * since its next request will want the same events.
 *
 * Threads: the loop's thread.
 */
#ifndef GG_NET_LANES_H
#define GG_NET_LANES_H

#include <curl/curl.h>
#include <uv.h>

#include <guessgym/buf.h>

typedef struct gg_lanes gg_lanes;
typedef struct gg_lane gg_lane;

typedef struct gg_lanes_calls {
    /* A transfer ended; it is no longer in its lane. */
    void (*done)(void *context, CURL *easy, CURLcode code);
    /* libcurl has run; now it may be called again. */
    void (*after)(void *context);
    void *context;
} gg_lanes_calls;

gg_status gg_lanes_new(uv_loop_t *loop, const gg_lanes_calls *calls, gg_lanes **out,
                       gg_error *error);
/* The transfers were removed before. Memory goes when the loop has closed the handles. */
void gg_lanes_free(gg_lanes *lanes);

/* Starts a transfer at the loop's next turn. NULL when memory is short. */
gg_lane *gg_lanes_add(gg_lanes *lanes, CURL *easy);
/* Takes a transfer out; its connection is closed when it is in the middle of something. */
void gg_lane_remove(gg_lane *lane, CURL *easy);

/* For CURLOPT_CLOSESOCKETFUNCTION: lets go of a descriptor and closes it. */
int gg_lanes_close_socket(gg_lanes *lanes, curl_socket_t fd);

#endif
