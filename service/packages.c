#include "service/packages.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "service/package_files.h"
#include "service/version.h"

#define FIRST_ROOM 16

typedef struct group {
    char name[GG_NAME_MAX + 1];
    char arn[GG_PACKAGE_ARN_MAX + 1];
    char *description;
    double created;
    int64_t last;       /* highest number given out */
    gg_package **items; /* by version */
    size_t count, room;
} group;

struct gg_packages {
    pthread_mutex_t lock;
    char *state_dir;
    const gg_store *store;
    group **groups;
    size_t count, room;
    gg_version_cache cache;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)(t.tv_nsec / 1000000) / 1000;
}

/* ---- groups; under the lock ---- */

static group *find_group(const gg_packages *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->groups[i]->name, name) == 0)
            return p->groups[i];
    return NULL;
}

static void group_free(group *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->count; i++)
        gg_package_free(g->items[i]);
    free(g->items);
    free(g->description);
    free(g);
}

/* Room for one pointer more in an array of them. */
static bool grow(void *array, size_t count, size_t *room)
{
    void **items;
    if (count < *room)
        return true;
    memcpy(&items, array, sizeof items);
    size_t more = *room ? *room * 2 : FIRST_ROOM;
    /* cppcheck-suppress memleakOnRealloc ; on failure the caller still has the old array */
    items = realloc(items, more * sizeof *items);
    if (!items)
        return false;
    memcpy(array, &items, sizeof items);
    *room = more;
    return true;
}

static group *new_group(gg_packages *p, const char *name, const char *arn, const char *description,
                        double created)
{
    group *g = calloc(1, sizeof *g);
    if (!g || !grow(&p->groups, p->count, &p->room) ||
        (description && !(g->description = strdup(description)))) {
        group_free(g);
        return NULL;
    }
    snprintf(g->name, sizeof g->name, "%s", name);
    snprintf(g->arn, sizeof g->arn, "%s", arn);
    g->created = created;
    p->groups[p->count++] = g;
    return g;
}

/* Keeps the order of versions: files are read in any order. */
static bool insert(group *g, gg_package *package)
{
    if (!grow(&g->items, g->count, &g->room))
        return false;
    size_t at = g->count++;
    for (; at > 0 && g->items[at - 1]->version > package->version; at--)
        g->items[at] = g->items[at - 1];
    g->items[at] = package;
    if (package->version > g->last)
        g->last = package->version;
    return true;
}

static group *get_group(gg_packages *p, const char *name, const char *region, const char *account,
                        const char *description, bool *made)
{
    group *g = find_group(p, name);
    if (made)
        *made = !g;
    if (g)
        return g;
    char arn[GG_PACKAGE_ARN_MAX + 1];
    snprintf(arn, sizeof arn, "arn:aws:sagemaker:%s:%s:model-package-group/%s", region, account,
             name);
    return new_group(p, name, arn, description, now());
}

gg_status gg_packages_group(gg_packages *p, const char *name, const char *region,
                            const char *account, const char *description, bool *made,
                            gg_error *error)
{
    bool new = false;
    pthread_mutex_lock(&p->lock);
    group *g = get_group(p, name, region, account, description, &new);
    gg_status status = g ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for a group");
    if (status == GG_OK && new && p->state_dir)
        status =
            gg_group_file_write(p->state_dir, g->name, g->arn, g->description, g->created, error);
    pthread_mutex_unlock(&p->lock);
    if (made)
        *made = new;
    return status;
}

void gg_packages_each_group(gg_packages *p, gg_group_fn each, void *context)
{
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->count; i++) {
        const group *g = p->groups[i];
        gg_group_info info = {g->name, g->arn, g->description, g->created};
        if (!each(context, &info))
            break;
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- packages ---- */

static gg_package *find(const gg_packages *p, const char *arn, group **of, size_t *index)
{
    char name[GG_NAME_MAX + 1];
    int64_t version;
    if (!gg_text_is(arn, GG_TEXT_PACKAGE_ARN) ||
        !gg_package_parts(arn, name, sizeof name, &version))
        return NULL;
    group *g = find_group(p, name);
    size_t low = 0, high = g ? g->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->items[middle]->version < version)
            low = middle + 1;
        else
            high = middle;
    }
    if (!g || low == g->count || strcmp(g->items[low]->arn, arn) != 0)
        return NULL;
    if (of)
        *of = g;
    if (index)
        *index = low;
    return g->items[low];
}

static gg_package_info info_of(const gg_package *k)
{
    return (gg_package_info){k->arn,     k->group,        k->description, k->version, k->s3_uri,
                             k->base_id, k->base_version, k->checkpoint,  k->created};
}

