/*
 * Logging a run to MLflow while it goes on: a thread beside it that pushes the run folder
 * (report/mlflow.h). The run never waits for the server but at its end, and then no longer than
 * GG_MLFLOW_END_S. When the server fails, one warning is told; what is missing stays in the folder.
 */
#ifndef GG_CLI_MLFLOW_H
#define GG_CLI_MLFLOW_H

#include "cli/command.h"

#define GG_MLFLOW_EVERY_MS 1000 /* between two looks at the folder */
#define GG_MLFLOW_END_S    30
#define GG_MLFLOW_LAST_S   5 /* once the server has failed */

typedef struct gg_mlflow_live gg_mlflow_live;

/* The address to log to; NULL = none. GG_E_CONFIG for a --mlflow that is none; such a
 * MLFLOW_TRACKING_URI is told and passed over. */
gg_status gg_mlflow_address(const gg_cli *cli, const char **url, gg_error *error);
/* Begins to log a folder that stands; *out is NULL where nothing is to be logged. A push that
 * cannot begin is told, and is no failure of the run. */
gg_status gg_mlflow_start(const gg_cli *cli, const char *dir, gg_mlflow_live **out,
                          gg_error *error);
/* The run is over, its folder closed: sends the rest. NULL is fine. */
void gg_mlflow_stop(gg_mlflow_live *live, gg_status how);

#endif
