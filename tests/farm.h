/*
 * A scripted chat endpoint on loopback for tests of the agent. It keeps requests for a moment and
 * answers them in an order drawn at random, so that nothing can lean on arrival order. What it
 * answers is a function of the request (its seed and messages) and of nothing else, but for the
 * faults a test asks for.
 */
#ifndef GG_TESTS_FARM_H
#define GG_TESTS_FARM_H

#include <stdbool.h>
#include <stddef.h>

#include "core/json.h"
#include <guessgym/buf.h>

typedef struct farm farm;

/* What one request asked, and which one it is. */
typedef struct farm_request {
    const cJSON *body;
    const char *text; /* the body as sent */
    int tool_results; /* messages with role tool */
    uint64_t seed;
    int number; /* since the start, from 0 */
} farm_request;

/* Writes the reply; returns its status. 0 = never answer, -1 = close the connection. */
typedef int (*farm_answer)(void *context, const farm_request *request, gg_buf *reply);

farm *farm_start(farm_answer answer, void *context);
void farm_stop(farm *f);
const char *farm_url(const farm *f); /* base URL for an endpoint */
/* Most requests held at once; requests seen. */
int farm_peak(farm *f);
int farm_count(farm *f);

/* A player of the counter game (tests/counter.h) that draws all it does from the request's seed:
 * mostly calls, now and then prose, broken arguments, missing ids, two calls. Token ids keep the
 * prefix rule. */
int farm_counter(void *context, const farm_request *request, gg_buf *reply);

#endif
