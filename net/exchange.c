#include "net/exchange.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_NAME_MAX 128

void gg_server_destroy(gg_server *server)
{
    gg_clock_free(server->clock);
    pthread_mutex_destroy(&server->lock);
    free(server->listen);
    free(server);
}

static void exchange_free(gg_exchange *exchange)
{
    if (exchange->response)
        MHD_destroy_response(exchange->response);
    gg_buf_free(&exchange->body);
    free(exchange);
}

void gg_exchange_release(gg_exchange *exchange, bool owed)
{
    gg_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    if (owed) {
        exchange->owed = false;
        server->owed--;
    } else
        exchange->alive = false;
    bool last = !exchange->owed && !exchange->alive;
    bool last_of_all = owed && server->stopped && server->owed == 0;
    pthread_mutex_unlock(&server->lock);
    if (last)
        exchange_free(exchange);
    if (last_of_all)
        gg_server_destroy(server);
}

void gg_exchange_set_out(gg_exchange *exchange)
{
    if (!exchange->leaving)
        exchange->server->leaving++;
    exchange->leaving = true;
}

static void leave_list(gg_exchange *exchange)
{
    if (exchange->before)
        exchange->before->after = exchange->after;
    else
        exchange->server->waiting = exchange->after;
    if (exchange->after)
        exchange->after->before = exchange->before;
}

void gg_exchange_wake(gg_exchange *exchange)
{
    gg_server *server = exchange->server;
    /* A connection that sleeps lives; gg_server_stop waits for `resuming`. */
    MHD_resume_connection(exchange->connection);
    pthread_mutex_lock(&server->lock);
    server->resuming--;
    pthread_mutex_unlock(&server->lock);
}

void gg_exchange_hand_in(gg_exchange *exchange, unsigned status, struct MHD_Response *response)
{
    gg_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    bool asleep = exchange->phase == GG_WAITING;
    bool late = exchange->phase == GG_ANSWERED; /* gg_server_stop was faster */
    if (asleep) {
        leave_list(exchange);
        gg_exchange_set_out(exchange);
        server->resuming++;
    }
    if (!late) {
        exchange->response = response;
        exchange->status = status;
        exchange->phase = GG_ANSWERED;
    }
    pthread_mutex_unlock(&server->lock);
    if (late && response)
        MHD_destroy_response(response);
    if (asleep)
        gg_exchange_wake(exchange);
    gg_exchange_release(exchange, true);
}

void gg_response_headers(struct MHD_Response *response, const char *content_type,
                         const char *const *headers)
{
    if (content_type)
        (void)MHD_add_response_header(response, "Content-Type", content_type);
    for (; headers && *headers; headers++) {
        char name[HEADER_NAME_MAX];
        size_t len = strcspn(*headers, ":");
        if (!(*headers)[len] || len >= sizeof name)
            continue;
        memcpy(name, *headers, len);
        name[len] = '\0';
        (void)MHD_add_response_header(response, name,
                                      *headers + len + 1 + strspn(*headers + len + 1, " "));
    }
}

void gg_exchange_reply_take(gg_exchange *exchange, int status, const char *content_type,
                            const char *const *headers, char *body, size_t len)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, body, MHD_RESPMEM_MUST_FREE);
    if (response)
        gg_response_headers(response, content_type, headers);
    else
        free(body);
    gg_exchange_hand_in(exchange, (unsigned)status, response);
}

void gg_exchange_reply(gg_exchange *exchange, int status, const char *content_type,
                       const char *const *headers, const char *body, size_t len)
{
    char *copy = malloc(len + 1);
    if (!copy) {
        gg_exchange_drop(exchange);
        return;
    }
    if (len)
        memcpy(copy, body, len);
    gg_exchange_reply_take(exchange, status, content_type, headers, copy, len);
}

void gg_exchange_reply_json(gg_exchange *exchange, int status, const char *json)
{
    gg_exchange_reply(exchange, status, "application/json", NULL, json, strlen(json));
}

void gg_exchange_drop(gg_exchange *exchange)
{
    gg_exchange_hand_in(exchange, 0, NULL);
}

const char *gg_exchange_header(const gg_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}
