/* Role documents, read as files: who may take the role, and what it may do. Conditions are not
 * weighed; a condition that excludes the job is found only by the job. */
#include <string.h>

#include "core/json.h"
#include "train/preflight.h"

#define MISSING_MAX 4096

/* What a job's role needs for what (the service's managed policy). */
static const struct need {
    const char *action;
    const char *agent; /* only where the agent's ARN has this part; NULL = always */
} job_needs[] = {
    {"s3:GetObject", NULL},
    {"s3:PutObject", NULL},
    {"s3:ListBucket", NULL},
    {"sagemaker:DescribeHubContent", NULL},
    {"sagemaker:AccessModelPackage", NULL},
    {"sagemaker:CreateModelPackage", NULL},
    {"sagemaker:DescribeModelPackage", NULL},
    {"sagemaker:DescribeModelPackageGroup", NULL},
    {"sagemaker:DescribeMlflowApp", NULL},
    {"sagemaker:CallMlflowAppApi", NULL},
    {"sagemaker-mlflow:CreateExperiment", NULL},
    {"sagemaker-mlflow:CreateRun", NULL},
    {"sagemaker-mlflow:UpdateRun", NULL},
    {"sagemaker-mlflow:LogBatch", NULL},
    {"sagemaker-mlflow:GetExperimentByName", NULL},
    {"bedrock-agentcore:InvokeAgentRuntime", ":bedrock-agentcore:"},
    {"bedrock-agentcore:GetAgentRuntime", ":bedrock-agentcore:"},
    {"lambda:InvokeFunction", ":lambda:"},
    {"logs:CreateLogGroup", NULL},
    {"logs:CreateLogStream", NULL},
    {"logs:PutLogEvents", NULL},
};
/* What the agent's role needs. */
static const struct need agent_needs[] = {
    {"sagemaker:Sample", NULL},
    {"sagemaker:SampleWithResponseStream", NULL},
    {"sagemaker:CompleteRollout", NULL},
    {"sagemaker:UpdateReward", NULL},
    {"sagemaker:CallWithBearerToken", NULL},
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* IAM's wildcards: * any run of characters, ? any one. Names of actions have no case. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;

    while (*text) {
        char p = *pattern;
        if (p == '*') {
            star = pattern++;
            from = text;
        } else if (p == '?' || (p && strncasecmp(pattern, text, 1) == 0)) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

/* A text, or one of a list of texts. */
static bool holds(const cJSON *value, const char *text)
{
    const cJSON *item;

    if (cJSON_IsString(value))
        return matches(value->valuestring, text);
    cJSON_ArrayForEach(item, value)
    {
        if (cJSON_IsString(item) && matches(item->valuestring, text))
            return true;
    }
    return false;
}

/* Some statement of this effect names the action; `service` NULL = whoever. */
static bool has(const cJSON *document, const char *effect, const char *service, const char *action)
{
    const cJSON *list = gg_json_get(document, "Statement"), *one = list;
    const char *said;

    if (cJSON_IsArray(list))
        one = list->child;
    for (; one; one = one->next) {
        said = gg_json_text(one, "Effect");
        if (said && !strcmp(said, effect) && holds(gg_json_get(one, "Action"), action) &&
            (!service || holds(gg_json_path(one, "Principal.Service"), service)))
            return true;
        if (!cJSON_IsArray(list))
            break;
    }
    return false;
}

static cJSON *read_document(const char *check, const char *text, gg_findings *out)
{
    cJSON *document = NULL;
    gg_error error = {0};

    if (gg_json_parse(text, strlen(text), &document, &error) != GG_OK)
        gg_findings_add(out, check, GG_FAULT, "the document cannot be read: %s", error.text);
    else if (!gg_json_get(document, "Statement"))
        gg_findings_add(out, check, GG_FAULT, "the document has no Statement");
    else
        return document;
    cJSON_Delete(document);
    return NULL;
}

static void check_trust(const char *text, gg_findings *out)
{
    static const char service[] = "job.sagemaker.amazonaws.com";
    cJSON *document = read_document("trust", text, out);
    bool assume = has(document, "Allow", service, "sts:AssumeRole"),
         tag = has(document, "Allow", service, "sts:TagSession");

    if (!document)
        return;
    if (!assume && has(document, "Allow", "sagemaker.amazonaws.com", "sts:AssumeRole"))
        gg_findings_add(out, "trust", GG_FAULT,
                        "the role trusts sagemaker.amazonaws.com; these jobs come as %s", service);
    else if (!assume)
        gg_findings_add(out, "trust", GG_FAULT, "the role does not let %s assume it", service);
    if (assume && !tag)
        gg_findings_add(out, "trust-tags", GG_FAULT,
                        "the trust allows sts:AssumeRole but not sts:TagSession; %s needs both",
                        service);
    if (assume && tag)
        gg_findings_add(out, "trust", GG_HOLDS, "%s may assume the role and tag its session",
                        service);
    cJSON_Delete(document);
}

static void check_needs(const char *check, const char *who, const char *text, const char *agent,
                        const struct need *needs, size_t count, gg_findings *out)
{
    cJSON *document = read_document(check, text, out);
    gg_buf missing;

    if (!document)
        return;
    gg_buf_init(&missing, MISSING_MAX);
    for (size_t i = 0; i < count; i++) {
        bool wanted = !needs[i].agent || (agent && strstr(agent, needs[i].agent));
        if (wanted && (!has(document, "Allow", NULL, needs[i].action) ||
                       has(document, "Deny", NULL, needs[i].action)))
            gg_buf_printf(&missing, "%s%s", missing.len ? ", " : "", needs[i].action);
    }
    if (missing.len)
        gg_findings_add(out, check, GG_FAULT, "%s may not: %s", who, gg_buf_cstr(&missing));
    else
        gg_findings_add(out, check, GG_HOLDS, "%s may do what it needs", who);
    gg_buf_free(&missing);
    cJSON_Delete(document);
}

void gg_check_roles(const gg_preflight *p, gg_findings *out)
{
    if (p->trust)
        check_trust(p->trust, out);
    if (p->permissions)
        check_needs("permissions", "the job's role", p->permissions, p->plan->agent, job_needs,
                    COUNT(job_needs), out);
    if (p->agent_permissions)
        check_needs("agent-permissions", "the agent's role", p->agent_permissions, NULL,
                    agent_needs, COUNT(agent_needs), out);
    if (!p->trust || !p->permissions || !p->agent_permissions)
        gg_findings_add(out, "roles", GG_REMARK,
                        "not all documents were given: --trust, --permissions and "
                        "--agent-permissions take the roles' policies as files");
}
