/* What a saved run says of a run to come: tokens a play, and the share of groups without signal. */
#ifndef GG_CLI_MEASURED_H
#define GG_CLI_MEASURED_H

#include "train/preflight.h"

/* Reads the plays of a run folder. `group_size` is that of the run to come. Errored plays are left
 * out; a run without any other play is GG_E_FORMAT. */
gg_status gg_measured_read(const char *dir, int64_t group_size, gg_baseline *baseline,
                           gg_measured *measured, gg_error *error);

#endif
