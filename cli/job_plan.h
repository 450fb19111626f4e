/* From options to the plan of a managed job. */
#ifndef GG_CLI_JOB_PLAN_H
#define GG_CLI_JOB_PLAN_H

#include "cli/command.h"
#include "train/preflight.h"

/* Pointers go into the options. `rows` is the number of training rows, from which --epochs is
 * computed where it is not given; 0 = unknown. */
gg_status gg_cli_job_plan(const gg_cli *cli, size_t rows, gg_job_plan *out, gg_error *error);

#endif
