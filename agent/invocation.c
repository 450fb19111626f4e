#include "agent/invocation.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

#define REGION_MAX      32
#define ENDPOINT_MAX    2048
#define TEMPERATURE_MAX 100
#define NAMES_MAX       5

typedef const char *const names[NAMES_MAX]; /* NULL-terminated */

static gg_status wrong(gg_error *error, const char *name, const char *what)
{
    return gg_fail(error, GG_E_FORMAT, "%s %s", name, what);
}

static gg_status no_memory(gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory for an invocation");
}

/* The first of the spellings that is there and not null. */
static const cJSON *any(const cJSON *object, names spellings)
{
    for (size_t i = 0; i < NAMES_MAX && spellings[i]; i++) {
        const cJSON *value = gg_json_get(object, spellings[i]);
        if (value)
            return value;
    }
    return NULL;
}

static const cJSON *in_either(const cJSON *first, const cJSON *second, names spellings)
{
    const cJSON *value = any(first, spellings);
    return value ? value : any(second, spellings);
}

/* A string that can stand in a header line; *out NULL when it is absent. */
static gg_status take_text(const cJSON *value, const char *name, size_t most, char **out,
                           gg_error *error)
{
    const char *text = cJSON_GetStringValue(value);
    *out = NULL;
    if (!value)
        return GG_OK;
    if (!text)
        return wrong(error, name, "is not a string");
    size_t len = strlen(text);
    if (len > most)
        return gg_fail(error, GG_E_FORMAT, "%s is longer than %zu bytes", name, most);
    for (size_t i = 0; i < len; i++)
        if (!isgraph((unsigned char)text[i]))
            return wrong(error, name, "holds a blank or a control character");
    if (!len)
        return GG_OK;
    *out = strdup(text);
    return *out ? GG_OK : no_memory(error);
}

static gg_status take_number(const cJSON *value, const char *name, double low, double high,
                             bool whole, double *out, gg_error *error)
{
    if (!value)
        return GG_OK;
    if (!cJSON_IsNumber(value))
        return wrong(error, name, "is not a number");
    double number = value->valuedouble;
    if (!(number >= low && number <= high) || (whole && number != floor(number)))
        return gg_fail(error, GG_E_FORMAT, "%s must be %s from %g to %g", name,
                       whole ? "a whole number" : "a number", low, high);
    *out = number;
    return GG_OK;
}

static gg_status take_prompt(const cJSON *root, gg_invocation *out, gg_error *error)
{
    static names spellings = {"prompt", "instance"};
    const cJSON *value = any(root, spellings);
    const cJSON *inner = cJSON_IsObject(value) ? gg_json_get(value, "prompt") : NULL;
    if (cJSON_IsString(inner))
        value = inner;
    if (!value)
        return wrong(error, "prompt", "is missing");
    const char *text = cJSON_GetStringValue(value);
    if (text && !*text)
        return wrong(error, "prompt", "is empty");
    if (text) {
        out->prompt = strdup(text);
    } else if (cJSON_IsObject(value)) {
        gg_buf json;
        gg_buf_init(&json, GG_HISTORY_MAX);
        gg_buf_cjson(&json, value);
        out->prompt = gg_buf_take(&json);
    } else {
        return wrong(error, "prompt", "is neither a string nor an object");
    }
    return out->prompt ? GG_OK : no_memory(error);
}

