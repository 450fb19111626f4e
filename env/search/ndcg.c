#include "env/search/ndcg.h"

#include <math.h>

static double dcg(const int *grades, size_t count, size_t cut)
{
    double sum = 0;
    for (size_t i = 0; i < count && i < cut; i++)
        if (grades[i] > 0)
            sum += grades[i] / log2((double)(i + 2));
    return sum;
}

/* The `cut` highest grades, highest first; returns how many there are. */
static size_t best(const int *judged, size_t count, size_t cut, int *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == cut && judged[i] <= out[cut - 1])
            continue;
        size_t at = kept < cut ? kept++ : cut - 1;
        for (; at > 0 && out[at - 1] < judged[i]; at--)
            out[at] = out[at - 1];
        out[at] = judged[i];
    }
    return kept;
}

double gg_ndcg(const int *ranked, size_t ranked_count, const int *judged, size_t judged_count,
               size_t cut)
{
    int ideal[GG_NDCG_CUT_MAX];
    if (cut == 0 || cut > GG_NDCG_CUT_MAX)
        return 0;
    size_t count = best(judged, judged_count, cut, ideal);
    double most = dcg(ideal, count, cut);
    return most > 0 ? dcg(ranked, ranked_count, cut) / most : 0;
}
