/* guessgym probe: what follows from what came back (cli/probe.h). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/probe.h"
#include "cli/term.h"
#include "core/json.h"

static const struct {
    const char *key, *label;
} names[GG_FEATURE_COUNT] = {
    [GG_FEATURE_TOOLS] = {"tools", "tools"},
    [GG_FEATURE_CALLS] = {"structured_calls", "calls"},
    [GG_FEATURE_PARALLEL] = {"parallel_calls", "parallel calls"},
    [GG_FEATURE_THOUGHTS] = {"thoughts", "thoughts"},
    [GG_FEATURE_EFFORT] = {"reasoning_effort", "effort"},
    [GG_FEATURE_LOGPROBS] = {"logprobs", "logprobs"},
    [GG_FEATURE_TOKEN_IDS] = {"token_ids", "token ids"},
    [GG_FEATURE_USAGE] = {"usage", "token counts"},
    [GG_FEATURE_STREAM] = {"stream", "streaming"},
    [GG_FEATURE_STREAM_USAGE] = {"stream_usage", "stream counts"},
};

const char *gg_feature_key(gg_feature_id id)
{
    return names[id].key;
}

const char *gg_feature_label(gg_feature_id id)
{
    return names[id].label;
}

static void set(gg_probe *p, gg_feature_id id, gg_finding value, const char *format, ...)
    GG_PRINTF(4, 5);
static void set(gg_probe *p, gg_feature_id id, gg_finding value, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    p->features[id].value = value;
    vsnprintf(p->features[id].detail, sizeof p->features[id].detail, format, list);
    va_end(list);
}

static void advise(gg_probe *p, const char *format, ...) GG_PRINTF(2, 3);
static void advise(gg_probe *p, const char *format, ...)
{
    va_list list;

    if (p->advice_count == GG_PROBE_ADVICE)
        return;
    va_start(list, format);
    vsnprintf(p->advice[p->advice_count++], GG_PROBE_TEXT, format, list);
    va_end(list);
}

static bool was_refused(const gg_probe *p, const char *field)
{
    for (size_t i = 0; i < p->refused_count; i++)
        if (strstr(p->refused[i].field, field))
            return true;
    return false;
}

/* ---- features ---- */

static int64_t prompt_tokens(const gg_probe *p)
{
    if (p->reply.usage.prompt != GG_TOKENS_UNKNOWN)
        return p->reply.usage.prompt;
    return p->reply.prompt_count ? (int64_t)p->reply.prompt_count : GG_TOKENS_UNKNOWN;
}

static void look_at_tools(gg_probe *p)
{
    int64_t with = prompt_tokens(p), without = p->plain_tokens;
    bool known = with != GG_TOKENS_UNKNOWN && without != GG_TOKENS_UNKNOWN;

    if (was_refused(p, "tools"))
        set(p, GG_FEATURE_TOOLS, GG_FINDING_NO, "a request with tools is refused");
    else if (known && with > without)
        set(p, GG_FEATURE_TOOLS, GG_FINDING_YES,
            "the prompt is %lld tokens with them, %lld without", (long long)with,
            (long long)without);
    else if (known && p->reply.call_count == 0)
        set(p, GG_FEATURE_TOOLS, GG_FINDING_NO,
            "ignored: the prompt has %lld tokens with tools, %lld without", (long long)with,
            (long long)without);
    else if (p->reply.call_count)
        set(p, GG_FEATURE_TOOLS, GG_FINDING_YES, "one was called");
    else
        set(p, GG_FEATURE_TOOLS, GG_FINDING_UNKNOWN, "no call, and no token counts to judge by");
}

static const gg_turn *turn_of(const gg_probe *p)
{
    return p->episode && p->episode->turn_count ? &p->episode->turns[0] : NULL;
}

static size_t repairs_of(const gg_turn *turn)
{
    size_t count = 0;

    for (size_t i = 0; turn && i < turn->call_count; i++)
        count += turn->calls[i].repair_count;
    return count;
}

static void look_at_calls(gg_probe *p)
{
    const gg_turn *turn = turn_of(p);
    size_t calls = p->reply.call_count, found = turn ? turn->call_count : 0;

    if (calls && !repairs_of(turn))
        set(p, GG_FEATURE_CALLS, GG_FINDING_YES, "as the API defines them");
    else if (calls)
        set(p, GG_FEATURE_CALLS, GG_FINDING_YES, "with %zu repairs (%s)", repairs_of(turn),
            turn->calls[0].repair_count ? turn->calls[0].repairs[0] : "further on");
    else if (found)
        set(p, GG_FEATURE_CALLS, GG_FINDING_NO, "found in the reply's text (%s)",
            turn->calls[0].repair_count ? turn->calls[0].repairs[0] : "text");
    else
        set(p, GG_FEATURE_CALLS, GG_FINDING_NO, "the reply calls nothing");
    if (calls > 1)
        set(p, GG_FEATURE_PARALLEL, GG_FINDING_YES, "%zu in one reply", calls);
    else
        set(p, GG_FEATURE_PARALLEL, GG_FINDING_UNKNOWN, "none seen in this reply");
}

