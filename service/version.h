/* Counted weights and their cache; part of packages.h. */
#ifndef GG_SERVICE_VERSION_H
#define GG_SERVICE_VERSION_H

#include "service/packages.h"

/* Takes the adapter over; NULL (and the adapter freed) when memory is short. */
gg_version *gg_version_new(const char *arn, gg_adapter *adapter);

/* The last used versions. Not locked: its owner does that. */
typedef struct gg_version_cache {
    struct {
        gg_version *version;
        uint64_t used;
    } slots[GG_VERSIONS_CACHED];
    uint64_t clock;
} gg_version_cache;

gg_version *gg_version_cache_get(gg_version_cache *cache,
                                 const char *arn);                       /* kept; NULL if absent */
void gg_version_cache_put(gg_version_cache *cache, gg_version *version); /* keeps its own */
void gg_version_cache_drop(gg_version_cache *cache, const char *arn);
void gg_version_cache_clear(gg_version_cache *cache);

#endif
