#include "service/chat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/rng.h"

/* What a request asks for, checked. */
typedef struct ask {
    gg_policy_request policy;
    int64_t choices;
    bool stream, stream_usage, logprobs, token_ids, seeded;
} ask;

void gg_chat_reply_init(gg_chat_reply *reply)
{
    *reply = (gg_chat_reply){.status = 200, .content_type = "application/json"};
    gg_buf_init(&reply->body, GG_CHAT_REPLY_MAX);
}

void gg_chat_reply_free(gg_chat_reply *reply)
{
    gg_buf_free(&reply->body);
}

void gg_chat_refuse(gg_chat_reply *reply, int status, const char *type, const char *param,
                    const char *code, const char *message)
{
    gg_buf *out = &reply->body;
    reply->status = status;
    reply->content_type = "application/json";
    reply->prompt_tokens = reply->completion_tokens = 0;
    gg_buf_reset(out);
    gg_buf_str(out, "{\"error\":{\"message\":");
    gg_buf_json_str(out, message);
    gg_buf_str(out, ",\"type\":");
    gg_buf_json_str(out, type);
    gg_buf_str(out, ",\"param\":");
    gg_buf_json_str(out, param);
    gg_buf_str(out, ",\"code\":");
    gg_buf_json_str(out, code);
    gg_buf_str(out, "}}");
}

static bool refuse_param(gg_chat_reply *reply, const char *param, const char *code,
                         const char *message)
{
    gg_chat_refuse(reply, 400, "invalid_request_error", param, code, message);
    return false;
}

/* Parameters that would change the answer and that no embedded policy honours. */
static bool check_unsupported(const cJSON *root, gg_chat_reply *reply)
{
    static const char *const names[] = {
        "stop",      "response_format", "logit_bias", "frequency_penalty", "presence_penalty",
        "functions", "function_call",   "top_k"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const cJSON *value = gg_json_get(root, names[i]);
        char text[128];
        bool neutral = !value || (cJSON_IsNumber(value) && value->valuedouble == 0) ||
                       (cJSON_IsArray(value) && !value->child) ||
                       (cJSON_IsObject(value) && !value->child);
        const char *kind = gg_json_text(value, "type");
        if (neutral || (kind && !strcmp(kind, "text")))
            continue;
        snprintf(text, sizeof text, "this embedded policy does not support '%s'; leave it out",
                 names[i]);
        return refuse_param(reply, names[i], "unsupported_parameter", text);
    }
    return true;
}

typedef struct number_rule {
    const char *name;
    double low, high;
    bool whole;
} number_rule;

/* Reads a number within its range; absent leaves *out as it is. */
static bool read_number(const cJSON *root, const number_rule *rule, double *out,
                        gg_chat_reply *reply)
{
    const cJSON *value = gg_json_get(root, rule->name);
    char text[128];
    if (!value)
        return true;
    double x = cJSON_IsNumber(value) ? value->valuedouble : rule->low - 1;
    if (x >= rule->low && x <= rule->high && (!rule->whole || x == (double)(int64_t)x)) {
        *out = x;
        return true;
    }
    snprintf(text, sizeof text, "'%s' must be a%s number from %g to %g", rule->name,
             rule->whole ? " whole" : "", rule->low, rule->high);
    return refuse_param(reply, rule->name, "invalid_value", text);
}

static bool read_numbers(const cJSON *root, ask *a, gg_chat_reply *reply)
{
    static const double most =
        9007199254740991.0; /* 2^53 - 1: beyond it JSON numbers are not exact */
    double max_tokens = (double)a->policy.max_tokens, choices = 1, seed = 0, top = 0;
    const number_rule rules[] = {
        {"temperature", 0, 2, false},    {"top_p", 0, 1, false},
        {"max_tokens", 1, most, true},   {"max_completion_tokens", 1, most, true},
        {"n", 1, GG_CHAT_CHOICES, true}, {"seed", 0, most, true},
        {"top_logprobs", 0, 20, true},
    };
    double *const into[] = {
        &a->policy.temperature, &a->policy.top_p, &max_tokens, &max_tokens, &choices, &seed, &top};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!read_number(root, &rules[i], into[i], reply))
            return false;
    a->policy.max_tokens = (int64_t)max_tokens;
    a->choices = (int64_t)choices;
    a->seeded = gg_json_get(root, "seed") != NULL;
    if (a->seeded)
        a->policy.seed = (uint64_t)seed;
    if (top > 0)
        return refuse_param(
            reply, "top_logprobs", "unsupported_parameter",
            "only the sampled token's own logprob is given; leave 'top_logprobs' out or send 0");
    return true;
}

