/* Hyperparameters, by the service's own table. */
#include "rl/hyper.h"
#include "train/preflight.h"

void gg_check_values(const gg_preflight *p, gg_findings *out)
{
    const gg_job_plan *plan = p->plan;
    size_t before = out->count;

    for (size_t i = 0; i < plan->value_count; i++) {
        gg_error error = {0};
        if (gg_hyper_check(GG_HYPER_TRAIN, plan->base_model ? plan->base_model : "",
                           plan->values[i].name, plan->values[i].text, &error) != GG_OK)
            gg_findings_add(out, "hyper", GG_FAULT, "%s (it is %s)", error.text,
                            plan->values[i].text);
    }
    if (out->count == before)
        gg_findings_add(out, "hyper", GG_HOLDS, "%zu hyperparameters, each within its range",
                        plan->value_count);
}
