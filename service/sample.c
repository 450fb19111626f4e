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

/* The body's top-level members that matter here; "" where one is absent or no text. */
typedef struct glance {
    char model[MODEL_MAX + 1];
    bool stream_said;
    const char *members; /* just behind the opening brace; NULL when the body is no object */
} glance;

static void copy_text(gg_json_name raw, char *out, size_t room)
{
    bool text = raw.len >= 2 && raw.bytes[0] == '"' && raw.len - 2 < room;
    size_t len = text ? raw.len - 2 : 0;
    if (len)
        memcpy(out, raw.bytes + 1, len);
    out[len] = '\0';
}

static void look(const gg_exchange_request *http, glance *out)
{
    gg_json_reader r = gg_json_reader_make(http->body, http->body_len);
    gg_json_name name, raw;
    *out = (glance){0};
    if (!gg_read_object(&r))
        return;
    out->members = r.at;
    while (gg_read_name(&r, &name) && gg_read_raw(&r, &raw)) {
        if (gg_name_is(name, "model"))
            copy_text(raw, out->model, sizeof out->model);
        else if (gg_name_is(name, "stream"))
            out->stream_said = true;
    }
}

/* The header wins over the body; NULL = what is bound. */
static const char *wanted_model(const gg_request *request, const glance *body)
{
    const char *header = gg_exchange_header(request->exchange, MODEL_HEADER);
    const char *model = header && *header ? header : body->model;
    return *model && strcmp(model, DEFAULT_NAME) != 0 ? model : NULL;
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
    gg_exchange_reply(request->exchange, reply.status, reply.content_type, NULL,
                      gg_buf_cstr(&reply.body), reply.body.len);
    gg_chat_reply_free(&reply);
    gg_version_release(version);
}

/* ---- the managed pass-through ---- */

static gg_version *pass_version(gg_request *request, gg_hosted *session, const glance *body,
                                bool *answered)
{
    gg_error error = {0};
    gg_version *version = NULL;
    gg_hosted_answer said =
        gg_hosted_weights(session, wanted_model(request, body), &version, &error);
    *answered = said != GG_ANSWER_OK;
    if (*answered)
        gg_refuse_answer(request, said, error.text);
    return version;
}

void gg_sample_pass(gg_request *request)
{
    glance body;
    bool answered;
    gg_hosted *session = gg_request_session(request);
    if (!session)
        return;
    look(request->http, &body);
    gg_version *version = pass_version(request, session, &body, &answered);
    if (!answered)
        answer(request, session, version, request->http->body, request->http->body_len);
    gg_hosted_release(session);
}

/* The stream is what this operation is for: a body that does not say so is completed. */
static void stream_body(const gg_exchange_request *http, const glance *body, gg_buf *out)
{
    gg_buf_init(out, http->body_len + 32);
    if (!body->members || body->stream_said) {
        gg_buf_add(out, http->body, http->body_len);
        return;
    }
    const char *end = http->body + http->body_len;
    const char *rest = body->members + strspn(body->members, " \t\r\n");
    gg_buf_str(out, "{\"stream\":true");
    if (rest < end && *rest != '}')
        gg_buf_char(out, ',');
    gg_buf_add(out, rest, (size_t)(end - rest));
}

void gg_sample_stream(gg_request *request)
{
    glance body;
    gg_buf text;
    bool answered;
    gg_hosted *session = gg_request_session(request);
    if (!session)
        return;
    look(request->http, &body);
    gg_version *version = pass_version(request, session, &body, &answered);
    if (!answered) {
        stream_body(request->http, &body, &text);
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
    glance body;
    gg_error error = {0};
    gg_version *version = NULL;
    gg_hosted *session = openai_session(request);
    if (!session)
        return;
    look(request->http, &body);
    switch (gg_hosted_weights(session, wanted_model(request, &body), &version, &error)) {
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
