/*
 * An endpoint that misbehaves by a script: `builtin:hostile` and `serve policy --faults`.
 *
 * Behind it stands an embedded policy, whose replies are given, spoiled or withheld as the script
 * says. Histories that a strict server would refuse are refused too (service/manners.h).
 *
 * Threads: reentrant.
 */
#ifndef GG_SERVICE_HOSTILE_H
#define GG_SERVICE_HOSTILE_H

#include "net/server.h"
#include "service/chat.h"
#include "service/faults.h"

/* Answers one chat request; ends the exchange. */
void gg_hostile_answer(gg_faults *script, const gg_chat_model *model, uint64_t fallback_seed,
                       gg_exchange *exchange, const gg_exchange_request *request);

#endif
