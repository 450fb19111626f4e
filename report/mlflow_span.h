/*
 * A play as a trace: one OTLP/HTTP request in protobuf, made from the record alone.
 *
 * Spans: the play (AGENT), below it its turns (CHAT_MODEL), below each its tool calls (TOOL).
 * Attributes are MLflow's own ("mlflow.spanInputs" ...) and OpenTelemetry's for models
 * ("gen_ai.usage.input_tokens" ...). A record knows when a play began and how long its parts took;
 * the turns are laid end to end from there. Ids are digests of the folder's key and the play's id,
 * so that a trace that is sent again takes the place of the first.
 *
 * Field numbers: opentelemetry-proto, trace/v1/trace.proto and common/v1/common.proto.
 * Threads: pure functions.
 */
#ifndef GG_REPORT_MLFLOW_SPAN_H
#define GG_REPORT_MLFLOW_SPAN_H

#include <guessgym/buf.h>
#include <guessgym/record.h>

#define GG_TRACE_ID  16
#define GG_TRACE_MAX (64u << 20) /* bytes of one trace */

void gg_mlflow_trace_id(const char *key, const char *episode_id, uint8_t out[GG_TRACE_ID]);
/* In [0, 1), from the run's seed and the play's id: a play is in a share that is above it. */
double gg_mlflow_trace_draw(uint64_t seed, const char *episode_id);
/* Appends the request's body. The episode was read whole. */
gg_status gg_mlflow_trace(const gg_episode *episode, const char *key, gg_buf *out, gg_error *error);

#endif
