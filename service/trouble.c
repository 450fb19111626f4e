#include "service/trouble.h"

#include <string.h>

#include "core/near.h"

#define JSON      "application/json"
#define KINDS_MAX 256
#define T         GG_TROUBLE_TRANSPORT
#define M         GG_TROUBLE_MODEL
#define S         GG_TROUBLE_STOP
#define H         GG_KEY_HEADERS
#define OPENAI_ERROR(message, type, code)                                                          \
    "{\"error\":{\"message\":\"" message "\",\"type\":\"" type "\",\"param\":null,\"code\":" code  \
    "}}"
#define CHOICE(rest)                                                                               \
    "{\"id\":\"x\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0," rest "}]}"

/* name, class, way, keys, delivers, status, content type, body */
static const gg_trouble wire[] = {
    /* clang-format off */
    {"status", T, GG_WAY_STATUS, H | GG_KEY_BODY, false, 503, NULL, NULL, NULL},
    {"reset", T, GG_WAY_RESET, 0, false, 0, NULL, NULL, NULL},
    {"never", T, GG_WAY_NEVER, GG_KEY_SECONDS, false, 0, NULL, NULL, NULL},
    {"late", T, GG_WAY_DELAY, GG_KEY_SECONDS, false, 0, NULL, NULL, NULL},
    {"slow", T, GG_WAY_DELAY, GG_KEY_SECONDS, true, 0, NULL, NULL, NULL},
    {"cut", T, GG_WAY_CUT, GG_KEY_BYTES, false, 0, NULL, NULL, NULL},
    {"stall", T, GG_WAY_STALL, GG_KEY_BYTES, false, 0, NULL, NULL, NULL},
    {"drip", T, GG_WAY_DRIP, GG_KEY_PIECE, true, 0, NULL, NULL, NULL},
    {"half", T, GG_WAY_HALF, 0, false, 0, NULL, NULL, NULL},
    /* What stands before a server, and servers that start. */
    {"loading", T, GG_WAY_CANNED, H, false, 503, JSON,
     "{\"error\":{\"message\":\"Loading model\",\"type\":\"unavailable_error\",\"code\":503}}", NULL},
    {"gateway", T, GG_WAY_CANNED, H, false, 502, "text/html",
     "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", NULL},
    {"unwrapped", T, GG_WAY_CANNED, H, false, 424, JSON,
     "{\"Message\":\"the container failed\",\"OriginalStatusCode\":503,\"OriginalMessage\":\"busy\"}",
     NULL},
    {"throttled", T, GG_WAY_CANNED, H, false, 400, JSON,
     "{\"__type\":\"com.example#ThrottlingException\",\"message\":\"Rate exceeded\"}", NULL},
    {"try-again", T, GG_WAY_CANNED, H, false, 429, JSON,
     OPENAI_ERROR("Rate limit reached. Please try again in 20ms.", "requests",
                  "\"rate_limit_exceeded\""), NULL},
    /* A 200 that is no reply. */
    {"html", T, GG_WAY_CANNED, 0, false, 200, "text/html", "<html><body>hello</body></html>", NULL},
    {"blank", T, GG_WAY_CANNED, 0, false, 200, JSON, " \n ", NULL},
    {"empty-body", T, GG_WAY_CANNED, 0, false, 200, JSON, "", NULL},
    {"error-200", T, GG_WAY_CANNED, 0, false, 200, JSON,
     "{\"error\":{\"code\":502,\"message\":\"Provider returned error\"},\"choices\":null}", NULL},
    {"no-choices", T, GG_WAY_CANNED, 0, false, 200, JSON, "{\"id\":\"x\",\"choices\":[]}", NULL},
    {"null-choices", T, GG_WAY_CANNED, 0, false, 200, JSON, "{\"id\":\"x\",\"choices\":null}", NULL},
    {"not-a-number", T, GG_WAY_CANNED, 0, false, 200, JSON,
     CHOICE("\"message\":{\"content\":\"a\"},\"logprobs\":{\"content\":[{\"logprob\":NaN}]}"), NULL},
    {"aborted", T, GG_WAY_CANNED, 0, false, 200, JSON,
     CHOICE("\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":\"abort\""),
     NULL},
    {"finish-error", T, GG_WAY_CANNED, 0, false, 200, JSON,
     CHOICE("\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":\"error\""),
     NULL},
    /* Refusals that end the episode. */
    {"context", M, GG_WAY_CANNED, 0, false, 400, JSON,
     OPENAI_ERROR("This model's maximum context length is 8 tokens.", "invalid_request_error",
                  "\"context_length_exceeded\""), NULL},
    {"context-vllm", M, GG_WAY_CANNED, 0, false, 400, JSON,
     "{\"object\":\"error\",\"message\":\"The prompt is longer than the maximum model length of 8.\","
     "\"type\":\"BadRequestError\",\"param\":null,\"code\":400}", NULL},
    {"context-llamacpp", M, GG_WAY_CANNED, 0, false, 400, JSON,
     "{\"error\":{\"code\":400,\"message\":\"the request is too large\","
     "\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9,\"n_ctx\":8}}", NULL},
    {"context-tgi", M, GG_WAY_CANNED, 0, false, 422, JSON,
     "{\"error\":\"Input validation error: `inputs` must have less than 8 tokens. Given: 9\","
     "\"error_type\":\"validation\"}", NULL},
    {"context-500", M, GG_WAY_CANNED, 0, false, 500, JSON,
     "{\"error\":{\"code\":500,\"message\":\"Context size has been exceeded.\","
     "\"type\":\"server_error\"}}", NULL},
    {"parser-500", M, GG_WAY_CANNED, 0, false, 500, JSON,
     OPENAI_ERROR("unexpected tokens remaining in message header", "InternalServerError", "500"),
     NULL},
    {"refused", M, GG_WAY_CANNED, 0, false, 400, JSON,
     "{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens'\",\"type\":\"invalid_request_error\","
     "\"param\":\"max_tokens\",\"code\":\"unsupported_parameter\"}}", NULL},
    /* The end of the run. */
    {"quota", S, GG_WAY_CANNED, 0, false, 429, JSON,
     OPENAI_ERROR("You exceeded your current quota, please check your plan and billing details.",
                  "insufficient_quota", "\"insufficient_quota\""), NULL},
    {"unauthorized", S, GG_WAY_CANNED, 0, false, 401, JSON,
     OPENAI_ERROR("Incorrect API key provided.", "invalid_request_error", "\"invalid_api_key\""),
     NULL},
    {"payment", S, GG_WAY_CANNED, 0, false, 402, JSON,
     "{\"error\":{\"code\":402,\"message\":\"Insufficient credits\"}}", NULL},
    {"forbidden", S, GG_WAY_CANNED, 0, false, 403, JSON,
     "{\"__type\":\"AccessDeniedException\",\"Message\":\"not authorized to invoke the model\"}", NULL},
    {"not-found", S, GG_WAY_CANNED, 0, false, 404, JSON, "{\"detail\":\"Not Found\"}", NULL},
    {"model-gone", S, GG_WAY_CANNED, 0, false, 404, JSON,
     OPENAI_ERROR("The model does not exist.", "NotFoundError", "\"model_not_found\""), NULL},
    {"come-tomorrow", S, GG_WAY_STATUS, H | GG_KEY_BODY, false, 429, NULL, NULL, NULL},
    /* clang-format on */
};
#define WIRE_COUNT (sizeof wire / sizeof *wire)