bool gg_packages_look(gg_packages *p, const char *arn, gg_package_fn each, void *context)
{
    pthread_mutex_lock(&p->lock);
    const gg_package *package = find(p, arn, NULL, NULL);
    if (package) {
        gg_package_info info = info_of(package);
        each(context, &info);
    }
    pthread_mutex_unlock(&p->lock);
    return package != NULL;
}

static bool nothing(void *context, const gg_package_info *info)
{
    (void)context;
    (void)info;
    return false;
}

bool gg_packages_has(gg_packages *p, const char *arn)
{
    return gg_packages_look(p, arn, nothing, NULL);
}

void gg_packages_each(gg_packages *p, const char *name, gg_package_fn each, void *context)
{
    bool on = true;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->count && on; i++)
        for (size_t k = 0; k < p->groups[i]->count && on; k++) {
            if (name && strcmp(p->groups[i]->name, name) != 0)
                break;
            gg_package_info info = info_of(p->groups[i]->items[k]);
            on = each(context, &info);
        }
    pthread_mutex_unlock(&p->lock);
}

bool gg_packages_delete(gg_packages *p, const char *arn)
{
    group *g;
    size_t at;
    pthread_mutex_lock(&p->lock);
    gg_package *package = find(p, arn, &g, &at);
    if (package) {
        memmove(&g->items[at], &g->items[at + 1], (g->count - at - 1) * sizeof(gg_package *));
        g->count--;
        gg_version_cache_drop(&p->cache, arn);
        if (p->state_dir)
            gg_package_file_remove(p->state_dir, package);
    }
    pthread_mutex_unlock(&p->lock);
    gg_package_free(package);
    return package != NULL;
}

/* Takes the group's next number. */
static gg_status reserve(gg_packages *p, const gg_package_save *save, gg_package **out,
                         gg_error *error)
{
    gg_status status =
        gg_packages_group(p, save->group, save->region, save->account, NULL, NULL, error);
    if (status != GG_OK)
        return status;
    pthread_mutex_lock(&p->lock);
    int64_t version = ++find_group(p, save->group)->last;
    pthread_mutex_unlock(&p->lock);
    *out = gg_package_new(save, version, now());
    return *out ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for a model package");
}

/* Registers a package whose files are there; it is the caller's to free on failure. */
static gg_status enter(gg_packages *p, gg_package *package, gg_version *version, char *arn,
                       gg_error *error)
{
    gg_status status = GG_OK;
    if (p->state_dir)
        status = gg_package_file_write(p->state_dir, package, error);
    if (status != GG_OK)
        return status;
    pthread_mutex_lock(&p->lock);
    if (!insert(find_group(p, package->group), package))
        status = gg_fail(error, GG_E_MEMORY, "out of memory for a model package");
    else if (version)
        gg_version_cache_put(&p->cache, version);
    snprintf(arn, GG_PACKAGE_ARN_MAX + 1, "%s", package->arn);
    pthread_mutex_unlock(&p->lock);
    return status;
}

gg_status gg_packages_save(gg_packages *p, const gg_package_save *save,
                           char arn[GG_PACKAGE_ARN_MAX + 1], gg_error *error)
{
    gg_package *package = NULL;
    gg_version *version = NULL;
    gg_status status = reserve(p, save, &package, error);
    if (status == GG_OK)
        status = gg_package_set_uri(package, save->s3_path, save->session, error);
    if (status == GG_OK)
        status = gg_package_files_write(p->store, package, save, error);
    if (status != GG_OK)
        gg_adapter_free(save->adapter);
    else if (!(version = gg_version_new(package->arn, save->adapter)))
        status = gg_fail(error, GG_E_MEMORY, "out of memory for the saved weights");
    if (status == GG_OK)
        status = enter(p, package, version, arn, error);
    if (status != GG_OK)
        gg_package_free(package);
    gg_version_release(version);
    return status;
}

gg_status gg_packages_register(gg_packages *p, const gg_package_save *save, const char *s3_uri,
                               char arn[GG_PACKAGE_ARN_MAX + 1], gg_error *error)
{
    gg_package *package = NULL;
    gg_status status = reserve(p, save, &package, error);
    if (status == GG_OK && !(package->s3_uri = strdup(s3_uri)))
        status = gg_fail(error, GG_E_MEMORY, "out of memory for a model package");
    if (status == GG_OK)
        status = enter(p, package, NULL, arn, error);
    if (status != GG_OK)
        gg_package_free(package);
    return status;
}

/* ---- weights ---- */

