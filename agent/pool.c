#include "agent/pool.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 8192

struct gg_pool_block {
    gg_pool_block *next;
    size_t used, room;
    char bytes[];
};

static void free_from(gg_pool_block *block)
{
    while (block) {
        gg_pool_block *next = block->next;
        free(block);
        block = next;
    }
}

void gg_pool_free(gg_pool *pool)
{
    free_from(pool->first);
    *pool = (gg_pool){0};
}

void gg_pool_reset(gg_pool *pool)
{
    if (!pool->first)
        return;
    /* One huge reply must not hold its memory for the rest of the run. */
    if (pool->first->room > BLOCK) {
        gg_pool_free(pool);
        return;
    }
    free_from(pool->first->next);
    pool->first->next = NULL;
    pool->first->used = 0;
    pool->now = pool->first;
}

static gg_pool_block *add_block(gg_pool *pool, size_t need)
{
    size_t room = need > BLOCK ? need : BLOCK;
    gg_pool_block *block = malloc(sizeof *block + room);
    if (!block)
        return NULL;
    *block = (gg_pool_block){.room = room};
    if (pool->now)
        pool->now->next = block;
    else
        pool->first = block;
    pool->now = block;
    return block;
}

char *gg_pool_room(gg_pool *pool, size_t len)
{
    gg_pool_block *block = pool->now;
    if (!block || block->room - block->used < len + 1) {
        block = add_block(pool, len + 1);
        if (!block)
            return NULL;
    }
    char *bytes = block->bytes + block->used;
    block->used += len + 1;
    bytes[len] = '\0';
    return bytes;
}

char *gg_pool_copy(gg_pool *pool, const char *bytes, size_t len)
{
    char *copy = gg_pool_room(pool, len);
    if (copy && len)
        memcpy(copy, bytes, len);
    return copy;
}