static bool read_effort(const cJSON *root, ask *a, gg_chat_reply *reply)
{
    gg_error error = {0};
    const char *name = gg_json_text(root, "reasoning_effort");
    if (!name)
        name = gg_json_text(gg_json_get(root, "reasoning"), "effort");
    if (!name)
        name = gg_json_text(gg_json_get(root, "chat_template_kwargs"), "reasoning_effort");
    if (gg_effort_parse(name, &a->policy.effort, &error) != GG_OK)
        return refuse_param(reply, "reasoning_effort", "invalid_value", error.text);
    return true;
}

static bool is_list(gg_json_name value)
{
    if (!value.bytes || *value.bytes != '[')
        return false;
    gg_json_reader r = gg_json_reader_make(value.bytes, value.len);
    return gg_read_array(&r) && gg_read_element(&r);
}

static bool read_messages(const cJSON *root, ask *a, gg_chat_reply *reply)
{
    const cJSON *choice = gg_json_get(root, "tool_choice");
    if (!is_list(a->policy.messages))
        return refuse_param(reply, "messages", "invalid_type",
                            "'messages' must be an array with at least one message");
    if (a->policy.tools.bytes && !is_list(a->policy.tools))
        return refuse_param(reply, "tools", "invalid_type",
                            "'tools' must be an array with at least one tool, or left out");
    if (cJSON_IsString(choice) && !strcmp(choice->valuestring, "none"))
        a->policy.tools = (gg_json_name){0};
    return true;
}

/* Takes a body apart. Messages and tools, nearly all of it, stay where they are; the rest becomes
 * a tree. */
static gg_status open_body(const char *body, size_t len, ask *a, cJSON **root, gg_error *error)
{
    gg_json_reader r = gg_json_reader_make(body, len);
    gg_json_name name, value;
    gg_buf rest;
    gg_buf_init(&rest, len + 2);
    gg_read_object(&r);
    while (gg_read_name(&r, &name) && gg_read_raw(&r, &value)) {
        bool messages = gg_name_is(name, "messages");
        if (*value.bytes == 'n')
            continue; /* null is as good as absent */
        if (messages || gg_name_is(name, "tools")) {
            *(messages ? &a->policy.messages : &a->policy.tools) = value;
            continue;
        }
        gg_buf_str(&rest, rest.len ? ",\"" : "{\"");
        gg_buf_add(&rest, name.bytes, name.len);
        gg_buf_str(&rest, "\":");
        gg_buf_add(&rest, value.bytes, value.len);
    }
    gg_buf_str(&rest, rest.len ? "}" : "{}");
    gg_status status = gg_buf_status(&rest, "a request", error);
    if (status == GG_OK && !gg_read_end(&r))
        status = gg_fail(error, GG_E_FORMAT, "not a JSON object; byte %zu of %zu is wrong",
                         (size_t)(r.at - body), len);
    if (status == GG_OK)
        status = gg_json_parse(rest.data, rest.len, root, error);
    gg_buf_free(&rest);
    return status;
}

static bool read_ask(const cJSON *root, ask *a, gg_chat_reply *reply)
{
    gg_json_bool(root, "stream", &a->stream);
    gg_json_bool(gg_json_get(root, "stream_options"), "include_usage", &a->stream_usage);
    gg_json_bool(root, "logprobs", &a->logprobs);
    gg_json_bool(root, "return_token_ids", &a->token_ids);
    return read_messages(root, a, reply) && check_unsupported(root, reply) &&
           read_numbers(root, a, reply) && read_effort(root, a, reply);
}

/* ---- writing ---- */

typedef struct writer {
    const gg_chat_model *model;
    const ask *ask;
    gg_buf *out;
    char id[40];
    int64_t created;
    gg_policy_reply *choices; /* ask->choices of them */
} writer;