/* Reads one file of the package; GG_E_ARGUMENT when there is no such package. */
static gg_status read_file(gg_packages *p, const char *arn, const char *name, bool of_checkpoint,
                           gg_buf *out, gg_error *error)
{
    gg_buf uri;
    gg_status status = GG_OK;
    gg_buf_init(&uri, 3 * GG_S3_PATH_MAX);
    pthread_mutex_lock(&p->lock);
    const gg_package *package = find(p, arn, NULL, NULL);
    if (!package)
        status = gg_fail(error, GG_E_ARGUMENT, "there is no model package %.200s", arn);
    else if (of_checkpoint && !package->checkpoint)
        status = gg_fail(error, GG_E_ARGUMENT,
                         "model package %.200s holds no optimiser (saveWeights made it); load it "
                         "without, or one of saveState",
                         arn);
    else
        gg_buf_str(&uri, package->s3_uri);
    pthread_mutex_unlock(&p->lock);
    gg_buf_str(&uri, name);
    if (status == GG_OK)
        status = gg_buf_status(&uri, "an address", error);
    if (status == GG_OK)
        status = gg_store_read(p->store, uri.data, out, error);
    gg_buf_free(&uri);
    return status;
}

static gg_status load(gg_packages *p, const gg_policy *policy, const char *arn, gg_version **out,
                      gg_error *error)
{
    gg_buf text;
    gg_adapter adapter;
    gg_buf_init(&text, GG_PACKAGE_FILE_MAX);
    gg_status status = read_file(p, arn, GG_ADAPTER_FILE, false, &text, error);
    if (status == GG_OK) {
        status = gg_adapter_parse(gg_buf_cstr(&text), text.len, policy, &adapter, error);
        if (status != GG_OK)
            gg_fail_prefix(error, "model package %.200s", arn);
    }
    gg_buf_free(&text);
    if (status != GG_OK)
        return status;
    *out = gg_version_new(arn, &adapter);
    if (!*out)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the weights of a model package");
    pthread_mutex_lock(&p->lock);
    gg_version_cache_put(&p->cache, *out);
    pthread_mutex_unlock(&p->lock);
    return GG_OK;
}

gg_status gg_packages_version(gg_packages *p, const gg_policy *policy, const char *arn,
                              gg_version **out, gg_error *error)
{
    pthread_mutex_lock(&p->lock);
    *out = gg_version_cache_get(&p->cache, arn);
    pthread_mutex_unlock(&p->lock);
    if (!*out)
        return load(p, policy, arn, out, error);
    /* The cache knows no policies: a package of another one must not slip through it. */
    if (strcmp(gg_version_adapter(*out)->policy, gg_policy_name(policy)) == 0)
        return GG_OK;
    gg_fail(error, GG_E_ARGUMENT, "model package %.200s is one of %s, not of %s", arn,
            gg_version_adapter(*out)->policy, gg_policy_name(policy));
    gg_version_release(*out);
    *out = NULL;
    return GG_E_ARGUMENT;
}

gg_status gg_packages_optimizer(gg_packages *p, const char *arn, gg_buf *out, gg_error *error)
{
    return read_file(p, arn, GG_OPTIMIZER_FILE, true, out, error);
}

/* ---- opening ---- */

static gg_status add_read_group(void *context, const char *name, const char *arn,
                                const char *description, double created, gg_error *error)
{
    gg_packages *p = context;
    if (find_group(p, name) || new_group(p, name, arn, description, created))
        return GG_OK;
    return gg_fail(error, GG_E_MEMORY, "out of memory for the model package groups");
}

static gg_status add_read_package(void *context, gg_package *package, gg_error *error)
{
    gg_packages *p = context;
    group *g = find_group(p, package->group);
    if (g && insert(g, package))
        return GG_OK;
    gg_package_free(package);
    return g ? gg_fail(error, GG_E_MEMORY, "out of memory for the model packages") : GG_OK;
}

gg_status gg_packages_open(const char *state_dir, const gg_store *store, gg_packages **out,
                           gg_error *error)
{
    gg_packages *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the model packages");
    pthread_mutex_init(&p->lock, NULL);
    p->state_dir = state_dir ? strdup(state_dir) : NULL;
    p->store = store;
    gg_status status = state_dir && !p->state_dir
                           ? gg_fail(error, GG_E_MEMORY, "out of memory for the model packages")
                           : GG_OK;
    if (status == GG_OK && state_dir) {
        const gg_package_reader reader = {add_read_group, add_read_package, p};
        status = gg_package_files_read(state_dir, &reader, error);
    }
    if (status == GG_OK)
        *out = p;
    else
        gg_packages_close(p);
    return status;
}

void gg_packages_close(gg_packages *p)
{
    if (!p)
        return;
    gg_version_cache_clear(&p->cache);
    for (size_t i = 0; i < p->count; i++)
        group_free(p->groups[i]);
    free(p->groups);
    free(p->state_dir);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
