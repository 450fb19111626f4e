#include "env/reward/reward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/near.h"
#include "env/reward/script.h"

#define TEXT_MAX   4096 /* bytes of a reward's text */
#define TERMS_MAX  64
#define NAME_ROOM  64
#define PARTS_MAX  256 /* names an error sentence looks through */
#define LIST_ROOM  1024
#define NUMBER_SET "0123456789+-.eE"

/* Parts that hold for every environment. */
enum common {
    SOLVE,
    MEASURE,
    MOVES,
    TURNS,
    CALLS,
    INVALID,
    AFTER_END,
    REPAIRED,
    FROM_TEXT,
    NO_MOVE,
    FORFEITED,
    TRUNCATED,
    COMMON
};

static const gg_part_info common[COMMON] = {
    [SOLVE] = {"solve", "1 when the outcome is solved, else 0"},
    [MEASURE] = {"measure", "the environment's measure, 0 to 1"},
    [MOVES] = {"moves", "moves made"},
    [TURNS] = {"turns", "replies of the player"},
    [CALLS] = {"calls", "tool calls, of any status"},
    [INVALID] = {"invalid", "calls that were refused or could not be run"},
    [AFTER_END] = {"after_end", "calls after the episode was over"},
    [REPAIRED] = {"repaired", "calls that had to be repaired before they could be run"},
    [FROM_TEXT] = {"from_text", "calls that were found in prose"},
    [NO_MOVE] = {"no_move", "1 when not one move was made"},
    [FORFEITED] = {"forfeited", "1 when the player stopped playing or ran into a cap"},
    [TRUNCATED] = {"truncated", "1 when a token limit or the context ended the episode"},
};

static const gg_part_info presets[] = {
    {"solve", "solve=1"},
    {"solve-speed", "solve=1,speed=0.5"},
    /* What is known at the end, so that nothing is gained by finding it slowly: a loss earns less
     * than 0.3, any solve 1.3. */
    {"progress", "solve=1,places=0.3,letters=0.15"},
    {"ndcg", "ndcg=1,caps=-1"},
    {"tutorial", "tutorial=1,tutorial_points=0,tutorial_bonus=0,tutorial_charges=0"},
};

typedef struct term {
    char name[NAME_ROOM];
    double weight;
    int common; /* index in the common table, or -1: the environment's */
} term;

struct gg_reward {
    gg_buf text;
    size_t count;
    term terms[TERMS_MAX];
    gg_lua *script; /* instead of terms */
};

const gg_part_info *gg_reward_part(const gg_env_api *api, size_t index)
{
    if (index < COMMON)
        return &common[index];
    return api && index - COMMON < api->part_count ? &api->part_table[index - COMMON] : NULL;
}

const gg_part_info *gg_reward_preset(size_t index)
{
    return index < sizeof presets / sizeof *presets ? &presets[index] : NULL;
}

/* Reading. */

static const gg_part_info *find_preset(const char *text)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(text, presets[i].name) == 0)
            return &presets[i];
    return NULL;
}

static gg_status unknown_part(const gg_game *game, const char *name, gg_error *error)
{
    const char *known[PARTS_MAX];
    const gg_part_info *part;
    size_t count = 0;
    gg_buf list;
    gg_buf_init(&list, LIST_ROOM);
    for (size_t i = 0; (part = gg_reward_preset(i)) && count < PARTS_MAX; i++)
        known[count++] = part->name;
    for (size_t i = 0; (part = gg_reward_part(game->api, i)) && count < PARTS_MAX; i++) {
        known[count++] = part->name;
        gg_buf_printf(&list, "%s%s", i ? ", " : "", part->name);
    }
    const char *near = gg_near_miss(name, known, count);
    if (near && strcmp(near, name) == 0)
        gg_fail(error, GG_E_CONFIG,
                "\"%s\" is a whole reward and cannot be a part of a sum; write out what it stands "
                "for: %s",
                name, find_preset(name)->help);
    else if (near)
        gg_fail(error, GG_E_CONFIG, "reward part \"%s\" is not known; did you mean \"%s\"?", name,
                near);
    else
        gg_fail(error, GG_E_CONFIG, "reward part \"%s\" is not known; %s has %s", name,
                game->info.name, gg_buf_cstr(&list));
    gg_buf_free(&list);
    return GG_E_CONFIG;
}

static gg_status resolve_part(const gg_game *game, term *t, gg_error *error)
{
    const gg_part_info *part;
    for (size_t i = 0; (part = gg_reward_part(game->api, i)); i++)
        if (strcmp(part->name, t->name) == 0) {
            t->common = i < COMMON ? (int)i : -1;
            return GG_OK;
        }
    return unknown_part(game, t->name, error);
}

