/* A session's model: the managed pass-through and the OpenAI base URL. Both answer with
 * service/chat.h; they differ in how the service itself says no. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "service/chat.h"
#include "service/inside.h"

#define MODEL_HEADER  "X-Amzn-SageMaker-Model-Package"
#define DEFAULT_NAME  "default"
#define MODEL_MAX     GG_SERVICE_ARN_MAX
#define MODELS_LISTED 1000

/* The text of a body's `model`, "" where there is none. Nothing behind it is looked at. */
static void read_model(const gg_exchange_request *http, char model[MODEL_MAX + 1])
{
    gg_json_reader r = gg_json_reader_make(http->body, http->body_len);
    gg_json_name name, raw;
    *model = '\0';
    if (!gg_read_object(&r))
        return;
    while (gg_read_name(&r, &name) && gg_read_raw(&r, &raw)) {
        if (!gg_name_is(name, "model"))
            continue;
        if (*raw.bytes == '"' && raw.len - 2 <= MODEL_MAX) {
            memcpy(model, raw.bytes + 1, raw.len - 2);
            model[raw.len - 2] = '\0';
        }
        return;
    }
}

/* The header wins over the body; NULL = what is bound. `model` is storage. */
static const char *wanted_model(const gg_request *request, char model[MODEL_MAX + 1])
{
    const char *header = gg_exchange_header(request->exchange, MODEL_HEADER);
    if (!header || !*header)
        read_model(request->http, model);
    const char *wanted = header && *header ? header : model;
    return *wanted && strcmp(wanted, DEFAULT_NAME) != 0 ? wanted : NULL;
}

/* Answers with the weights; they and the reply are released. */
static void answer(gg_request *request, gg_hosted *session, gg_version *version, const char *body,
                   size_t len)
{
    const gg_hosted_options *made = gg_hosted_made_with(session);
    gg_chat_model model = {.policy = made->policy, .name = DEFAULT_NAME};
    gg_chat_reply reply;
    uint64_t seed = gg_derive_seed(request->service->seed, "unseeded",
                                   (int64_t)atomic_load(&request->service->requests));
    if (version) {
        const gg_adapter *adapter = gg_version_adapter(version);
        model.weights = &adapter->weights;
        model.scale = gg_adapter_scale(adapter->rank, adapter->alpha);
        model.name = gg_version_arn(version);
    }
    gg_chat_reply_init(&reply);
    gg_chat_answer(&model, body, len, seed, &reply);
    gg_hosted_count(session, reply.prompt_tokens, reply.completion_tokens);
    size_t reply_len = reply.body.len;
    char *text = gg_buf_take(&reply.body);
    gg_exchange_reply_take(request->exchange, reply.status, reply.content_type, NULL, text,
                           text ? reply_len : 0);
    gg_chat_reply_free(&reply);
    gg_version_release(version);
}

/* ---- the managed pass-through ---- */

/* Whether the request is to be answered, and with which weights. */
static bool pass_version(gg_request *request, gg_hosted *session, gg_version **version)
{
    gg_error error = {0};
    char model[MODEL_MAX + 1];
    *version = NULL;
    gg_hosted_answer said =
        gg_hosted_weights(session, wanted_model(request, model), version, &error);
    if (said != GG_ANSWER_OK)
        gg_refuse_answer(request, said, error.text);
    return said == GG_ANSWER_OK;
}

void gg_sample_pass(gg_request *request)
{
    gg_version *version;
    gg_hosted *session = gg_request_session(request);
    if (!session)
        return;
    if (pass_version(request, session, &version))
        answer(request, session, version, request->http->body, request->http->body_len);
    gg_hosted_release(session);
}

/* Where a body says nothing of `stream`: just behind its opening brace. NULL where it does, or
 * where it is no object. */
static const char *stream_place(const gg_exchange_request *http)
{
    gg_json_reader r = gg_json_reader_make(http->body, http->body_len);
    gg_json_name name;
    if (!gg_read_object(&r))
        return NULL;
    const char *place = r.at;
    while (gg_read_name(&r, &name) && gg_read_skip(&r))
        if (gg_name_is(name, "stream"))
            return NULL;
    return place;
}

