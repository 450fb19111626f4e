/* s3:// as a command reaches it. */
#ifndef GG_CLI_OBJECTS_H
#define GG_CLI_OBJECTS_H

#include "cli/command.h"
#include "net/sigv4.h"
#include "service/store.h"

/* --s3-root, else --s3-endpoint, else `root` (NULL = none), else the region's own host. `keys` NULL
 * = requests are not signed. */
gg_status gg_cli_store(const gg_cli *cli, const char *root, const char *region,
                       const gg_aws_keys *keys, gg_store **out, gg_error *error);
/* Appends the file `name` at a model package's location, which may be the file itself, a folder or
 * the file's name without it. */
gg_status gg_cli_store_file(const gg_store *store, const char *location, const char *name,
                            gg_buf *out, gg_error *error);

#endif
