/* Measure, reward parts and labels: pure functions of a record. */
#include <string.h>

#include "env/search/game.h"

enum part { NDCG, CAPS, SUBMITTED, BY_WORDS, BY_VECTORS, REPEATS, NEW_DOCUMENTS };

const gg_part_info gg_search_part_table[GG_SEARCH_PARTS] = {
    [NDCG] = {"ndcg", "nDCG@10 of the ranking, 0 without one"},
    [CAPS] = {"caps", "1 when a cap on replies, calls or tokens ended the search"},
    [SUBMITTED] = {"submitted", "1 when a ranking was given, by a call or in prose"},
    [BY_WORDS] = {"by_words", "searches by words (BM25)"},
    [BY_VECTORS] = {"by_vectors", "searches by vectors"},
    [REPEATS] = {"repeats", "searches made before in the same play"},
    [NEW_DOCUMENTS] = {"new_documents", "documents shown for the first time"},
};

static bool tool_is(const char *facts, const char *tool)
{
    char name[32];
    return gg_fact_text(facts, "tool", name, sizeof name) && strcmp(name, tool) == 0;
}

static void add_call(const gg_call *call, double values[GG_SEARCH_PARTS])
{
    double value;
    if (call->status != GG_CALL_VALID)
        return;
    if (gg_fact_number(call->facts, "ndcg", &value)) {
        values[NDCG] = value;
        values[SUBMITTED] = 1;
    }
    values[BY_WORDS] += tool_is(call->facts, S_TOOL_WORDS);
    values[BY_VECTORS] += tool_is(call->facts, S_TOOL_VECTORS);
    if (gg_fact_number(call->facts, "repeat", &value))
        values[REPEATS] += value;
    if (gg_fact_number(call->facts, "new", &value))
        values[NEW_DOCUMENTS] += value;
}

static bool is_capped(const gg_episode *episode)
{
    return episode->outcome == GG_TRUNCATED || episode->stop == GG_STOP_TURN_CAP ||
           episode->stop == GG_STOP_CALL_CAP;
}

static void fill(const gg_episode *episode, double values[GG_SEARCH_PARTS])
{
    memset(values, 0, GG_SEARCH_PARTS * sizeof *values);
    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++)
            add_call(&episode->turns[t].calls[c], values);
    values[CAPS] = is_capped(episode);
}

double gg_search_measure(const gg_env *env, const gg_episode *episode)
{
    double values[GG_SEARCH_PARTS];
    (void)env;
    fill(episode, values);
    return values[NDCG];
}

void gg_search_parts(const gg_env *env, const gg_episode *episode, gg_part_fn each, void *context)
{
    double values[GG_SEARCH_PARTS];
    (void)env;
    fill(episode, values);
    for (size_t i = 0; i < GG_SEARCH_PARTS; i++)
        each(context, gg_search_part_table[i].name, values[i]);
}

/* Every call's facts hold it. */
static bool read_kind(const gg_episode *episode, char *out, size_t room)
{
    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++)
            if (gg_fact_text(episode->turns[t].calls[c].facts, "kind", out, room) && *out)
                return true;
    return false;
}

void gg_search_labels(const gg_env *env, const gg_episode *episode, gg_label_fn each, void *context)
{
    char kind[GG_DOCUMENT_ID_MAX + 1];
    double values[GG_SEARCH_PARTS];
    (void)env;
    fill(episode, values);
    if (read_kind(episode, kind, sizeof kind))
        each(context, "kind", kind);
    bool by_words = values[BY_WORDS] > 0, by_vectors = values[BY_VECTORS] > 0;
    each(context, "tools",
         by_words && by_vectors ? "both"
         : by_words             ? "words"
         : by_vectors           ? "vectors"
                                : "none");
}