const gg_trouble *gg_trouble_at(size_t index)
{
    if (index < WIRE_COUNT)
        return &wire[index];
    index -= WIRE_COUNT;
    return index < gg_mangler_count ? &gg_manglers[index] : NULL;
}

const gg_trouble *gg_trouble_find(const char *name, const char **near)
{
    const char *names[KINDS_MAX];
    const gg_trouble *trouble;
    size_t count = 0;
    for (; count < KINDS_MAX && (trouble = gg_trouble_at(count)); count++) {
        if (!strcmp(trouble->name, name))
            return trouble;
        names[count] = trouble->name;
    }
    *near = gg_near_miss(name, names, count);
    return NULL;
}

const char *gg_trouble_class_name(gg_trouble_class class)
{
    return class == GG_TROUBLE_TRANSPORT ? "transport"
           : class == GG_TROUBLE_MODEL   ? "model"
                                         : "stop";
}

/* ---- error bodies ---- */

/* In `body` %m is the message as a JSON string, %c the status. */
static const struct {
    const char *name, *content_type, *body;
} forms[] = {
    {"openai", JSON,
     "{\"error\":{\"message\":%m,\"type\":\"server_error\",\"param\":null,\"code\":null}}"},
    {"vllm", JSON,
     "{\"error\":{\"message\":%m,\"type\":\"InternalServerError\",\"param\":null,\"code\":%c}}"},
    {"vllm-flat", JSON,
     "{\"object\":\"error\",\"message\":%m,\"type\":\"X\",\"param\":null,\"code\":%c}"},
    {"llamacpp", JSON, "{\"error\":{\"code\":%c,\"message\":%m,\"type\":\"server_error\"}}"},
    {"tgi", JSON, "{\"error\":%m,\"error_type\":\"generation\"}"},
    {"litellm", JSON, "{\"error\":{\"message\":%m,\"type\":null,\"param\":null,\"code\":\"%c\"}}"},
    {"openrouter", JSON,
     "{\"error\":{\"code\":%c,\"message\":\"Provider returned "
     "error\",\"metadata\":{\"provider_name\":"
     "\"p\",\"raw\":%m}},\"user_id\":\"u\"}"},
    {"message", JSON, "{\"message\":%m}"},
    {"aws", JSON, "{\"Message\":%m}"},
    {"detail", JSON, "{\"detail\":%m}"},
    {"details", JSON, "{\"detail\":[{\"loc\":[\"body\"],\"msg\":%m}]}"},
    {"nest", JSON, "{\"message\":[%m,\"and more\"],\"statusCode\":%c}"},
    {"html", "text/html", "<html><head><title>%c</title></head><body>%m</body></html>"},
    {"text", "text/plain", "%m"},
    {"none", NULL, ""},
};

const char *gg_error_form_at(size_t index)
{
    return index < sizeof forms / sizeof *forms ? forms[index].name : NULL;
}

bool gg_error_form_known(const char *form)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(forms[i].name, form))
            return true;
    return false;
}

void gg_error_form_write(const char *form, int status, const char *message, gg_buf *out,
                         const char **content_type)
{
    size_t row = 0;
    while (row + 1 < sizeof forms / sizeof *forms && strcmp(forms[row].name, form) != 0)
        row++;
    *content_type = forms[row].content_type;
    for (const char *p = forms[row].body; *p; p++) {
        if (*p != '%')
            gg_buf_char(out, *p);
        else if (*++p == 'c')
            gg_buf_int(out, status);
        else
            gg_buf_json_str(out, message);
    }
}
