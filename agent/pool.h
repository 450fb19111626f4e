/*
 * Strings of one reply: they never move, and all go at once.
 *
 * A reply is taken apart into a few dozen strings that live until the next one. The pool hands out
 * memory from blocks that it keeps when it is reset, so that reading replies in a loop stops
 * allocating. Threads: one at a time.
 */
#ifndef GG_AGENT_POOL_H
#define GG_AGENT_POOL_H

#include <stddef.h>

typedef struct gg_pool_block gg_pool_block;

/* Zeroed = empty. */
typedef struct gg_pool {
    gg_pool_block *first, *now;
} gg_pool;

void gg_pool_free(gg_pool *pool);
/* Takes back everything handed out; one ordinary block stays. */
void gg_pool_reset(gg_pool *pool);
/* `len` bytes and a NUL; NULL when memory is short. */
char *gg_pool_room(gg_pool *pool, size_t len);
char *gg_pool_copy(gg_pool *pool, const char *bytes, size_t len);

#endif
