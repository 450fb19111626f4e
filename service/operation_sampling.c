/* Sampling operations. */
#include "service/operation.h"

#include <stdlib.h>
#include <string.h>

#include "service/names.h"

#define SEED_MAX  9007199254740991.0 /* 2^53 - 1: beyond it JSON numbers are not exact */
#define TOKEN_MAX 2147483647.0

typedef struct reading {
    gg_op_request *out;
    gg_error *error;
} reading;

static gg_status refuse(reading *x, const char *sentence)
{
    return gg_fail(x->error, GG_E_ARGUMENT, "%s", sentence);
}

/* Refuses members that are not in the list. */
static gg_status only(reading *x, const cJSON *object, const char *where, const char *const *names)
{
    const cJSON *item;
    if (!cJSON_IsObject(object))
        return gg_fail(x->error, GG_E_ARGUMENT, "%s must be an object", where);
    cJSON_ArrayForEach(item, object)
    {
        size_t i = 0;
        while (names[i] && strcmp(names[i], item->string) != 0)
            i++;
        if (!names[i])
            return gg_fail(x->error, GG_E_ARGUMENT, "%s has no member \"%.64s\"", where,
                           item->string);
    }
    return GG_OK;
}

typedef struct range {
    const char *name;
    double low, high;
    bool whole, required;
} range;

/* Leaves *out alone when the number is absent. */
static gg_status number(reading *x, const cJSON *object, const range *r, double *out)
{
    const cJSON *item = gg_json_get(object, r->name);
    if (!item)
        return r->required ? gg_fail(x->error, GG_E_ARGUMENT, "%s is missing", r->name) : GG_OK;
    double value = cJSON_IsNumber(item) ? item->valuedouble : r->low - 1;
    if (!(value >= r->low && value <= r->high) || (r->whole && value != (double)(int64_t)value))
        return gg_fail(x->error, GG_E_ARGUMENT, "%s must be a%s number from %.17g to %.17g",
                       r->name, r->whole ? " whole" : "", r->low, r->high);
    *out = value;
    return GG_OK;
}

static gg_status read_chunk(reading *x, const cJSON *chunk)
{
    static const char *const members[] = {"tokens", "type", NULL};
    const cJSON *tokens = gg_json_get(chunk, "tokens"), *token;
    const char *type = gg_json_text(chunk, "type");
    gg_status status = only(x, chunk, "a chunk", members);
    if (status != GG_OK)
        return status;
    if (!cJSON_IsArray(tokens) || !type || strcmp(type, "encoded_text") != 0)
        return refuse(x, "a chunk needs tokens and the type encoded_text");
    size_t more = (size_t)cJSON_GetArraySize(tokens);
    int32_t *prompt = realloc(x->out->prompt, (x->out->prompt_count + more + 1) * sizeof *prompt);
    if (!prompt)
        return gg_fail(x->error, GG_E_MEMORY, "out of memory for a prompt");
    x->out->prompt = prompt;
    cJSON_ArrayForEach(token, tokens)
    {
        double id = cJSON_IsNumber(token) ? token->valuedouble : -1;
        if (!(id >= 0 && id <= TOKEN_MAX) || id != (double)(int32_t)id)
            return refuse(x, "tokens of a chunk must be an array of token ids");
        prompt[x->out->prompt_count++] = (int32_t)id;
    }
    return GG_OK;
}

static gg_status read_prompt(reading *x, const cJSON *operation)
{
    static const char *const members[] = {"chunks", NULL};
    const cJSON *prompt = gg_json_get(operation, "prompt"), *chunk;
    const cJSON *chunks = gg_json_get(prompt, "chunks");
    gg_status status = only(x, prompt, "prompt", members);
    if (status == GG_OK && !cJSON_IsArray(chunks))
        status = refuse(x, "prompt needs chunks, an array");
    cJSON_ArrayForEach(chunk, chunks) if (status == GG_OK) status = read_chunk(x, chunk);
    if (status == GG_OK && x->out->prompt_count == 0)
        status = refuse(x, "prompt needs at least one token");
    return status;
}

static gg_status read_package(reading *x, const cJSON *operation, bool required)
{
    const cJSON *arn = gg_json_get(operation, "modelPackageArn");
    if (!arn && !required)
        return GG_OK;
    if (!cJSON_IsString(arn) || !gg_text_is(arn->valuestring, GG_TEXT_PACKAGE_ARN))
        return refuse(x, "modelPackageArn must be the ARN of a model package version");
    x->out->package = strdup(arn->valuestring);
    return x->out->package ? GG_OK : gg_fail(x->error, GG_E_MEMORY, "out of memory for an ARN");
}

static gg_status read_stops(reading *x, const cJSON *params)
{
    const cJSON *stops = gg_json_get(params, "stop"), *stop;
    if (!stops)
        return GG_OK;
    if (!cJSON_IsArray(stops) || cJSON_GetArraySize(stops) > GG_STOPS_MAX)
        return refuse(x, "stop must be an array of at most 16 texts");
    cJSON_ArrayForEach(stop, stops)
    {
        if (!cJSON_IsString(stop) || !stop->valuestring[0])
            return refuse(x, "stop must be an array of texts, none of them empty");
        char *copy = strdup(stop->valuestring);
        if (!copy)
            return gg_fail(x->error, GG_E_MEMORY, "out of memory for a stop text");
        x->out->stops[x->out->stop_count++] = copy;
    }
    return GG_OK;
}

