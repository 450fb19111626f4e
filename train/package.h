/* Model packages: where the control plane says that their files lie. */
#ifndef GG_TRAIN_PACKAGE_H
#define GG_TRAIN_PACKAGE_H

#include "net/endpoint.h"

/* Appends the S3 URI of a package. `given_up` as in gg_call_options. Threads: the loop's thread. */
gg_status gg_package_location(uv_loop_t *loop, gg_endpoint *control, const char *arn,
                              const bool *given_up, gg_buf *uri, gg_error *error);

#endif
