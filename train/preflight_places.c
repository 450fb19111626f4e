/* Where things are and what they are called: ARNs, regions, the base model. */
#include <string.h>

#include "core/near.h"
#include "core/pattern.h"
#include "train/preflight.h"

#define PART_MAX 64
#define ACCOUNT  "[0-9]{12}"
#define NAME     "[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?"

/* Which model is trained where, and the longest sequence that its recipe takes. */
static const struct model {
    const char *id;
    const char *regions[3];
    double longest;
} models[] = {
    {"nova-textgeneration-lite-v2", {"us-east-1", "us-west-2"}, 32768},
    {"openai-reasoning-gpt-oss-20b", {"us-east-1", "us-west-2"}, 65536},
    {"huggingface-vlm-gemma-4-31b-it", {"us-west-2"}, 65536},
    {"huggingface-vlm-qwen3-6-27b", {"us-west-2"}, 65536},
};
#define MODELS (sizeof models / sizeof *models)

static const struct place {
    const char *check, *what, *pattern, *wanted;
    size_t at; /* in gg_job_plan */
    bool needed;
} places[] = {
    {"job-name", "the job's name", NAME, "1 to 63 letters, digits and hyphens",
     offsetof(gg_job_plan, name), false},
    {"role", "the job's role", "arn:aws[a-z-]*:iam::" ACCOUNT ":role/[a-zA-Z_0-9+=,.@/_-]+",
     "arn:aws:iam::ACCOUNT:role/NAME", offsetof(gg_job_plan, role), true},
    {"agent", "the agent",
     "arn:aws[a-z-]*:bedrock-agentcore:[a-z0-9-]+:" ACCOUNT ":runtime/[a-zA-Z0-9_-]+|"
     "arn:aws[a-z-]*:lambda:[a-z0-9-]+:" ACCOUNT ":function:[a-zA-Z0-9_.-]+(:[$a-zA-Z0-9_-]+)?",
     "an agent runtime's or a function's ARN", offsetof(gg_job_plan, agent), true},
    {"output", "the output", "s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^[:cntrl:]]*)?",
     "s3://BUCKET/PREFIX", offsetof(gg_job_plan, output), true},
    {"package-group", "the model package group",
     "arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:" ACCOUNT ":model-package-group/" NAME,
     "arn:aws:sagemaker:REGION:ACCOUNT:model-package-group/NAME",
     offsetof(gg_job_plan, package_group), true},
    {"checkpoint-group", "the checkpoints' package group",
     "arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:" ACCOUNT ":model-package-group/" NAME,
     "arn:aws:sagemaker:REGION:ACCOUNT:model-package-group/NAME",
     offsetof(gg_job_plan, checkpoint_group), true},
    {"mlflow", "the MLflow app (CreateJob wants one)",
     "arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:" ACCOUNT ":mlflow-(app|tracking-server)/[a-zA-Z0-9-]+",
     "arn:aws:sagemaker:REGION:ACCOUNT:mlflow-app/ID", offsetof(gg_job_plan, mlflow), true},
    {"start", "the model package to start from",
     "arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:" ACCOUNT ":model-package/" NAME "/[1-9][0-9]*",
     "arn:aws:sagemaker:REGION:ACCOUNT:model-package/GROUP/VERSION", offsetof(gg_job_plan, start),
     false},
};
#define PLACES (sizeof places / sizeof *places)

static const char *text_of(const gg_job_plan *plan, const struct place *place)
{
    return *(const char *const *)((const char *)plan + place->at);
}

static bool fits(const char *pattern, const char *text)
{
    gg_pattern *compiled = NULL;
    bool fine = gg_pattern_compile(pattern, &compiled, NULL) == GG_OK &&
                gg_pattern_is(compiled, text, strlen(text));
    gg_pattern_free(compiled);
    return fine;
}

/* The n-th part of an ARN; "" when it has none. */
static void part_of(const char *arn, int n, char out[PART_MAX])
{
    out[0] = '\0';
    while (n-- > 0 && arn) {
        arn = strchr(arn, ':');
        arn = arn ? arn + 1 : NULL;
    }
    size_t len = arn ? strcspn(arn, ":") : 0;
    if (len < PART_MAX) {
        memcpy(out, arn ? arn : "", len);
        out[len] = '\0';
    }
}

static void check_form(const struct place *place, const char *text, gg_findings *out)
{
    if (!text && place->needed)
        gg_findings_add(out, place->check, GG_FAULT, "%s is not told; give %s", place->what,
                        place->wanted);
    else if (text && !fits(place->pattern, text))
        gg_findings_add(out, place->check, GG_FAULT, "%s is %.120s, but has to be %s", place->what,
                        text, place->wanted);
    else if (text)
        gg_findings_add(out, place->check, GG_HOLDS, "%s is %.200s", place->what, text);
}

