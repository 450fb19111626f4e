#include "net/due.h"

#include <stdlib.h>

bool gg_due_reserve(gg_due_heap *heap, size_t count)
{
    if (count <= heap->room)
        return true;
    size_t room = heap->room * 2 > count ? heap->room * 2 : count + 16;
    gg_due **items = realloc(heap->items, room * sizeof(gg_due *));
    if (!items)
        return false;
    heap->items = items;
    heap->room = room;
    return true;
}

static void place(gg_due_heap *heap, size_t at, gg_due *due)
{
    heap->items[at] = due;
    due->place = at;
}

static void settle(gg_due_heap *heap, gg_due *due)
{
    size_t at = due->place;
    while (at > 0 && due->time < heap->items[(at - 1) / 2]->time) {
        place(heap, at, heap->items[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && heap->items[child + 1]->time < heap->items[child]->time)
            child++;
        if (due->time <= heap->items[child]->time)
            break;
        place(heap, at, heap->items[child]);
    }
    place(heap, at, due);
}

void gg_due_put(gg_due_heap *heap, gg_due *due, int64_t time)
{
    due->time = time;
    if (due->place == GG_DUE_NONE)
        place(heap, heap->count++, due);
    settle(heap, due);
}

void gg_due_take(gg_due_heap *heap, gg_due *due)
{
    if (due->place == GG_DUE_NONE)
        return;
    size_t hole = due->place;
    due->place = GG_DUE_NONE;
    gg_due *last = heap->items[--heap->count];
    if (last == due)
        return;
    place(heap, hole, last);
    settle(heap, last);
}

gg_due *gg_due_first(const gg_due_heap *heap)
{
    return heap->count ? heap->items[0] : NULL;
}

void gg_due_free(gg_due_heap *heap)
{
    free(heap->items);
    *heap = (gg_due_heap){.items = NULL};
}
