/*
 * Rewards: pure functions of a finished episode record.
 *
 * A reward is given as text: a preset's name ("solve", "tutorial"), a part's name ("measure"), a
 * weighted sum of parts ("solve=1,speed=0.5,repeats=-0.2"; a part without a weight counts 1, one of
 * weight 0 is only written down), or a Lua script ("my.lua", see env/reward/script.h). Parts known
 * for every environment are listed below by gg_reward_part; the rest come from the environment's
 * own table (gg_env_api.part_table). A name that neither knows is refused with the near miss or the
 * known ones. A preset whose parts an environment lacks is refused for it.
 *
 * The same record gives the same value, to the bit, while playing and at any later rescoring.
 * Threads: a gg_reward is immutable and may be shared.
 */
#ifndef GG_ENV_REWARD_H
#define GG_ENV_REWARD_H

#include "env/env.h"

typedef struct gg_reward gg_reward;

gg_status gg_reward_parse(const gg_game *game, const char *text, gg_reward **out, gg_error *error);
void gg_reward_free(gg_reward *reward);
/* The text as resolved, for run.json: same text, same values. A script's text ends in its digest
 * ("my.lua#sha256:..."); read again, it is refused when the file has changed since. */
const char *gg_reward_text(const gg_reward *reward);
/* Weight of a part in the sum; 0 for a part that it does not use. NaN for a script, whose own
 * affair that is. */
double gg_reward_weight(const gg_reward *reward, const char *part);
/* Writes reward, parts (the raw value of each part that the reward uses) and reward_by_turn into
 * the episode. A value that is not finite is GG_E_FORMAT, a script that fails GG_E_CONFIG. */
gg_status gg_reward_score(const gg_reward *reward, const gg_game *game, gg_episode *episode,
                          gg_error *error);
/* Measure, labels and reward in one go: what the agent does once the episode is over. */
gg_status gg_episode_judge(const gg_game *game, const gg_reward *reward, gg_episode *episode,
                           gg_error *error);

/* For help: the parts of every environment (api NULL), followed by those of `api`. NULL beyond the
 * last. */
const gg_part_info *gg_reward_part(const gg_env_api *api, size_t index);
/* Reports the value of each of those parts. */
void gg_reward_values(const gg_game *game, const gg_episode *episode, gg_part_fn each,
                      void *context);
/* A preset's name and the sum it stands for (in `help`). NULL beyond the last. */
const gg_part_info *gg_reward_preset(size_t index);

#endif