static void look_at_thoughts(gg_probe *p)
{
    const char *rest;
    size_t rest_len;
    bool inside = gg_skip_thoughts(p->reply.content, p->reply.content_len, &rest, &rest_len);

    if (p->reply.reasoning_field)
        set(p, GG_FEATURE_THOUGHTS, GG_FINDING_YES, "under \"%s\", %zu characters",
            p->reply.reasoning_field, strlen(p->reply.reasoning));
    else if (inside)
        set(p, GG_FEATURE_THOUGHTS, GG_FINDING_YES, "inside the content");
    else
        set(p, GG_FEATURE_THOUGHTS, GG_FINDING_UNKNOWN, "none in this reply");
    if (was_refused(p, "reasoning_effort"))
        set(p, GG_FEATURE_EFFORT, GG_FINDING_NO, "the field is refused");
    else if (p->effort.outcome == GG_RETRY_OK)
        set(p, GG_FEATURE_EFFORT, GG_FINDING_UNKNOWN, "any value is taken; it may have no effect");
    else if (strstr(p->effort.message, "effort"))
        set(p, GG_FEATURE_EFFORT, GG_FINDING_YES, "the value is checked");
    else
        set(p, GG_FEATURE_EFFORT, GG_FINDING_UNKNOWN, "%.100s", p->effort.message);
}

static const char *form_of_ids(const gg_reply *reply)
{
    if (reply->meta.count)
        return "SGLang's form";
    if (reply->entries.count && !reply->prompt_count)
        return "with the log-probabilities";
    return "vLLM's form";
}

static void look_at_tokens(gg_probe *p)
{
    const gg_reply *r = &p->reply;

    if (was_refused(p, "logprobs"))
        set(p, GG_FEATURE_LOGPROBS, GG_FINDING_NO, "the field is refused");
    else if (r->logprob_count)
        set(p, GG_FEATURE_LOGPROBS, GG_FINDING_YES, "%zu", r->logprob_count);
    else if (p->ask.token_ids)
        set(p, GG_FEATURE_LOGPROBS, GG_FINDING_NO, "asked for, none came");
    else
        set(p, GG_FEATURE_LOGPROBS, GG_FINDING_UNKNOWN, "not asked for (--token-ids)");
    if (r->id_count && r->prompt_count)
        set(p, GG_FEATURE_TOKEN_IDS, GG_FINDING_YES, "%s: %zu of the prompt, %zu sampled",
            form_of_ids(r), r->prompt_count, r->id_count);
    else if (r->id_count)
        set(p, GG_FEATURE_TOKEN_IDS, GG_FINDING_NO, "%zu sampled (%s), none of the prompt",
            r->id_count, form_of_ids(r));
    else if (p->ask.token_ids)
        set(p, GG_FEATURE_TOKEN_IDS, GG_FINDING_NO, "asked for, none came");
    else
        set(p, GG_FEATURE_TOKEN_IDS, GG_FINDING_UNKNOWN, "not asked for (--token-ids)");
    if (r->usage.prompt >= 0 && r->usage.completion >= 0)
        set(p, GG_FEATURE_USAGE, GG_FINDING_YES, "prompt %lld, completion %lld",
            (long long)r->usage.prompt, (long long)r->usage.completion);
    else
        set(p, GG_FEATURE_USAGE, GG_FINDING_NO, "the reply does not say");
}

static void look_at_stream(gg_probe *p)
{
    bool good = p->stream.outcome == GG_RETRY_OK && p->chunks;

    if (good)
        set(p, GG_FEATURE_STREAM, GG_FINDING_YES, "%zu chunks%s", p->chunks,
            p->stream_ended ? ", [DONE] at the end" : "; no [DONE] at the end");
    else
        set(p, GG_FEATURE_STREAM, GG_FINDING_NO, "%.120s",
            *p->stream.message ? p->stream.message : "what came is no stream");
    set(p, GG_FEATURE_STREAM_USAGE,
        good ? p->stream_usage ? GG_FINDING_YES : GG_FINDING_NO : GG_FINDING_UNKNOWN, "%s",
        !good             ? "no stream"
        : p->stream_usage ? "with include_usage"
                          : "none came, though asked for");
}

/* ---- advice ---- */

static void advise_on_address(gg_probe *p)
{
    if (p->url_fault)
        advise(p, "The address is not right: %s. Right is %s", p->url_fault, p->mended);
    if (!p->model_listed)
        advise(p, "The model %s is not in the endpoint's list: %s", p->player.model, p->models);
    else if (p->model_count > 1 && !gg_opt_given(p->cli->opts, GG_OPT_MODEL))
        advise(p, "%d models are listed; asked was the first. Choose with --model: %s%s",
               p->model_count, p->models, p->model_count > GG_PROBE_MODELS ? " ..." : "");
}

