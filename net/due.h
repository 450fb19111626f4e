/* Things that fall due: a binary heap of times. Private to net/endpoint.c. */
#ifndef GG_NET_DUE_H
#define GG_NET_DUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GG_DUE_NONE SIZE_MAX

typedef struct gg_due { /* part of the thing */
    int64_t time;
    size_t place; /* GG_DUE_NONE when it is not in the heap */
} gg_due;

typedef struct gg_due_heap {
    gg_due **items;
    size_t count, room;
} gg_due_heap;

/* Makes room for one more, so that gg_due_put cannot fail; false when memory is short. */
bool gg_due_reserve(gg_due_heap *heap, size_t count);
/* Puts it in, or moves it when it is in already. */
void gg_due_put(gg_due_heap *heap, gg_due *due, int64_t time);
void gg_due_take(gg_due_heap *heap, gg_due *due); /* nothing when it is not in */
gg_due *gg_due_first(const gg_due_heap *heap);    /* NULL when empty */
void gg_due_free(gg_due_heap *heap);

#endif
