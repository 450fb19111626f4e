#include "policy/letters.h"

#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "policy/reply.h"

static int likeliest(const gg_choice *choice)
{
    int best = 0;
    for (int a = 1; a < choice->count; a++)
        if (choice->score[a] > choice->score[best])
            best = a;
    return best;
}

/* Unnormalised probabilities at another temperature. */
static void reheat(const gg_choice *choice, double temperature, double *weight)
{
    double most = choice->score[likeliest(choice)];
    for (int a = 0; a < choice->count; a++)
        weight[a] = exp((choice->score[a] - most) / temperature);
}

/* Sets to 0 all but the likeliest branches that make up top_p of the whole together. */
static void cut_tail(double *weight, int count, double top_p)
{
    bool kept[GG_LETTERS] = {false};
    double total = 0, sum = 0;
    for (int a = 0; a < count; a++)
        total += weight[a];
    for (int round = 0; round < count && (round == 0 || sum < top_p * total); round++) {
        int best = -1;
        for (int a = 0; a < count; a++)
            if (!kept[a] && (best < 0 || weight[a] > weight[best]))
                best = a;
        /* cppcheck-suppress negativeIndex ; a round has a branch that is not kept */
        kept[best] = true;
        sum += weight[best];
    }
    for (int a = 0; a < count; a++)
        if (!kept[a])
            weight[a] = 0;
}

static int draw(const double *weight, int count, gg_rng *rng)
{
    double total = 0;
    int last = 0;
    for (int a = 0; a < count; a++)
        total += weight[a];
    double left = gg_rng_unit(rng) * total;
    for (int a = 0; a < count; a++) {
        if (weight[a] == 0)
            continue;
        last = a;
        if (left < weight[a])
            break;
        left -= weight[a];
    }
    return last; /* rounding may leave a remainder: then the last one that can be drawn */
}

static int pick_branch(const gg_choice *choice, const gg_sampling *s, gg_rng *rng)
{
    double weight[GG_LETTERS];
    if (choice->count == 1)
        return 0;
    if (s->temperature == 0)
        return likeliest(choice);
    if (s->temperature == 1)
        memcpy(weight, choice->p, (size_t)choice->count * sizeof *weight);
    else
        reheat(choice, s->temperature, weight);
    if (s->top_p < 1)
        cut_tail(weight, choice->count, s->top_p);
    return draw(weight, choice->count, rng);
}

static int32_t draw_letter(const gg_walk *walk, const double *weights, const gg_sampling *s,
                           gg_rng *rng, double *logprob)
{
    gg_choice choice;
    gg_letters_choose(walk, weights, &choice);
    int pick = pick_branch(&choice, s, rng);
    *logprob = choice.score[pick] - choice.log_sum;
    return 'a' + choice.branches[pick].letter;
}

/* The token to write now, and its log-probability. */
static int32_t next_token(const gg_walk *walk, const double *weights, const gg_sampling *s,
                          gg_rng *rng, double *logprob)
{
    *logprob = 0;
    switch (gg_walk_next(walk)) {
    case GG_NEXT_FIXED:
        return walk->due[walk->due_at];
    case GG_NEXT_LETTER:
        return s->forced ? 'a' + s->forced[walk->place]
                         : draw_letter(walk, weights, s, rng, logprob);
    case GG_NEXT_NOTHING:
        if (s->forced && walk->place < walk->trie->length)
            return 'a' + s->forced[walk->place];
        break;
    case GG_NEXT_GIVEN:
        break;
    }
    return GG_TOKEN_END; /* a prompt that leaves nothing to say */
}

gg_status gg_letters_sample(const double *weights, gg_walk *walk, const gg_sampling *s,
                            gg_policy_reply *reply)
{
    gg_rng rng;
    gg_rng_seed(&rng, s->seed);
    reply->finish_reason = "length";
    for (size_t i = 0; i < s->max_tokens; i++) {
        double logprob;
        int32_t id = next_token(walk, weights, s, &rng, &logprob);
        if (!gg_reply_push(reply, id, s->forced ? NULL : &logprob))
            return GG_E_MEMORY;
        gg_walk_put(walk, id);
        if (id == GG_TOKEN_END) {
            reply->finish_reason = "stop";
            break;
        }
    }
    return GG_OK;
}
