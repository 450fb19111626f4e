/* The tables of the word game's policies, for policy.c. */
#ifndef GG_POLICY_LETTERS_POLICY_H
#define GG_POLICY_LETTERS_POLICY_H

#include "policy/api.h"

#define GG_SOLVER_POLICIES 6

extern const gg_policy_api gg_letters_policy;
extern const gg_policy_api gg_solver_policies[GG_SOLVER_POLICIES];

#endif