static void write_head(const writer *w, const char *object)
{
    gg_buf *out = w->out;
    gg_buf_str(out, "{\"id\":\"");
    gg_buf_str(out, w->id);
    gg_buf_str(out, "\",\"object\":\"");
    gg_buf_str(out, object);
    gg_buf_str(out, "\",\"created\":");
    gg_buf_int(out, w->created);
    gg_buf_str(out, ",\"model\":");
    gg_buf_json_str(out, w->model->name);
    gg_buf_str(out, ",\"weight_version\":");
    gg_buf_int(out, w->model->weights ? w->model->weights->version : 0);
}

static void write_usage(const writer *w)
{
    int64_t prompt = (int64_t)w->choices[0].prompt_count, completion = 0, reasoning = 0;
    for (int64_t i = 0; i < w->ask->choices; i++) {
        completion += (int64_t)w->choices[i].count;
        reasoning += w->choices[i].reasoning_tokens;
    }
    gg_buf_str(w->out, "\"usage\":{\"prompt_tokens\":");
    gg_buf_int(w->out, prompt);
    gg_buf_str(w->out, ",\"completion_tokens\":");
    gg_buf_int(w->out, completion);
    gg_buf_str(w->out, ",\"total_tokens\":");
    gg_buf_int(w->out, prompt + completion);
    gg_buf_str(w->out, ",\"completion_tokens_details\":{\"reasoning_tokens\":");
    gg_buf_int(w->out, reasoning);
    gg_buf_str(w->out, "}}");
}

static void write_logprobs(const writer *w, const gg_policy_reply *choice)
{
    gg_buf token;
    gg_buf_str(w->out, "\"logprobs\":");
    if (!w->ask->logprobs || !choice->logprobs) {
        gg_buf_str(w->out, "null");
        return;
    }
    gg_buf_init(&token, GG_CHAT_REPLY_MAX);
    gg_buf_str(w->out, "{\"content\":[");
    for (size_t i = 0; i < choice->count; i++) {
        gg_buf_reset(&token);
        /* An id that has no text (a template marker) is shown empty; the id itself is in token_ids.
         */
        (void)gg_policy_detokenize(w->model->policy, &choice->ids[i], 1, &token, NULL);
        gg_buf_str(w->out, i ? ",{\"token\":" : "{\"token\":");
        gg_buf_json(w->out, gg_buf_cstr(&token), token.len);
        gg_buf_str(w->out, ",\"logprob\":");
        gg_buf_double(w->out, choice->logprobs[i]);
        gg_buf_str(w->out, ",\"bytes\":null,\"top_logprobs\":[]}");
    }
    gg_buf_str(w->out, "]}");
    gg_buf_free(&token);
}

static void write_token_ids(const writer *w, const gg_policy_reply *choice)
{
    gg_buf_str(w->out, ",\"token_ids\":");
    if (w->ask->token_ids)
        gg_buf_ints(w->out, choice->ids, choice->count);
    else
        gg_buf_str(w->out, "null");
}

static void write_prompt_ids(const writer *w)
{
    gg_buf_str(w->out, ",\"prompt_token_ids\":");
    if (w->ask->token_ids)
        gg_buf_ints(w->out, w->choices[0].prompt_ids, w->choices[0].prompt_count);
    else
        gg_buf_str(w->out, "null");
}

static void write_call(const writer *w, int64_t index, const gg_policy_call *call)
{
    gg_buf_str(w->out, w->ask->stream ? "\"tool_calls\":[{\"index\":0,\"id\":\"call-"
                                      : "\"tool_calls\":[{\"id\":\"call-");
    gg_buf_str(w->out, w->id + strlen("chatcmpl-"));
    gg_buf_char(w->out, '-');
    gg_buf_int(w->out, index);
    gg_buf_str(w->out, "\",\"type\":\"function\",\"function\":{\"name\":");
    gg_buf_json_str(w->out, call->name);
    gg_buf_str(w->out, ",\"arguments\":");
    gg_buf_json_str(w->out, call->arguments);
    gg_buf_str(w->out, "}}]");
}

static void write_text(gg_buf *out, const gg_buf *text)
{
    if (text->len)
        gg_buf_json(out, text->data, text->len);
    else
        gg_buf_str(out, "null");
}

