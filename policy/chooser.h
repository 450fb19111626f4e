/*
 * `builtin:chooser`: a small trainable policy for any game whose tools take enums, booleans and
 * small ranges of whole numbers. It is no language model: it picks a tool, then a value for each
 * argument, by a softmax over hashed features of the tokens (chooser_choice.h).
 */
#ifndef GG_POLICY_CHOOSER_H
#define GG_POLICY_CHOOSER_H

#include "policy/api.h"

extern const gg_policy_api gg_chooser_policy;

#endif
