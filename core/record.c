#include <guessgym/record.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK 4096
#define MORE_BLOCK  2048        /* at least; thousands of episodes are in memory at once, so an */
#define BLOCK_MAX   (64u << 10) /* arena grows by half, up to here; larger requests get their own */
#define FIRST_ARRAY 4           /* elements of an array that push begins */
#define ALIGNMENT   (_Alignof(max_align_t))

static const char *const outcome_names[GG_OUTCOME_COUNT] = {
    [GG_UNPLAYED] = "unplayed",   [GG_SOLVED] = "solved",       [GG_LOST] = "lost",
    [GG_FORFEITED] = "forfeited", [GG_TRUNCATED] = "truncated", [GG_ERRORED] = "errored",
};

static const char *const stop_names[GG_STOP_COUNT] = {
    [GG_STOP_NONE] = "none",
    [GG_STOP_DONE] = "done",
    [GG_STOP_CALL_CAP] = "call_cap",
    [GG_STOP_TURN_CAP] = "turn_cap",
    [GG_STOP_NO_CALL] = "no_call",
    [GG_STOP_TOKEN_LIMIT] = "token_limit",
    [GG_STOP_CONTEXT] = "context",
    [GG_STOP_DEADLINE] = "deadline",
    [GG_STOP_TRANSPORT] = "transport",
    [GG_STOP_REFUSED] = "refused",
    [GG_STOP_INTERRUPTED] = "interrupted",
};

static const char *const call_status_names[GG_CALL_STATUS_COUNT] = {
    [GG_CALL_VALID] = "valid",
    [GG_CALL_INVALID] = "invalid",
    [GG_CALL_OVER] = "over",
    [GG_CALL_FAILED] = "failed",
};

static const char *name_of(const char *const *names, size_t count, size_t value)
{
    return value < count ? names[value] : "unknown";
}

static size_t value_of(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && !(name && strcmp(names[i], name) == 0))
        i++;
    return i;
}

const char *gg_outcome_name(gg_outcome outcome)
{
    return name_of(outcome_names, GG_OUTCOME_COUNT, (size_t)outcome);
}

const char *gg_stop_name(gg_stop stop)
{
    return name_of(stop_names, GG_STOP_COUNT, (size_t)stop);
}

const char *gg_call_status_name(gg_call_status status)
{
    return name_of(call_status_names, GG_CALL_STATUS_COUNT, (size_t)status);
}

gg_outcome gg_outcome_parse(const char *name)
{
    return (gg_outcome)value_of(outcome_names, GG_OUTCOME_COUNT, name);
}

gg_stop gg_stop_parse(const char *name)
{
    return (gg_stop)value_of(stop_names, GG_STOP_COUNT, name);
}

gg_call_status gg_call_status_parse(const char *name)
{
    return (gg_call_status)value_of(call_status_names, GG_CALL_STATUS_COUNT, name);
}

/* The arena is a chain of blocks; the newest is first, and the episode itself lies in the oldest.
 */
struct gg_arena {
    gg_arena *older;
    size_t used, room;
    size_t total; /* room of this block and all older ones */
    _Alignas(max_align_t) char bytes[];
};

static gg_arena *block_new(gg_arena *older, size_t room)
{
    gg_arena *block = malloc(sizeof *block + room);
    if (!block)
        return NULL;
    block->older = older;
    block->used = 0;
    block->room = room;
    block->total = room + (older ? older->total : 0);
    return block;
}

static void *take(gg_arena **arena, size_t bytes, size_t alignment)
{
    gg_arena *block = *arena;
    size_t start = (block->used + alignment - 1) & ~(alignment - 1);
    if (start > block->room || bytes > block->room - start) {
        size_t room = block->total / 2 < BLOCK_MAX ? block->total / 2 : BLOCK_MAX;
        if (room < MORE_BLOCK)
            room = MORE_BLOCK;
        if (bytes > SIZE_MAX / 2)
            return NULL;
        block = block_new(*arena, bytes > room ? bytes : room);
        if (!block)
            return NULL;
        *arena = block;
        start = 0;
    }
    block->used = start + bytes;
    return block->bytes + start;
}

gg_episode *gg_episode_new(void)
{
    gg_arena *arena = block_new(NULL, FIRST_BLOCK - sizeof(gg_arena));
    if (!arena)
        return NULL;
    gg_episode *episode = take(&arena, sizeof *episode, ALIGNMENT);
    *episode = (gg_episode){
        .arena = arena,
        .policy = {.temperature = NAN,
                   .top_p = NAN,
                   .max_tokens = -1,
                   .weight_version_first = -1,
                   .weight_version_last = -1},
    };
    return episode;
}

void gg_episode_free(gg_episode *episode)
{
    gg_arena *block = episode ? episode->arena : NULL;
    while (block) {
        gg_arena *older = block->older;
        free(block);
        block = older;
    }
}

void *gg_episode_alloc(gg_episode *episode, size_t bytes)
{
    return take(&episode->arena, bytes, ALIGNMENT);
}

const char *gg_episode_string(gg_episode *episode, const char *text, size_t len)
{
    char *copy = len < SIZE_MAX ? take(&episode->arena, len + 1, 1) : NULL;
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

/* The room of a pushed array follows from its count: FIRST_ARRAY, then powers of two. */
static size_t room_of(size_t count)
{
    size_t room = count ? FIRST_ARRAY : 0;
    while (room < count)
        room *= 2;
    return room;
}

void *gg_episode_push(gg_episode *episode, void *array, size_t *count, size_t element)
{
    char *items;
    memcpy(&items, array, sizeof items);
    size_t room = room_of(*count);
    if (*count == room) {
        size_t wanted = room ? room * 2 : FIRST_ARRAY;
        if (wanted > SIZE_MAX / 2 / element)
            return NULL;
        char *grown = gg_episode_alloc(episode, wanted * element);
        if (!grown)
            return NULL;
        if (room)
            memcpy(grown, items, room * element);
        items = grown;
        memcpy(array, &items, sizeof items);
    }
    void *added = items + (*count)++ * element;
    memset(added, 0, element);
    return added;
}

gg_turn *gg_episode_add_turn(gg_episode *episode)
{
    gg_turn *turn = gg_episode_push(episode, &episode->turns, &episode->turn_count, sizeof *turn);
    if (!turn)
        return NULL;
    turn->index = (int)(episode->turn_count - 1);
    turn->usage =
        (gg_usage){GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN};
    return turn;
}