static void write_choice(const writer *w, int64_t index)
{
    const gg_policy_reply *choice = &w->choices[index];
    gg_buf *out = w->out;
    gg_buf_str(out, index ? ",{\"index\":" : "{\"index\":");
    gg_buf_int(out, index);
    gg_buf_str(out, ",\"message\":{\"role\":\"assistant\",\"content\":");
    write_text(out, &choice->content);
    if (choice->reasoning.len) {
        gg_buf_str(out, ",\"reasoning\":");
        write_text(out, &choice->reasoning);
    }
    if (choice->call.name) {
        gg_buf_char(out, ',');
        write_call(w, index, &choice->call);
    }
    gg_buf_str(out, "},");
    write_logprobs(w, choice);
    write_token_ids(w, choice);
    gg_buf_str(out, ",\"finish_reason\":");
    gg_buf_json_str(out, choice->finish_reason);
    gg_buf_char(out, '}');
}

static void write_whole(const writer *w)
{
    write_head(w, "chat.completion");
    write_prompt_ids(w);
    gg_buf_str(w->out, ",\"choices\":[");
    for (int64_t i = 0; i < w->ask->choices; i++)
        write_choice(w, i);
    gg_buf_str(w->out, "],");
    write_usage(w);
    gg_buf_char(w->out, '}');
}

/* ---- streaming: role, thoughts, text, call, then the finish with ids and logprobs ---- */

static void chunk_open(const writer *w, int64_t index)
{
    gg_buf_str(w->out, "data: ");
    write_head(w, "chat.completion.chunk");
    if (index == 0 && w->ask->token_ids)
        write_prompt_ids(w);
    gg_buf_str(w->out, ",\"choices\":[{\"index\":");
    gg_buf_int(w->out, index);
    gg_buf_str(w->out, ",\"delta\":{");
}

static void chunk_close(const writer *w)
{
    gg_buf_str(w->out, "},\"finish_reason\":null}]}\n\n");
}

static void chunk_text(const writer *w, int64_t index, const char *field, const gg_buf *text)
{
    if (!text->len)
        return;
    chunk_open(w, index);
    gg_buf_char(w->out, '"');
    gg_buf_str(w->out, field);
    gg_buf_str(w->out, "\":");
    write_text(w->out, text);
    chunk_close(w);
}

static void stream_choice(const writer *w, int64_t index)
{
    const gg_policy_reply *choice = &w->choices[index];
    chunk_open(w, index);
    gg_buf_str(w->out, "\"role\":\"assistant\",\"content\":\"\"");
    chunk_close(w);
    chunk_text(w, index, "reasoning", &choice->reasoning);
    chunk_text(w, index, "content", &choice->content);
    if (choice->call.name) {
        chunk_open(w, index);
        write_call(w, index, &choice->call);
        chunk_close(w);
    }
    chunk_open(w, index);
    gg_buf_str(w->out, "},");
    write_logprobs(w, choice);
    write_token_ids(w, choice);
    gg_buf_str(w->out, ",\"finish_reason\":");
    gg_buf_json_str(w->out, choice->finish_reason);
    gg_buf_str(w->out, "}]}\n\n");
}

static void write_stream(const writer *w)
{
    for (int64_t i = 0; i < w->ask->choices; i++)
        stream_choice(w, i);
    if (w->ask->stream_usage) {
        gg_buf_str(w->out, "data: ");
        write_head(w, "chat.completion.chunk");
        gg_buf_str(w->out, ",\"choices\":[],");
        write_usage(w);
        gg_buf_str(w->out, "}\n\n");
    }
    gg_buf_str(w->out, "data: [DONE]\n\n");
}

/* ---- answering ---- */

static void free_choices(gg_policy_reply *choices, int64_t count)
{
    for (int64_t i = 0; choices && i < count; i++)
        gg_policy_reply_free(&choices[i]);
    free(choices);
}

/* Samples all choices; choice 0 has the request's own seed, so that n = 1 and the first of many
 * agree. */
static gg_policy_reply *sample(const gg_chat_model *model, const ask *a, gg_error *error)
{
    gg_policy_reply *choices = calloc((size_t)a->choices, sizeof *choices);
    if (!choices) {
        gg_fail(error, GG_E_MEMORY, "out of memory for %lld choices", (long long)a->choices);
        return NULL;
    }
    for (int64_t i = 0; i < a->choices; i++)
        gg_policy_reply_init(&choices[i]);
    for (int64_t i = 0; i < a->choices; i++) {
        gg_policy_request request = a->policy;
        if (i > 0)
            request.seed = gg_derive_seed(a->policy.seed, "choice", i);
        if (gg_policy_reply_to(model->policy, model->weights, model->scale, &request, &choices[i],
                               error) != GG_OK) {
            free_choices(choices, a->choices);
            return NULL;
        }
    }
    return choices;
}