/* The stream is what this operation is for: a body that does not say so is completed. */
void gg_stream_body(const gg_exchange_request *http, gg_buf *out)
{
    const char *place = stream_place(http), *end = http->body + http->body_len;
    gg_buf_init(out, http->body_len + 32);
    if (!place) {
        gg_buf_add(out, http->body, http->body_len);
        return;
    }
    place += strspn(place, " \t\r\n");
    gg_buf_str(out, "{\"stream\":true");
    if (place < end && *place != '}')
        gg_buf_char(out, ',');
    gg_buf_add(out, place, (size_t)(end - place));
}

void gg_sample_stream(gg_request *request)
{
    gg_buf text;
    gg_version *version;
    gg_hosted *session = gg_request_session(request);
    if (!session)
        return;
    if (pass_version(request, session, &version)) {
        gg_stream_body(request->http, &text);
        answer(request, session, version, gg_buf_cstr(&text), text.len);
        gg_buf_free(&text);
    }
    gg_hosted_release(session);
}

/* ---- the OpenAI base URL ---- */

static void refuse_openai(gg_request *request, int status, const char *param, const char *code,
                          const char *message)
{
    gg_chat_reply reply;
    gg_chat_reply_init(&reply);
    gg_chat_refuse(&reply, status, status < 500 ? "invalid_request_error" : "server_error", param,
                   code, message);
    gg_exchange_reply(request->exchange, status, reply.content_type, NULL, gg_buf_cstr(&reply.body),
                      reply.body.len);
    gg_chat_reply_free(&reply);
}

static gg_hosted *openai_session(gg_request *request)
{
    char message[128];
    gg_hosted *session = gg_registry_find(request->service->sessions, request->name);
    if (session)
        return session;
    snprintf(message, sizeof message, "there is no training session %s", request->name);
    refuse_openai(request, 404, NULL, "session_not_found", message);
    return NULL;
}

void gg_openai_chat(gg_request *request)
{
    char model[MODEL_MAX + 1];
    gg_error error = {0};
    gg_version *version = NULL;
    gg_hosted *session = openai_session(request);
    if (!session)
        return;
    switch (gg_hosted_weights(session, wanted_model(request, model), &version, &error)) {
    case GG_ANSWER_OK:
        answer(request, session, version, request->http->body, request->http->body_len);
        break;
    case GG_ANSWER_UNKNOWN:
        refuse_openai(request, 404, "model", "model_not_found", error.text);
        break;
    case GG_ANSWER_CONFLICT:
        refuse_openai(request, 409, NULL, "session_not_running", error.text);
        break;
    default:
        refuse_openai(request, 500, NULL, NULL, error.text);
    }
    gg_hosted_release(session);
}

typedef struct listing {
    char *names[MODELS_LISTED];
    size_t count;
} listing;

static bool list_one(void *context, const gg_package_info *info)
{
    listing *list = context;
    char *name = list->count < MODELS_LISTED ? strdup(info->arn) : NULL;
    if (!name)
        return false;
    list->names[list->count++] = name;
    return true;
}

void gg_openai_models(gg_request *request)
{
    gg_buf out;
    gg_hosted *session = openai_session(request);
    if (!session)
        return;
    listing *list = calloc(1, sizeof *list);
    char *first = strdup(DEFAULT_NAME);
    if (list && first) {
        list->names[list->count++] = first;
        gg_packages_each(request->service->packages, gg_hosted_made_with(session)->group, list_one,
                         list);
        gg_buf_init(&out, GG_CHAT_REPLY_MAX);
        gg_chat_models((const char *const *)list->names, list->count, &out);
        gg_exchange_reply_json(request->exchange, 200, gg_buf_cstr(&out));
        gg_buf_free(&out);
    } else {
        free(first);
        refuse_openai(request, 500, NULL, NULL, "out of memory for the list of models");
    }
    for (size_t i = 0; list && i < list->count; i++)
        free(list->names[i]);
    free(list);
    gg_hosted_release(session);
}
