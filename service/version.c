#include "service/version.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct gg_version {
    atomic_long holders;
    gg_adapter adapter;
    char arn[];
};

gg_version *gg_version_new(const char *arn, gg_adapter *adapter)
{
    size_t len = strlen(arn) + 1;
    gg_version *v = malloc(sizeof *v + len);
    if (!v) {
        gg_adapter_free(adapter);
        return NULL;
    }
    atomic_init(&v->holders, 1);
    v->adapter = *adapter;
    *adapter = (gg_adapter){0};
    memcpy(v->arn, arn, len);
    return v;
}

gg_version *gg_version_keep(gg_version *version)
{
    if (version)
        atomic_fetch_add(&version->holders, 1);
    return version;
}

void gg_version_release(gg_version *version)
{
    if (!version || atomic_fetch_sub(&version->holders, 1) > 1)
        return;
    gg_adapter_free(&version->adapter);
    free(version);
}

const gg_adapter *gg_version_adapter(const gg_version *version)
{
    return &version->adapter;
}

const char *gg_version_arn(const gg_version *version)
{
    return version->arn;
}

gg_version *gg_version_cache_get(gg_version_cache *cache, const char *arn)
{
    for (size_t i = 0; i < GG_VERSIONS_CACHED; i++)
        if (cache->slots[i].version && strcmp(cache->slots[i].version->arn, arn) == 0) {
            cache->slots[i].used = ++cache->clock;
            return gg_version_keep(cache->slots[i].version);
        }
    return NULL;
}

void gg_version_cache_put(gg_version_cache *cache, gg_version *version)
{
    size_t oldest = 0;
    gg_version_cache_drop(cache, version->arn);
    for (size_t i = 1; i < GG_VERSIONS_CACHED; i++)
        if (cache->slots[i].used < cache->slots[oldest].used)
            oldest = i;
    gg_version_release(cache->slots[oldest].version);
    cache->slots[oldest].version = gg_version_keep(version);
    cache->slots[oldest].used = ++cache->clock;
}

void gg_version_cache_drop(gg_version_cache *cache, const char *arn)
{
    for (size_t i = 0; i < GG_VERSIONS_CACHED; i++)
        if (cache->slots[i].version && strcmp(cache->slots[i].version->arn, arn) == 0) {
            gg_version_release(cache->slots[i].version);
            cache->slots[i].version = NULL;
            cache->slots[i].used = 0;
        }
}

void gg_version_cache_clear(gg_version_cache *cache)
{
    for (size_t i = 0; i < GG_VERSIONS_CACHED; i++) {
        gg_version_release(cache->slots[i].version);
        cache->slots[i].version = NULL;
        cache->slots[i].used = 0;
    }
}
