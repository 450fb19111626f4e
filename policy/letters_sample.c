#include "policy/letters.h"
#include "policy/reply.h"

static int32_t draw_letter(const gg_walk *walk, const double *weights, const gg_sampling *s,
                           gg_rng *rng, double *logprob)
{
    gg_choice choice;
    gg_letters_choose(walk, weights, &choice);
    size_t pick = gg_draw(s, choice.score, choice.p, (size_t)choice.count, rng);
    *logprob = choice.score[pick] - choice.log_sum;
    return 'a' + choice.branches[pick].letter;
}

/* The token to write now, and its log-probability. */
static int32_t next_token(const gg_walk *walk, const double *weights, const gg_sampling *s,
                          const uint8_t *forced, gg_rng *rng, double *logprob)
{
    *logprob = 0;
    switch (gg_walk_next(walk)) {
    case GG_NEXT_FIXED:
        return walk->due[walk->due_at];
    case GG_NEXT_LETTER:
        return forced ? 'a' + forced[walk->place] : draw_letter(walk, weights, s, rng, logprob);
    case GG_NEXT_NOTHING:
        if (forced && walk->place < walk->trie->length)
            return 'a' + forced[walk->place];
        break;
    case GG_NEXT_GIVEN:
        break;
    }
    return GG_TOKEN_END; /* a prompt that leaves nothing to say */
}

gg_status gg_letters_sample(const double *weights, gg_walk *walk, const gg_sampling *s,
                            const uint8_t *forced, gg_policy_reply *reply)
{
    gg_rng rng;
    gg_rng_seed(&rng, s->seed);
    reply->finish_reason = "length";
    for (size_t i = 0; i < s->max_tokens; i++) {
        double logprob;
        int32_t id = next_token(walk, weights, s, forced, &rng, &logprob);
        if (!gg_reply_push(reply, id, forced ? NULL : &logprob))
            return GG_E_MEMORY;
        gg_walk_put(walk, id);
        if (id == GG_TOKEN_END) {
            reply->finish_reason = "stop";
            break;
        }
    }
    return GG_OK;
}
