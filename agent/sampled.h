/*
 * Whether the text of the sampled tokens is what the reply says.
 *
 * A server takes a sampled text apart into thoughts, content and calls. What it drops, repairs or
 * makes up on the way was not sampled (or not shown), and a play whose record shows another text
 * than its tokens must not be trained on as if they were the same. Compared is what is left without
 * white space and the markers of known templates: thoughts and content must be the beginning of the
 * sampled text; the rest must hold each call's name, keys and values in order, and beside them only
 * punctuation and the words of call formats.
 */
#ifndef GG_AGENT_SAMPLED_H
#define GG_AGENT_SAMPLED_H

#include "agent/chat.h"

/* *agrees is true too where the reply has no token texts (or not all). Only GG_E_MEMORY fails. */
gg_status gg_sampled_check(const gg_reply *reply, bool *agrees, gg_error *error);

#endif
