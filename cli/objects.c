#include "cli/objects.h"

#include <stdio.h>
#include <string.h>

#define OWN_HOST "https://s3.%s.amazonaws.com"
#define URL_ROOM 128

gg_status gg_cli_store(const gg_cli *cli, const char *root, const char *region,
                       const gg_aws_keys *keys, gg_store **out, gg_error *error)
{
    const char *given_root = gg_opt_text(cli->opts, GG_OPT_S3_ROOT),
               *endpoint = gg_opt_text(cli->opts, GG_OPT_S3_ENDPOINT);
    char own[URL_ROOM];

    snprintf(own, sizeof own, OWN_HOST, region);
    if (given_root || !endpoint)
        root = given_root ? given_root : root;
    const gg_store_options options = {.root = endpoint && !given_root ? NULL : root,
                                      .endpoint = given_root ? NULL
                                                  : endpoint ? endpoint
                                                  : root     ? NULL
                                                             : own,
                                      .region = region,
                                      .key_id = keys ? keys->id : NULL,
                                      .secret = keys ? keys->secret : NULL,
                                      .token = keys ? keys->token : NULL};
    return gg_store_open(&options, out, error);
}

gg_status gg_cli_store_file(const gg_store *store, const char *location, const char *name,
                            gg_buf *out, gg_error *error)
{
    size_t len = strlen(location), ending = strlen(name);
    bool whole = len >= ending && strcmp(location + len - ending, name) == 0;
    gg_buf uri;

    gg_buf_init(&uri, GG_STORE_URI_MAX);
    gg_buf_str(&uri, location);
    if (!whole)
        gg_buf_printf(&uri, "%s%s", len && location[len - 1] == '/' ? "" : "/", name);
    gg_status status = gg_buf_status(&uri, "an S3 address", error);
    if (status == GG_OK)
        status = gg_store_read(store, gg_buf_cstr(&uri), out, error);
    gg_buf_free(&uri);
    return status;
}