/* The service calls nothing across regions, and nothing across accounts. */
static void check_region(const gg_job_plan *plan, const struct place *place, gg_findings *out)
{
    char region[PART_MAX], account[PART_MAX], own[PART_MAX];
    const char *text = text_of(plan, place);

    if (!text || strncmp(text, "arn:", 4) != 0)
        return;
    part_of(text, 3, region);
    part_of(text, 4, account);
    part_of(plan->role ? plan->role : "", 4, own);
    if (plan->region && region[0] && strcmp(region, plan->region) != 0)
        gg_findings_add(out, "region", GG_FAULT,
                        "%s is in %s and the job in %s; a job reaches nothing in another region",
                        place->what, region, plan->region);
    if (own[0] && account[0] && strcmp(account, own) != 0)
        gg_findings_add(out, "account", GG_FAULT,
                        "%s is of account %s and the role of account %s; both have to be yours",
                        place->what, account, own);
}

static const struct model *find_model(const char *id)
{
    for (size_t i = 0; id && i < MODELS; i++)
        if (strcmp(models[i].id, id) == 0)
            return &models[i];
    return NULL;
}

static void check_model(const gg_job_plan *plan, gg_findings *out)
{
    const char *names[MODELS];
    const struct model *model = find_model(plan->base_model);

    for (size_t i = 0; i < MODELS; i++)
        names[i] = models[i].id;
    const char *near = plan->base_model ? gg_near_miss(plan->base_model, names, MODELS) : NULL;
    if (!model) {
        gg_findings_add(out, "model", GG_FAULT,
                        "no base model %.80s is known for these jobs (as of " GG_MODELS_DATE
                        "); %s%s",
                        plan->base_model ? plan->base_model : "(none)",
                        near ? "did you mean "
                             : "there are nova, gpt-oss, gemma and qwen: see "
                               "docs/aws.md",
                        near ? near : "");
        return;
    }
    for (size_t i = 0; plan->region && i < 3 && model->regions[i]; i++)
        if (strcmp(model->regions[i], plan->region) == 0) {
            gg_findings_add(out, "model", GG_HOLDS, "%s is trained in %s", model->id, plan->region);
            return;
        }
    gg_findings_add(out, "model", GG_FAULT, "%s is not trained in %s, but in %s%s%s", model->id,
                    plan->region ? plan->region : "(no region told)", model->regions[0],
                    model->regions[1] ? " and " : "", model->regions[1] ? model->regions[1] : "");
}

static void check_groups(const gg_job_plan *plan, gg_findings *out)
{
    if (plan->package_group && plan->checkpoint_group &&
        strcmp(plan->package_group, plan->checkpoint_group) == 0)
        gg_findings_add(out, "checkpoint-group", GG_FAULT,
                        "adapters and checkpoints are to go to one package group; the service "
                        "wants two");
}

static void check_sequence(const gg_preflight *p, gg_findings *out)
{
    const struct model *model = find_model(p->plan->base_model);
    double reply = gg_plan_number(p->plan, "sampling_max_tokens", 4096);
    double most = p->max_turns * (reply + p->tool_tokens);

    if (!model || p->max_turns <= 0)
        return;
    if (p->measured.plays && p->measured.longest > model->longest)
        gg_findings_add(out, "sequence", GG_FAULT,
                        "a play at home had %.0f tokens; %s takes %.0f: fewer turns, or shorter "
                        "replies",
                        p->measured.longest, model->id, model->longest);
    else if (most > model->longest)
        gg_findings_add(out, "sequence", GG_DOUBT,
                        "%d turns of %.0f tokens and their tool results could fill %.0f tokens, %s "
                        "takes %.0f: lower --max-tokens to %.0f",
                        p->max_turns, reply, most, model->id, model->longest,
                        model->longest / p->max_turns - p->tool_tokens);
    else
        gg_findings_add(out, "sequence", GG_HOLDS, "the longest play fits: %.0f of %.0f tokens",
                        most, model->longest);
}

void gg_check_places(const gg_preflight *p, gg_findings *out)
{
    for (size_t i = 0; i < PLACES; i++) {
        check_form(&places[i], text_of(p->plan, &places[i]), out);
        check_region(p->plan, &places[i], out);
    }
    check_groups(p->plan, out);
    check_model(p->plan, out);
    check_sequence(p, out);
}
