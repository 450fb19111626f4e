/*
 * What would make a managed job fail, told before it costs anything.
 *
 * A list of checks (one table, train/preflight.c) over a plan, its rows, its roles and what was
 * measured at home. Every check says something: that it holds, that it does not, or that it could
 * not be made and what it lacks. Nothing is sent anywhere.
 *
 * Sources: the service's guide and recipes as told in docs/aws.md; models and regions are data of
 * GG_MODELS_DATE.
 *
 * Ownership: the plan borrows everything; findings own their sentences. Threads: one at a time.
 */
#ifndef GG_TRAIN_PREFLIGHT_H
#define GG_TRAIN_PREFLIGHT_H

#include "agent/tasks.h"
#include "core/price.h"

#define GG_MODELS_DATE     "2026-11"
#define GG_FINDING_MAX     600 /* bytes of a sentence */
#define GG_PLAN_VALUES_MAX 40

/* A hyperparameter by the service's name, as text. */
typedef struct gg_plan_value {
    char name[40], text[40];
} gg_plan_value;

/* What the job is to be. NULL = not told. */
typedef struct gg_job_plan {
    const char *name, *region, *base_model;
    const char *agent; /* ARN of an agent runtime or of a forwarder function */
    const char *role;  /* ARN of the job's execution role */
    const char *output;
    const char *package_group, *checkpoint_group, *mlflow;
    const char *start; /* a model package to start from */
    bool accept_eula;  /* the base model's licence */
    gg_plan_value values[GG_PLAN_VALUES_MAX];
    size_t value_count;
} gg_job_plan;

/* A number of the plan; `otherwise` where the plan does not have it. */
double gg_plan_number(const gg_job_plan *plan, const char *name, double otherwise);

/* What plays at home came to, per play; plays 0 = nothing was measured. */
typedef struct gg_measured {
    int64_t plays;
    double prefill, sample, train; /* tokens */
    double turns;
    double longest; /* tokens of the longest sequence */
    double cut;     /* share of plays that the token limit ended */
} gg_measured;

/* Plays before training. */
typedef struct gg_baseline {
    int64_t tasks;    /* 0 = none were given */
    double solved;    /* share of the plays */
    double no_signal; /* expected share of the groups */
} gg_baseline;

typedef struct gg_preflight {
    const gg_job_plan *plan;
    const gg_tasks *rows, *val, *held_out; /* NULL = could not be read or are not there */
    const char *rows_fault, *val_fault;    /* why the rows could not be read */
    int max_turns;                         /* of the environment */
    double tool_tokens;                    /* of one tool result; a guess where not measured */
    const char *trust, *permissions, *agent_permissions; /* the documents' texts */
    gg_baseline baseline;
    gg_measured measured;
    gg_price price;
    double max_cost; /* dollars; 0 = no limit */
} gg_preflight;

typedef enum gg_severity { GG_HOLDS, GG_REMARK, GG_DOUBT, GG_FAULT } gg_severity;
const char *gg_severity_name(gg_severity severity); /* "ok", "note", "warn", "fail" */

typedef struct gg_finding {
    const char *check; /* static name, such as "agent-region" */
    gg_severity severity;
    char text[GG_FINDING_MAX];
} gg_finding;

typedef struct gg_findings {
    gg_finding *items;
    size_t count, room;
    bool no_memory; /* some are missing */
} gg_findings;

/* Appends. `severity` GG_HOLDS with the sentence of what holds. */
void gg_findings_add(gg_findings *findings, const char *check, gg_severity severity,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
size_t gg_findings_count(const gg_findings *findings, gg_severity severity);
void gg_findings_free(gg_findings *findings);

gg_status gg_preflight_run(const gg_preflight *preflight, gg_findings *out, gg_error *error);

/* The checks, by what they look at; each appends to the findings. */
void gg_check_places(const gg_preflight *preflight, gg_findings *out); /* ARNs, regions, model */
void gg_check_values(const gg_preflight *preflight, gg_findings *out); /* hyperparameters */
void gg_check_rows(const gg_preflight *preflight, gg_findings *out);
void gg_check_budget(const gg_preflight *preflight, gg_findings *out); /* tokens, signal, money */
void gg_check_roles(const gg_preflight *preflight, gg_findings *out);

#endif
