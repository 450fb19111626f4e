/*
 * Model packages: saved weights, as numbered versions in groups.
 *
 * A package's files lie in the object store: adapter.json, and optimizer.json for one that
 * saveState made. What is known of it lies in the state folder (packages/GROUP/VERSION.json), so
 * that packages outlive the process; without a state folder they are forgotten.
 *
 * Weights are handed out as gg_version: immutable, counted, kept in a small cache, so that sampling
 * goes on with the version it was bound to while training moves on.
 *
 * Threads: any.
 */
#ifndef GG_SERVICE_PACKAGES_H
#define GG_SERVICE_PACKAGES_H

#include "policy/adapter.h"
#include "service/names.h"
#include "service/store.h"

#define GG_PACKAGE_ARN_MAX  255
#define GG_VERSIONS_CACHED  16
#define GG_ADAPTER_FILE     "adapter.json"
#define GG_OPTIMIZER_FILE   "optimizer.json"
#define GG_PACKAGE_FILE_MAX (64u << 20)

typedef struct gg_packages gg_packages;

/* `state_dir` may be NULL; the store outlives the packages. Reads what an earlier process left; a
 * damaged file is GG_E_FORMAT. */
gg_status gg_packages_open(const char *state_dir, const gg_store *store, gg_packages **out,
                           gg_error *error);
void gg_packages_close(gg_packages *packages); /* NULL is fine */

/* ---- groups ---- */

typedef struct gg_group_info {
    const char *name, *arn, *description; /* description may be NULL */
    double created;                       /* seconds since 1970 */
} gg_group_info;

/* Makes a group; *made tells whether it is new (may be NULL). */
gg_status gg_packages_group(gg_packages *packages, const char *name, const char *region,
                            const char *account, const char *description, bool *made,
                            gg_error *error);

/* ---- packages ---- */

typedef struct gg_package_info {
    const char *arn, *group, *description; /* description may be NULL */
    int64_t version;                       /* from 1 in its group */
    const char *s3_uri;                    /* of its folder, with a slash at the end */
    const char *base_id, *base_version;    /* hub content; base_version may be "" */
    bool checkpoint;                       /* made by saveState */
    double created;
} gg_package_info;

typedef struct gg_package_save {
    const char *group, *region, *account, *description, *base_id, *base_version;
    const char *s3_path; /* s3://bucket/prefix; the package's own folder is made below it */
    const char *session; /* whose it is */
    const gg_policy *policy;
    gg_adapter *adapter;   /* taken over, also on failure */
    const char *optimizer; /* text of optimizer.json; NULL = not a checkpoint */
    size_t optimizer_len;
} gg_package_save;

/* Writes the files and registers the package under the group's next number. */
gg_status gg_packages_save(gg_packages *packages, const gg_package_save *save,
                           char arn[GG_PACKAGE_ARN_MAX + 1], gg_error *error);
/* Registers files that lie at `s3_uri` already. */
gg_status gg_packages_register(gg_packages *packages, const gg_package_save *save,
                               const char *s3_uri, char arn[GG_PACKAGE_ARN_MAX + 1],
                               gg_error *error);
bool gg_packages_has(gg_packages *packages, const char *arn);
/* Forgets the package; its S3 files stay. False when there is none. */
bool gg_packages_delete(gg_packages *packages, const char *arn);

/* Called with the packages of one group (NULL = of all), oldest first, and with groups; the strings
 * hold during the call, which must not call back in here. False from `each` ends the walk. */
typedef bool (*gg_package_fn)(void *context, const gg_package_info *info);
typedef bool (*gg_group_fn)(void *context, const gg_group_info *info);
void gg_packages_each(gg_packages *packages, const char *group, gg_package_fn each, void *context);
void gg_packages_each_group(gg_packages *packages, gg_group_fn each, void *context);
/* One package by ARN; false when there is none. */
bool gg_packages_look(gg_packages *packages, const char *arn, gg_package_fn each, void *context);

/* ---- weights ---- */

typedef struct gg_version gg_version;

/* The weights of a package. GG_E_ARGUMENT when there is no such package. Give back with
 * gg_version_release. */
gg_status gg_packages_version(gg_packages *packages, const gg_policy *policy, const char *arn,
                              gg_version **out, gg_error *error);
gg_version *gg_version_keep(gg_version *version); /* NULL stays NULL */
void gg_version_release(gg_version *version);     /* NULL is fine */
const gg_adapter *gg_version_adapter(const gg_version *version);
const char *gg_version_arn(const gg_version *version);

/* Appends a checkpoint's optimizer.json. GG_E_ARGUMENT for a package that has none. */
gg_status gg_packages_optimizer(gg_packages *packages, const char *arn, gg_buf *out,
                                gg_error *error);

#endif
