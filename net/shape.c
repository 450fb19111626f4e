/* Replies that are late, slow or cut off. */
#include "net/exchange.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 4096 /* what libmicrohttpd asks for at a time */

/* An answer that waits for its time. */
typedef struct late {
    gg_alarm alarm; /* first */
    gg_exchange *exchange;
    struct MHD_Response *response;
    unsigned status;
} late;

/* A body that is given out bit by bit. Lives as long as its response. */
typedef struct slow_body {
    gg_alarm alarm; /* first */
    gg_exchange *exchange;
    gg_reply_shape shape;
    int64_t next_ms; /* when more may go out */
    size_t len;
    char bytes[];
} slow_body;

/* The server's clock, made on first use; NULL when that fails or the server stops. */
static gg_clock *clock_of(gg_server *server)
{
    pthread_mutex_lock(&server->lock);
    if (!server->clock && !server->stopping)
        server->clock = gg_clock_new();
    gg_clock *clock = server->stopping ? NULL : server->clock;
    pthread_mutex_unlock(&server->lock);
    return clock;
}

static void wake_body(gg_alarm *alarm)
{
    gg_exchange_wake(((slow_body *)alarm)->exchange);
}

/* Puts the connection to sleep until the next drip; false when it must end instead. */
static bool sleep_until(slow_body *body, int64_t time_ms)
{
    gg_exchange *exchange = body->exchange;
    gg_server *server = exchange->server;
    body->alarm.ring = wake_body;
    pthread_mutex_lock(&server->lock);
    bool fine = !server->stopping;
    if (fine) {
        MHD_suspend_connection(exchange->connection);
        server->resuming++;
    }
    pthread_mutex_unlock(&server->lock);
    /* From here on gg_server_stop lets the alarm ring before it ends the connections. */
    if (fine && !gg_clock_add(server->clock, &body->alarm, time_ms))
        gg_exchange_wake(exchange); /* no memory: faster than asked */
    return fine;
}

static ssize_t read_body(void *context, uint64_t place, char *out, size_t room)
{
    slow_body *body = context;
    size_t end = body->shape.cut && body->shape.cut_at < body->len ? body->shape.cut_at : body->len;
    size_t left = place < end ? end - (size_t)place : 0;
    bool drips = body->shape.drip_bytes && body->shape.drip_ms;
    if (left == 0)
        return MHD_CONTENT_READER_END_WITH_ERROR; /* cut; a whole body is not asked beyond its end
                                                   */
    if (drips && gg_clock_now() < body->next_ms)
        return sleep_until(body, body->next_ms) ? 0 : MHD_CONTENT_READER_END_WITH_ERROR;
    size_t most = drips && body->shape.drip_bytes < room ? body->shape.drip_bytes : room;
    size_t count = left < most ? left : most;
    memcpy(out, body->bytes + place, count);
    body->next_ms = gg_clock_now() + body->shape.drip_ms;
    return (ssize_t)count;
}

static struct MHD_Response *make_response(gg_exchange *exchange, const char *bytes, size_t len,
                                          const gg_reply_shape *shape)
{
    slow_body *body = malloc(sizeof *body + len);
    if (!body)
        return NULL;
    *body = (slow_body){.exchange = exchange, .shape = *shape, .len = len};
    memcpy(body->bytes, bytes, len);
    struct MHD_Response *response =
        MHD_create_response_from_callback(len, BLOCK, read_body, body, free);
    if (!response)
        free(body);
    return response;
}

static void ring_late(gg_alarm *alarm)
{
    late *l = (late *)alarm;
    gg_exchange_hand_in(l->exchange, l->status, l->response);
    free(l);
}

static void hand_in_later(gg_exchange *exchange, unsigned status, struct MHD_Response *response,
                          int64_t delay_ms)
{
    gg_clock *clock = delay_ms > 0 ? clock_of(exchange->server) : NULL;
    late *l = clock ? malloc(sizeof *l) : NULL;
    if (l) {
        *l = (late){.exchange = exchange, .response = response, .status = status};
        l->alarm.ring = ring_late;
        if (gg_clock_add(clock, &l->alarm, gg_clock_now() + delay_ms))
            return;
        free(l);
    }
    gg_exchange_hand_in(exchange, status, response);
}

void gg_exchange_reply_shaped(gg_exchange *exchange, int status, const char *content_type,
                              const char *const *headers, const char *body, size_t len,
                              const gg_reply_shape *shape)
{
    struct MHD_Response *response = NULL;
    if (body && (!shape->drip_ms || clock_of(exchange->server)))
        response = make_response(exchange, body, len, shape);
    if (response)
        gg_response_headers(response, content_type, headers);
    hand_in_later(exchange, (unsigned)status, response, shape->delay_ms);
}
