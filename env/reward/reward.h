/*
 * Rewards: pure functions of a finished episode record.
 *
 * A reward is given as text: a preset's name ("solve", "solve-speed"), the name of the
 * environment's measure ("measure"), or a weighted sum of named parts
 * ("solve=1,speed=0.5,repeats=-0.2"). The parts come from the environment (gg_env_api.parts). A
 * name that neither knows is refused with the known ones listed. Threads: a gg_reward is immutable
 * and may be shared.
 */
#ifndef GG_ENV_REWARD_H
#define GG_ENV_REWARD_H

#include "env/env.h"

typedef struct gg_reward gg_reward;

gg_status gg_reward_parse(const gg_game *game, const char *text, gg_reward **out, gg_error *error);
void gg_reward_free(gg_reward *reward);
/* The text as resolved, for run.json: same text, same values. */
const char *gg_reward_text(const gg_reward *reward);
/* Writes reward, parts and reward_by_turn into the episode. A value that is not finite is
 * GG_E_FORMAT. */
gg_status gg_reward_score(const gg_reward *reward, const gg_game *game, gg_episode *episode,
                          gg_error *error);
/* Measure, labels and reward in one go: what the agent does once the episode is over. */
gg_status gg_episode_judge(const gg_game *game, const gg_reward *reward, gg_episode *episode,
                           gg_error *error);

#endif
