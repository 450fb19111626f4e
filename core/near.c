#include "core/near.h"

#include <string.h>

static size_t least(size_t a, size_t b, size_t c)
{
    size_t low = a < b ? a : b;
    return low < c ? low : c;
}

size_t gg_edit_distance(const char *a, const char *b)
{
    size_t rows[3][GG_NEAR_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t rest = strlen(a), len = strlen(b);

    if (rest > GG_NEAR_MAX || len > GG_NEAR_MAX)
        return GG_NEAR_MAX + 1;
    for (size_t j = 0; j <= len; j++)
        above[j] = j;
    for (size_t i = 1; i <= rest; i++) {
        row[0] = i;
        for (size_t j = 1; j <= len; j++) {
            row[j] =
                least(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1, row[j]);
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[len];
}

const char *gg_near_miss(const char *text, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t allowed = strlen(text) / 3;
    size_t limit = allowed > 0 ? allowed : 1;

    for (size_t i = 0; i < count; i++) {
        size_t distance = names[i] ? gg_edit_distance(text, names[i]) : limit + 1;
        if (distance <= limit && (!best || distance < gg_edit_distance(text, best)))
            best = names[i];
    }
    return best;
}