static gg_status take_metadata(const cJSON *root, gg_invocation *out, gg_error *error)
{
    static names arn = {"jobArn", "job_arn"};
    static names id = {"rolloutId", "rollout_id", "trajectoryId", "trajectory_id"};
    static names endpoint = {"endpoint", "model_endpoint", "modelEndpoint"};
    static names region = {"region"};
    const cJSON *metadata = gg_json_get(root, "metadata");
    if (metadata && !cJSON_IsObject(metadata))
        return wrong(error, "metadata", "is not an object");
    gg_status status = take_text(in_either(metadata, root, arn), "metadata.jobArn",
                                 GG_INVOCATION_NAME_MAX, &out->job_arn, error);
    if (status == GG_OK)
        status = take_text(in_either(metadata, root, id), "metadata.rolloutId",
                           GG_INVOCATION_NAME_MAX, &out->rollout_id, error);
    if (status == GG_OK)
        status = take_text(in_either(metadata, root, endpoint), "metadata.endpoint", ENDPOINT_MAX,
                           &out->endpoint, error);
    if (status == GG_OK)
        status = take_text(in_either(metadata, root, region), "metadata.region", REGION_MAX,
                           &out->region, error);
    if (status != GG_OK)
        return status;
    if (!out->job_arn)
        return wrong(error, "metadata.jobArn", "is missing");
    if (!out->rollout_id)
        return wrong(error, "metadata.rolloutId", "is missing");
    if (out->region && !gg_region_valid(out->region))
        return wrong(error, "metadata.region", "is no region's name");
    return GG_OK;
}

static gg_status take_params(const cJSON *root, gg_invocation *out, gg_error *error)
{
    static names params = {"inferenceParams", "inference_params"};
    static names temperature = {"temperature"}, top_p = {"topP", "top_p"};
    static names max_tokens = {"maxTokens", "max_tokens"};
    const cJSON *object = any(root, params);
    double tokens = -1;
    if (object && !cJSON_IsObject(object))
        return wrong(error, "inferenceParams", "is not an object");
    gg_status status = take_number(any(object, temperature), "inferenceParams.temperature", 0,
                                   TEMPERATURE_MAX, false, &out->temperature, error);
    if (status == GG_OK)
        status = take_number(any(object, top_p), "inferenceParams.topP", 1e-9, 1, false,
                             &out->top_p, error);
    if (status == GG_OK)
        status = take_number(any(object, max_tokens), "inferenceParams.maxTokens", 1, 1e9, true,
                             &tokens, error);
    out->max_tokens = (int64_t)tokens;
    return status;
}

static gg_status take_all(const cJSON *root, gg_invocation *out, gg_error *error)
{
    if (!cJSON_IsObject(root))
        return wrong(error, "the body", "is not a JSON object");
    gg_status status = take_prompt(root, out, error);
    if (status == GG_OK)
        status = take_metadata(root, out, error);
    return status == GG_OK ? take_params(root, out, error) : status;
}

gg_status gg_invocation_read(const char *body, size_t len, gg_invocation *out, gg_error *error)
{
    cJSON *root = NULL, *inner = NULL;
    *out = (gg_invocation){.temperature = (double)NAN, .top_p = (double)NAN, .max_tokens = -1};
    gg_status status = gg_json_parse(body, len, &root, error);
    if (status != GG_OK)
        return status == GG_E_MEMORY ? status : gg_fail(error, GG_E_FORMAT, "the body is not JSON");
    const char *wrapped = gg_json_text(root, "body");
    if (wrapped && !gg_json_get(root, "prompt")) {
        status = gg_json_parse(wrapped, strlen(wrapped), &inner, error);
        if (status != GG_OK && status != GG_E_MEMORY)
            status = gg_fail(error, GG_E_FORMAT, "the event's body is not JSON");
    }
    if (status == GG_OK)
        status = take_all(inner ? inner : root, out, error);
    cJSON_Delete(inner);
    cJSON_Delete(root);
    return status;
}

void gg_invocation_free(gg_invocation *invocation)
{
    if (!invocation)
        return;
    free(invocation->prompt);
    free(invocation->job_arn);
    free(invocation->rollout_id);
    free(invocation->endpoint);
    free(invocation->region);
    *invocation = (gg_invocation){.prompt = NULL};
}

bool gg_region_valid(const char *region)
{
    size_t len = strlen(region);
    return len > 0 && len <= REGION_MAX &&
           strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}
