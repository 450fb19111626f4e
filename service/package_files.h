/* A model package as an object and as files; part of packages.h. */
#ifndef GG_SERVICE_PACKAGE_FILES_H
#define GG_SERVICE_PACKAGE_FILES_H

#include "service/packages.h"

typedef struct gg_package {
    char arn[GG_PACKAGE_ARN_MAX + 1];
    char group[GG_NAME_MAX + 1];
    int64_t version;
    char *description; /* may be NULL */
    char *s3_uri, *base_id, *base_version;
    bool checkpoint;
    double created;
} gg_package;

/* Everything but s3_uri; NULL when memory is short. */
gg_package *gg_package_new(const gg_package_save *save, int64_t version, double created);
void gg_package_free(gg_package *package); /* NULL is fine */
/* s3_uri = PATH/SESSION/GROUP-VERSION/ */
gg_status gg_package_set_uri(gg_package *package, const char *path, const char *session,
                             gg_error *error);

/* adapter.json and optimizer.json in the store. */
gg_status gg_package_files_write(const gg_store *store, const gg_package *package,
                                 const gg_package_save *save, gg_error *error);

/* STATE/packages/GROUP/group.json and VERSION.json. */
gg_status gg_group_file_write(const char *state_dir, const char *name, const char *arn,
                              const char *description, double created, gg_error *error);
gg_status gg_package_file_write(const char *state_dir, const gg_package *package, gg_error *error);
void gg_package_file_remove(const char *state_dir, const gg_package *package);

/* Gets every group before its packages; `package` takes its object over. */
typedef struct gg_package_reader {
    gg_status (*group)(void *context, const char *name, const char *arn, const char *description,
                       double created, gg_error *error);
    gg_status (*package)(void *context, gg_package *package, gg_error *error);
    void *context;
} gg_package_reader;
gg_status gg_package_files_read(const char *state_dir, const gg_package_reader *reader,
                                gg_error *error);

#endif
