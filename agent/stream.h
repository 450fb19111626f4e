/*
 * A reply that came as a stream of server-sent events, put together to the one object that the same
 * server sends when it is not asked for a stream; agent/reply.c then reads that, so a record is the
 * same either way.
 *
 * Lines end with CR, LF or both; comments and fields of no use are passed over; the lines of one
 * event are joined, and the last event needs no blank line behind it. Texts, arguments, token ids
 * and log-probabilities are joined byte for byte; of token counts the last ones are kept. Calls
 * are told apart by index and, as servers send one index for all, by a new id or a second name.
 *
 * Threads: no shared state.
 */
#ifndef GG_AGENT_STREAM_H
#define GG_AGENT_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include <guessgym/buf.h>
#include <guessgym/error.h>

/* Whether a body begins as a stream does, whatever its content type says. */
bool gg_stream_is(const char *body, size_t len);
/* Appends the object. An error in the middle makes the object {"error": ...}. GG_E_FORMAT for a
 * chunk that is not JSON, and for a stream with neither a finish_reason nor [DONE]: it was cut. */
gg_status gg_stream_merge(const char *body, size_t len, gg_buf *out, gg_error *error);

#endif
