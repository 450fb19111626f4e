/* guessgym train --on job: the same training as a managed job. */
#ifndef GG_CLI_TRAIN_JOB_H
#define GG_CLI_TRAIN_JOB_H

#include "cli/command.h"

/* Uploads the rows, creates the job, follows it to its end and fetches the adapter. What the folder
 * holds: run.json, job.json (name and data of the job, written before it is created, so that a kill
 * loses no job), rows.jsonl and val.jsonl as uploaded, adapter.json. --resume follows the job. */
gg_exit gg_train_on_job(gg_cli *cli);

#endif