static void advise_on_refusals(gg_probe *p)
{
    for (size_t i = 0; i < p->refused_count; i++) {
        const gg_refused *r = &p->refused[i];
        if (strcmp(r->field, "tools") == 0)
            advise(p, "Tools are refused as the server runs now. vLLM wants "
                      "--enable-auto-tool-choice and --tool-call-parser NAME when it is started");
        else if (strcmp(r->field, "max_tokens") == 0 && !*r->flags)
            advise(p, "The reply's token limit is refused; give a smaller --max-tokens");
        else
            advise(p, "\"%s\" is refused; %s leaves it out", r->field, r->flags);
    }
}

/* A schema that makes the whole reply one call, which the text rung of the ladder then takes. */
static void make_schema(gg_probe *p)
{
    cJSON *tools = NULL;
    const char *json = p->game->api->tools(p->game->env);
    gg_buf out;

    if (gg_json_parse(json, strlen(json), &tools, NULL) != GG_OK)
        return;
    const cJSON *function = gg_json_path(tools, "0.function");
    gg_buf_init(&out, sizeof p->schema_flag - 1);
    gg_buf_str(&out,
               "{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":"
               "\"call\",\"schema\":{\"type\":\"object\",\"properties\":{\"name\":{\"const\":");
    gg_buf_json_str(&out, gg_json_text(function, "name"));
    gg_buf_str(&out, "},\"arguments\":");
    gg_buf_cjson(&out, gg_json_get(function, "parameters"));
    gg_buf_str(&out, "},\"required\":[\"name\",\"arguments\"]}}}}");
    if (function && out.status == GG_OK)
        snprintf(p->schema_flag, sizeof p->schema_flag, "%s", gg_buf_cstr(&out));
    gg_buf_free(&out);
    cJSON_Delete(tools);
}

static void advise_on_calls(gg_probe *p)
{
    const gg_turn *turn = turn_of(p);
    bool ignored = p->features[GG_FEATURE_TOOLS].value == GG_FINDING_NO;

    if (ignored && !was_refused(p, "tools"))
        advise(p,
               "Tools are ignored: the model never sees them. Serve it with a chat template that "
               "has tools (llama.cpp: --jinja, --chat-template-file; vLLM: --chat-template)");
    if (turn && turn->call_count && !p->reply.call_count)
        advise(p,
               "The call came as text. It is taken (--text-calls on), and counted as a repair; a "
               "tool-call parser that fits the model would make it a call");
    if (gg_reply_cut(&p->reply))
        advise(p, "The reply was cut at its token limit; give a larger --max-tokens%s",
               gg_opt_given(p->cli->opts, GG_OPT_MAX_TOKENS) ? "" : " (a run's default is 4096)");
    if (turn && turn->call_count == 0) {
        make_schema(p);
        if (*p->schema_flag)
            advise(p, "A schema may hold the reply to a call, if the endpoint supports one; such "
                      "plays are not trained on (constrained sampling)");
    }
}

static void advise_on_tokens(gg_probe *p)
{
    const gg_episode *e = p->episode;

    if (p->features[GG_FEATURE_USAGE].value == GG_FINDING_NO)
        advise(p, "No token counts: tokens and costs of a run will not be known");
    if (e && e->untrainable_reason)
        advise(p, "Fit to evaluate, not to train: such plays are kept with the reason \"%s\"",
               e->untrainable_reason);
}

static void add_flag(gg_probe *p, const char *flag, const char *value)
{
    char *const words[] = {(char *)flag, (char *)value};

    if (p->flags.len)
        gg_buf_char(&p->flags, ' ');
    gg_quote_command(&p->flags, value ? 2 : 1, words);
}

/* The options that make a run ask as this probe did in the end. */
static void collect_flags(gg_probe *p)
{
    add_flag(p, "--endpoint", p->given ? p->mended : p->player.shown);
    if (p->given)
        add_flag(p, "--model", p->player.model);
    for (size_t i = 0; i < p->refused_count; i++) {
        const char *flags = p->refused[i].flags;
        if (*flags && !strstr(gg_buf_cstr(&p->flags), flags))
            gg_buf_printf(&p->flags, " %s", flags);
    }
    if (gg_opt_given(p->cli->opts, GG_OPT_MAX_TOKENS)) {
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)p->ask.max_tokens);
        add_flag(p, "--max-tokens", number);
    }
    if (*p->schema_flag)
        add_flag(p, "--extra-body", p->schema_flag);
}

void gg_probe_look(gg_probe *p)
{
    advise_on_address(p);
    if (p->chat.outcome == GG_RETRY_OK) {
        look_at_tools(p);
        look_at_calls(p);
        look_at_thoughts(p);
        look_at_tokens(p);
        look_at_stream(p);
        advise_on_refusals(p);
        advise_on_calls(p);
        advise_on_tokens(p);
    } else {
        const char *advice = gg_retry_advice(p->chat.status);
        advise_on_refusals(p);
        if (*advice)
            advise(p, "Status %d: %s", p->chat.status, advice);
        else if (p->chat.outcome == GG_RETRY_STARTING)
            advise(p, "The model is still loading; ask again in a minute");
        else if (p->chat.transport != GG_TRANSPORT_OK)
            advise(p, "The connection failed (%s)", gg_transport_name(p->chat.transport));
    }
    collect_flags(p);
}