static gg_status read_weight(const char *text, size_t len, term *t, gg_error *error)
{
    char number[NAME_ROOM], *end;
    if (len == 0 || len >= sizeof number || strspn(text, NUMBER_SET) < len)
        return gg_fail(error, GG_E_CONFIG, "the weight of reward part \"%s\" must be a number",
                       t->name);
    memcpy(number, text, len);
    number[len] = '\0';
    t->weight = strtod(number, &end);
    if (*end || end == number || !isfinite(t->weight))
        return gg_fail(error, GG_E_CONFIG,
                       "the weight of reward part \"%s\" must be a number, not \"%s\"", t->name,
                       number);
    return GG_OK;
}

static void trim(const char **text, size_t *len)
{
    while (*len && (**text == ' ' || **text == '\t')) {
        ++*text;
        --*len;
    }
    while (*len && ((*text)[*len - 1] == ' ' || (*text)[*len - 1] == '\t'))
        --*len;
}

/* One "name" or "name=weight". */
static gg_status read_term(const gg_game *game, gg_reward *reward, const char *text, size_t len,
                           gg_error *error)
{
    if (reward->count == TERMS_MAX)
        return gg_fail(error, GG_E_LIMIT, "a reward has at most %d parts", TERMS_MAX);
    term *t = &reward->terms[reward->count];
    const char *equals = memchr(text, '=', len);
    const char *name = text, *weight = equals ? equals + 1 : NULL;
    size_t name_len = equals ? (size_t)(equals - text) : len;
    size_t weight_len = equals ? len - name_len - 1 : 0;
    trim(&name, &name_len);
    if (!name_len || name_len >= sizeof t->name)
        return gg_fail(error, GG_E_CONFIG,
                       "a reward is a preset or name=weight[,name=weight...]; a name is %s",
                       name_len ? "too long" : "missing");
    memcpy(t->name, name, name_len);
    t->name[name_len] = '\0';
    t->weight = 1;
    if (weight) {
        trim(&weight, &weight_len);
        gg_status status = read_weight(weight, weight_len, t, error);
        if (status != GG_OK)
            return status;
    }
    for (size_t i = 0; i < reward->count; i++)
        if (strcmp(reward->terms[i].name, t->name) == 0)
            return gg_fail(error, GG_E_CONFIG, "reward part \"%s\" is given twice", t->name);
    reward->count++;
    return resolve_part(game, t, error);
}

static gg_status read_sum(const gg_game *game, gg_reward *reward, const char *text, gg_error *error)
{
    const gg_part_info *preset = find_preset(text);
    const char *p = preset ? preset->help : text;
    for (;;) {
        size_t len = strcspn(p, ",");
        gg_status status = read_term(game, reward, p, len, error);
        if (status != GG_OK && preset)
            return gg_fail(error, status, "reward \"%s\" (%s) is not for %s, which lacks a part",
                           preset->name, preset->help, game->info.name);
        if (status != GG_OK)
            return status;
        if (!p[len])
            break;
        p += len + 1;
    }
    for (size_t i = 0; i < reward->count; i++) {
        gg_buf_printf(&reward->text, "%s%s=", i ? "," : "", reward->terms[i].name);
        gg_buf_double(&reward->text, reward->terms[i].weight);
    }
    return gg_buf_status(&reward->text, "a reward's text", error);
}

gg_status gg_reward_parse(const gg_game *game, const char *text, gg_reward **out, gg_error *error)
{
    *out = NULL;
    gg_reward *reward = calloc(1, sizeof *reward);
    if (!reward)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading a reward");
    gg_buf_init(&reward->text, TEXT_MAX);
    gg_status status = gg_lua_named(text) ? gg_lua_load(text, &reward->script, error)
                                          : read_sum(game, reward, text, error);
    if (status == GG_OK)
        *out = reward;
    else
        gg_reward_free(reward);
    return status;
}

void gg_reward_free(gg_reward *reward)
{
    if (!reward)
        return;
    gg_lua_free(reward->script);
    gg_buf_free(&reward->text);
    free(reward);
}

const char *gg_reward_text(const gg_reward *reward)
{
    return reward->script ? gg_lua_text(reward->script) : gg_buf_cstr(&reward->text);
}

double gg_reward_weight(const gg_reward *reward, const char *part)
{
    for (size_t i = 0; i < reward->count; i++)
        if (strcmp(reward->terms[i].name, part) == 0)
            return reward->terms[i].weight;
    return reward->script ? NAN : 0;
}

/* Scoring. */

static void count_calls(const gg_episode *episode, double values[COMMON])
{
    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++) {
            const gg_call *call = &episode->turns[t].calls[c];
            double from_text;
            values[CALLS]++;
            values[INVALID] += call->status == GG_CALL_INVALID || call->status == GG_CALL_FAILED;
            values[AFTER_END] += call->status == GG_CALL_OVER;
            values[REPAIRED] += call->repair_count > 0;
            if (call->facts && gg_fact_number(call->facts, "from_text", &from_text))
                values[FROM_TEXT] += from_text != 0;
        }
}