static gg_status read_params(reading *x, const cJSON *params)
{
    static const char *const members[] = {"maxTokens", "temperature", "topP", "topK",
                                          "seed",      "stop",        NULL};
    static const range ranges[] = {
        {"maxTokens", GG_SAMPLE_TOKENS_MIN, GG_SAMPLE_TOKENS_MAX, true, true},
        {"temperature", 0, 2, false, false},
        {"topP", 0, 1, false, false},
        {"topK", -1, TOKEN_MAX, true, false},
        {"seed", 0, SEED_MAX, true, false},
    };
    double max_tokens = 0, top_k = -1, seed = 0;
    double *const into[] = {&max_tokens, &x->out->temperature, &x->out->top_p, &top_k, &seed};
    gg_status status = only(x, params, "samplingParams", members);
    x->out->temperature = x->out->top_p = 1;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && status == GG_OK; i++)
        status = number(x, params, &ranges[i], into[i]);
    if (status == GG_OK && top_k > 0)
        status = refuse(x, "topK is not supported by an embedded policy; leave it out or send -1");
    x->out->max_tokens = (int64_t)max_tokens;
    x->out->seeded = gg_json_get(params, "seed") != NULL;
    x->out->seed = (uint64_t)seed;
    return status == GG_OK ? read_stops(x, params) : status;
}

static gg_status read_sample(reading *x, const cJSON *operation)
{
    static const char *const members[] = {"prompt",
                                          "numSamples",
                                          "samplingParams",
                                          "includePromptLogprobs",
                                          "modelPackageArn",
                                          "topkPromptLogprobs",
                                          NULL};
    static const range samples = {"numSamples", 1, GG_SAMPLES_MAX, true, true};
    static const range top = {"topkPromptLogprobs", 0, TOKEN_MAX, true, false};
    double count = 0, topk = 0;
    const cJSON *include = gg_json_get(operation, "includePromptLogprobs");
    gg_status status = only(x, operation, "sample", members);
    if (status == GG_OK)
        status = number(x, operation, &samples, &count);
    if (status == GG_OK)
        status = number(x, operation, &top, &topk);
    if (status == GG_OK && topk > 0)
        status = refuse(x, "topkPromptLogprobs is not supported by an embedded policy; leave it "
                           "out");
    if (status == GG_OK && include && !cJSON_IsBool(include))
        status = refuse(x, "includePromptLogprobs must be true or false");
    x->out->samples = (int64_t)count;
    x->out->prompt_logprobs = cJSON_IsTrue(include);
    if (status == GG_OK)
        status = read_prompt(x, operation);
    if (status == GG_OK)
        status = read_params(x, gg_json_get(operation, "samplingParams"));
    return status == GG_OK ? read_package(x, operation, false) : status;
}

static gg_status read_logprobs(reading *x, const cJSON *operation)
{
    static const char *const members[] = {"prompt", "modelPackageArn", NULL};
    gg_status status = only(x, operation, "computeLogprobs", members);
    if (status == GG_OK)
        status = read_prompt(x, operation);
    return status == GG_OK ? read_package(x, operation, false) : status;
}

static gg_status read_bind(reading *x, const cJSON *operation)
{
    static const char *const members[] = {"modelPackageArn", NULL};
    gg_status status = only(x, operation, "loadWeightsForSampling", members);
    return status == GG_OK ? read_package(x, operation, true) : status;
}

static const struct {
    gg_op_kind kind;
    gg_status (*read)(reading *, const cJSON *);
} readers[] = {
    {GG_OP_SAMPLE, read_sample},
    {GG_OP_COMPUTE_LOGPROBS, read_logprobs},
    {GG_OP_LOAD_FOR_SAMPLING, read_bind},
};

static gg_status read_body(reading *x, const cJSON *root)
{
    static const char *const members[] = {"operationConfig", NULL};
    static const char *const kinds[] = {"sample", "computeLogprobs", "loadWeightsForSampling",
                                        NULL};
    const cJSON *config = gg_json_get(root, "operationConfig"), *item, *found = NULL;
    gg_status status = only(x, root, "the body", members);
    if (status == GG_OK)
        status = only(x, config, "operationConfig of a sampling operation", kinds);
    size_t count = 0;
    cJSON_ArrayForEach(item, config) if (!cJSON_IsNull(item))
    {
        found = item;
        count++;
    }
    if (status == GG_OK && count != 1)
        status = refuse(x, "operationConfig needs exactly one member");
    for (size_t i = 0; status == GG_OK && i < sizeof readers / sizeof *readers; i++)
        if (strcmp(gg_op_kind_name(readers[i].kind), found->string) == 0) {
            x->out->kind = readers[i].kind;
            return readers[i].read(x, found);
        }
    return status;
}

gg_status gg_op_read_sampling(const char *body, size_t len, gg_op_request *out, gg_error *error)
{
    cJSON *root;
    reading x = {out, error};
    *out = (gg_op_request){.bytes = len};
    gg_status status = gg_json_parse(body, len, &root, error);
    if (status != GG_OK)
        return status == GG_E_MEMORY ? status
                                     : gg_fail(error, GG_E_ARGUMENT, "the body is not valid JSON");
    status = read_body(&x, root);
    cJSON_Delete(root);
    if (status != GG_OK)
        gg_op_request_free(out);
    return status;
}