/* Whoever keeps turns keeps this one, or the request is refused. */
static bool kept(const gg_chat_turn *turn, const gg_policy_reply *choices, gg_chat_reply *reply)
{
    if (!turn->keep || turn->keep(turn->context, choices))
        return true;
    gg_chat_refuse(reply, 400, "invalid_request_error", NULL, NULL, turn->late);
    return false;
}

static void answer(const gg_chat_model *model, const ask *a, const gg_chat_turn *turn,
                   gg_chat_reply *reply)
{
    gg_error error = {0};
    gg_policy_reply *choices = sample(model, a, &error);
    if (!choices) {
        bool ours = error.status == GG_E_MEMORY;
        gg_chat_refuse(reply, ours ? 500 : 400, ours ? "server_error" : "invalid_request_error",
                       NULL, NULL, error.text);
        return;
    }
    if (!kept(turn, choices, reply)) {
        free_choices(choices, a->choices);
        return;
    }
    writer w = {.model = model,
                .ask = a,
                .out = &reply->body,
                .created = (int64_t)time(NULL),
                .choices = choices};
    snprintf(
        w.id, sizeof w.id, "chatcmpl-%016llx",
        (unsigned long long)gg_derive_seed(a->policy.seed, "id", (int64_t)choices[0].prompt_count));
    if (a->stream) {
        reply->content_type = "text/event-stream";
        write_stream(&w);
    } else {
        write_whole(&w);
    }
    reply->prompt_tokens = (int64_t)choices[0].prompt_count;
    for (int64_t i = 0; i < a->choices; i++)
        reply->completion_tokens += (int64_t)choices[i].count;
    free_choices(choices, a->choices);
    if (gg_buf_status(&reply->body, "the reply", &error) != GG_OK)
        gg_chat_refuse(reply, 500, "server_error", NULL, NULL, error.text);
}

void gg_chat_answer(const gg_chat_model *model, const char *body, size_t len,
                    uint64_t fallback_seed, gg_chat_reply *reply)
{
    const gg_chat_turn turn = {1, 1, GG_CHAT_TOKENS, fallback_seed, NULL, NULL, NULL};
    gg_chat_answer_turn(model, body, len, &turn, reply);
}

void gg_chat_answer_turn(const gg_chat_model *model, const char *body, size_t len,
                         const gg_chat_turn *turn, gg_chat_reply *reply)
{
    cJSON *root = NULL;
    gg_error error = {0};
    ask a = {.policy = {.temperature = turn->temperature,
                        .top_p = turn->top_p,
                        .max_tokens = turn->max_tokens}};
    gg_buf_reset(&reply->body);
    reply->status = 200;
    reply->content_type = "application/json";
    reply->prompt_tokens = reply->completion_tokens = 0;
    gg_status status = open_body(body, len, &a, &root, &error);
    if (status == GG_E_MEMORY) {
        gg_chat_refuse(reply, 500, "server_error", NULL, NULL, error.text);
    } else if (status != GG_OK) {
        gg_chat_refuse(reply, 400, "invalid_request_error", NULL, NULL, error.text);
    } else if (read_ask(root, &a, reply)) {
        if (!a.seeded)
            a.policy.seed = turn->seed;
        if (turn->keep && a.choices != 1)
            refuse_param(reply, "n", "unsupported_parameter",
                         "'n' must be 1 here: a turn has one reply");
        else
            answer(model, &a, turn, reply);
    }
    cJSON_Delete(root);
}

void gg_chat_models(const char *const *names, size_t count, gg_buf *out)
{
    gg_buf_str(out, "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < count; i++) {
        gg_buf_str(out, i ? ",{\"id\":" : "{\"id\":");
        gg_buf_json_str(out, names[i]);
        gg_buf_str(out, ",\"object\":\"model\",\"created\":0,\"owned_by\":\"guessgym\"}");
    }
    gg_buf_str(out, "]}");
}
