/*
 * What a job is asked to do: its configuration document, checked, with every default filled in.
 *
 * Names, ranges and defaults are those of the managed service's recipes (docs/jobs.md has the
 * table). Values may be texts, as the service wants them, or numbers. A hyperparameter that does
 * not exist is refused; other keys that are not known here are passed over and told.
 */
#ifndef GG_SERVICE_JOB_CONFIG_H
#define GG_SERVICE_JOB_CONFIG_H

#include "rl/hyper.h"
#include "service/names.h"

#define GG_JOB_SCHEMA_VERSION "1.0.0"
#define GG_JOB_DOCUMENT_MAX   262144
#define GG_JOB_RUNTIME_S      86400

typedef enum gg_job_category { GG_JOB_TRAIN, GG_JOB_EVALUATE, GG_JOB_CATEGORIES } gg_job_category;
const char *gg_job_category_name(gg_job_category category); /* "AgentRFT" ... */
gg_job_category gg_job_category_parse(const char *name);    /* the COUNT when unknown */

typedef struct gg_job_config {
    gg_job_category category;
    char *data_uri;       /* channel train, or evaluation */
    char *validation_uri; /* NULL = none */
    char *output_path;    /* without a slash at the end */
    char *input_package;  /* ARN, NULL = the base model */
    char base_id[GG_MODEL_ID_MAX + 1], base_version[32];
    char output_group[GG_NAME_MAX + 1], checkpoint_group[GG_NAME_MAX + 1]; /* training */
    double max_runtime_s;
    gg_hyper hyper;
} gg_job_config;

/* Called with the name of a key that is not known and is passed over. */
typedef void (*gg_job_key_fn)(void *context, const char *key);

/* GG_E_ARGUMENT with the sentence for the caller, or GG_E_MEMORY; *out is then empty. `unknown` may
 * be NULL. */
gg_status gg_job_config_read(gg_job_category category, const char *document, gg_job_config *out,
                             gg_job_key_fn unknown, void *context, gg_error *error);
void gg_job_config_free(gg_job_config *config);

/* Appends the JSON schema of a category's document. */
void gg_job_schema_write(gg_job_category category, gg_buf *out);

#endif