static void common_values(const gg_game *game, const gg_episode *episode, double values[COMMON])
{
    values[SOLVE] = episode->outcome == GG_SOLVED;
    values[MEASURE] = game->api->measure(game->env, episode);
    values[MOVES] = (double)episode->moves;
    values[TURNS] = (double)episode->turn_count;
    values[NO_MOVE] = episode->moves == 0;
    values[FORFEITED] = episode->outcome == GG_FORFEITED;
    values[TRUNCATED] = episode->outcome == GG_TRUNCATED;
    count_calls(episode, values);
}

void gg_reward_values(const gg_game *game, const gg_episode *episode, gg_part_fn each,
                      void *context)
{
    double values[COMMON] = {0};
    common_values(game, episode, values);
    for (size_t i = 0; i < COMMON; i++)
        each(context, common[i].name, values[i]);
    game->api->parts(game->env, episode, each, context);
}

typedef struct collected {
    const gg_reward *reward;
    double values[TERMS_MAX]; /* one a term */
} collected;

static void collect(void *context, const char *name, double value)
{
    collected *into = context;
    for (size_t i = 0; i < into->reward->count; i++)
        if (into->reward->terms[i].common < 0 && strcmp(into->reward->terms[i].name, name) == 0)
            into->values[i] = value;
}

static bool uses_environment(const gg_reward *reward)
{
    for (size_t i = 0; i < reward->count; i++)
        if (reward->terms[i].common < 0)
            return true;
    return false;
}

static gg_status store(const collected *from, gg_episode *episode, gg_error *error)
{
    double total = 0;
    episode->parts = NULL;
    episode->part_count = 0;
    episode->reward_by_turn = NULL;
    for (size_t i = 0; i < from->reward->count; i++) {
        const term *t = &from->reward->terms[i];
        if (!isfinite(from->values[i]))
            return gg_fail(error, GG_E_FORMAT, "episode %s: reward part \"%s\" is not a number",
                           episode->id ? episode->id : "", t->name);
        gg_named *part =
            gg_episode_push(episode, &episode->parts, &episode->part_count, sizeof *part);
        const char *name = part ? gg_episode_string(episode, t->name, strlen(t->name)) : NULL;
        if (!name)
            return gg_fail(error, GG_E_MEMORY, "out of memory while scoring an episode");
        *part = (gg_named){.name = name, .value = from->values[i]};
        total += t->weight * from->values[i];
    }
    episode->reward = total;
    if (!isfinite(total))
        return gg_fail(error, GG_E_FORMAT, "episode %s: its reward is too large for a number",
                       episode->id ? episode->id : "");
    return GG_OK;
}

gg_status gg_reward_score(const gg_reward *reward, const gg_game *game, gg_episode *episode,
                          gg_error *error)
{
    double values[COMMON] = {0};
    collected found = {.reward = reward};
    if (reward->script)
        return gg_lua_score(reward->script, game, episode, error);
    common_values(game, episode, values);
    if (uses_environment(reward))
        game->api->parts(game->env, episode, collect, &found);
    for (size_t i = 0; i < reward->count; i++)
        if (reward->terms[i].common >= 0)
            found.values[i] = values[reward->terms[i].common];
    return store(&found, episode, error);
}

/* Judging. */

typedef struct labelling {
    gg_episode *episode;
    bool failed;
} labelling;

static void add_label(void *context, const char *name, const char *value)
{
    labelling *into = context;
    gg_episode *e = into->episode;
    gg_label *label = gg_episode_push(e, &e->labels, &e->label_count, sizeof *label);
    const char *own_name = gg_episode_string(e, name, strlen(name));
    const char *own_value = gg_episode_string(e, value, strlen(value));
    if (!label || !own_name || !own_value) {
        into->failed = true;
        return;
    }
    *label = (gg_label){.name = own_name, .value = own_value};
}

gg_status gg_episode_judge(const gg_game *game, const gg_reward *reward, gg_episode *episode,
                           gg_error *error)
{
    labelling labels = {.episode = episode};
    const char *name = game->info.measure_name;
    episode->measure.name = gg_episode_string(episode, name, strlen(name));
    episode->measure.value = game->api->measure(game->env, episode);
    episode->labels = NULL;
    episode->label_count = 0;
    game->api->labels(game->env, episode, add_label, &labels);
    if (!episode->measure.name || labels.failed)
        return gg_fail(error, GG_E_MEMORY, "out of memory while judging an episode");
    /* Also refuses NaN. */
    if (!(episode->measure.value >= 0 && episode->measure.value <= 1))
        return gg_fail(error, GG_E_FORMAT, "episode %s: measure %s is %g, not between 0 and 1",
                       episode->id ? episode->id : "", name, episode->measure.value);
    return gg_reward_score(reward, game, episode, error);
}
