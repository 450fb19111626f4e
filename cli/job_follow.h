/* Following a managed job to its end, with a live line. */
#ifndef GG_CLI_JOB_FOLLOW_H
#define GG_CLI_JOB_FOLLOW_H

#include "cli/managed.h"
#include "core/price.h"

/* Polls until the job has ended, or a signal came (GG_E_INTERRUPTED; the job goes on). The last
 * state in *out. */
gg_status gg_job_follow(gg_cli *cli, gg_managed *managed, const char *name, const gg_price *price,
                        gg_remote_job_state *out, gg_error *error);
/* Prints the state to stdout, as text or as JSON. */
void gg_job_print(const gg_cli *cli, const gg_remote_job_state *job, const gg_price *price);

#endif
