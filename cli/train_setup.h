/* From options to a training: rows, held-out check, saved plays, the service, the run folders. */
#ifndef GG_CLI_TRAIN_SETUP_H
#define GG_CLI_TRAIN_SETUP_H

#include "cli/endpoint.h"
#include "cli/train_from.h"
#include "service/service.h"
#include "train/train.h"

typedef struct gg_training {
    gg_cli *cli;
    gg_game *game;
    gg_reward *reward;
    gg_tasks rows, val, held_out;
    gg_saved_plays from; /* --from RUN */
    gg_player player;    /* as records name it; its server runs only with --endpoint builtin:NAME */
    gg_buf dir, system_prompt, base_model;
    char control_url[128], runtime_url[128]; /* of the managed service */
    gg_ask ask;
    char effort[16];     /* "" = not sent */
    gg_service *service; /* --on local */
    gg_run *run, *validation;
    char start_arn[GG_SERVICE_ARN_MAX + 1]; /* "" = the base model */
    gg_train_options options;               /* complete but for the loop and the progress */
} gg_training;

gg_status gg_training_open(gg_cli *cli, gg_training *out, gg_error *error);
void gg_training_close(gg_training *training);
/* Copies the trained weights from where the service put them to DIR/adapter.json. */
gg_status gg_training_fetch(gg_training *training, gg_train *train, gg_error *error);

#endif
