#include "policy/adapter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"

#define SCHEMA "guessgym.adapter/1"

double gg_adapter_scale(double rank, double alpha)
{
    return GG_ADAPTER_GAIN * (alpha / rank);
}

void gg_adapter_free(gg_adapter *adapter)
{
    if (!adapter)
        return;
    free(adapter->policy);
    free(adapter->weights.adapter);
    *adapter = (gg_adapter){0};
}

gg_status gg_adapter_new(const gg_policy *policy, gg_adapter *out, gg_error *error)
{
    size_t n = gg_policy_weight_count(policy);
    *out = (gg_adapter){.rank = GG_LORA_RANK, .alpha = GG_LORA_ALPHA};
    if (!gg_policy_trainable(policy))
        return gg_fail(error, GG_E_CONFIG, "the policy %s cannot be trained: it takes no adapter",
                       gg_policy_name(policy));
    out->policy = strdup(gg_policy_name(policy));
    out->weights = (gg_weights){.n = n, .adapter = calloc(n, sizeof(double))};
    if (out->policy && out->weights.adapter)
        return GG_OK;
    gg_adapter_free(out);
    return gg_fail(error, GG_E_MEMORY, "not enough memory for an adapter");
}

static gg_status check_text(const cJSON *root, const char *name, const char *wanted,
                            const char *advice, gg_error *error)
{
    const char *text = gg_json_text(root, name);
    if (!text)
        return gg_fail(error, GG_E_FORMAT, "the adapter has no text \"%s\"", name);
    if (strcmp(text, wanted) == 0)
        return GG_OK;
    return gg_fail(error, GG_E_CONFIG, "the adapter's %s is \"%.64s\", not \"%s\"; %s", name, text,
                   wanted, advice);
}

static gg_status check_count(const cJSON *root, const char *name, int64_t wanted,
                             const char *advice, gg_error *error)
{
    int64_t value;
    if (!gg_json_int(root, name, &value))
        return gg_fail(error, GG_E_FORMAT, "the adapter has no whole number \"%s\"", name);
    if (value == wanted)
        return GG_OK;
    return gg_fail(error, GG_E_CONFIG, "the adapter's %s is %lld, not %lld; %s", name,
                   (long long)value, (long long)wanted, advice);
}

/* Whether it was made for this policy, opened on the same things. */
static gg_status check_fit(const cJSON *root, const gg_policy *policy, gg_error *error)
{
    const char *schema = gg_json_text(root, "schema");
    if (!schema || strcmp(schema, SCHEMA) != 0)
        return gg_fail(error, GG_E_FORMAT, "this is no adapter: its schema is not " SCHEMA);
    gg_status status = check_text(root, "policy", gg_policy_name(policy),
                                  "give it to the policy it was trained for", error);
    size_t count;
    const gg_policy_trait *trait = gg_policy_traits(policy, &count);
    for (; status == GG_OK && count > 0; count--, trait++)
        status = trait->text ? check_text(root, trait->name, trait->text, trait->advice, error)
                             : check_count(root, trait->name, trait->number, trait->advice, error);
    if (status == GG_OK)
        status = check_count(root, "vocabulary", gg_policy_vocabulary(policy),
                             "it was trained by another version of guessgym; train again", error);
    return status;
}

static gg_status read_numbers(const cJSON *root, gg_adapter *out, gg_error *error)
{
    const cJSON *list = gg_json_get(root, "adapter");
    size_t n = out->weights.n, count = 0;
    if (!cJSON_IsArray(list))
        return gg_fail(error, GG_E_FORMAT, "the adapter has no array \"adapter\"");
    for (const cJSON *item = list->child; item; item = item->next, count++) {
        if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
            return gg_fail(error, GG_E_FORMAT, "adapter[%zu] is not a finite number", count);
        if (count < n)
            out->weights.adapter[count] = item->valuedouble;
    }
    if (count != n)
        return gg_fail(error, GG_E_FORMAT, "the adapter has %zu numbers, not %zu", count, n);
    return GG_OK;
}

static gg_status fill(const cJSON *root, const gg_policy *policy, gg_adapter *out, gg_error *error)
{
    gg_status status = gg_adapter_new(policy, out, error);
    if (status == GG_OK)
        status = check_fit(root, policy, error);
    if (status != GG_OK)
        return status;
    if (!gg_json_number(root, "rank", &out->rank) || !gg_json_number(root, "alpha", &out->alpha) ||
        !(out->rank > 0 && out->alpha > 0 && isfinite(out->rank) && isfinite(out->alpha)))
        return gg_fail(error, GG_E_FORMAT, "the adapter's rank and alpha must be numbers above 0");
    if (!gg_json_int(root, "version", &out->weights.version) || out->weights.version < 0)
        return gg_fail(error, GG_E_FORMAT, "the adapter's version must be a whole number from 0");
    return read_numbers(root, out, error);
}

gg_status gg_adapter_parse(const char *text, size_t len, const gg_policy *policy, gg_adapter *out,
                           gg_error *error)
{
    cJSON *root;
    *out = (gg_adapter){0};
    gg_status status = gg_json_parse(text, len, &root, error);
    if (status != GG_OK)
        return status;
    status = fill(root, policy, out, error);
    cJSON_Delete(root);
    if (status != GG_OK)
        gg_adapter_free(out);
    return status;
}

gg_status gg_adapter_read(const char *path, const gg_policy *policy, gg_adapter *out,
                          gg_error *error)
{
    gg_buf text;
    *out = (gg_adapter){0};
    gg_buf_init(&text, GG_FILE_MAX);
    gg_status status = gg_file_read(path, &text, error);
    if (status == GG_OK) {
        status = gg_adapter_parse(gg_buf_cstr(&text), text.len, policy, out, error);
        if (status != GG_OK)
            gg_fail_prefix(error, "%s", path);
    }
    gg_buf_free(&text);
    return status;
}

gg_status gg_adapter_write(const gg_adapter *adapter, const gg_policy *policy, gg_buf *out,
                           gg_error *error)
{
    size_t count;
    const gg_policy_trait *traits = gg_policy_traits(policy, &count);
    gg_buf_str(out, "{\"schema\":\"" SCHEMA "\",\"policy\":");
    gg_buf_json_str(out, adapter->policy);
    gg_buf_str(out, ",\"vocabulary\":");
    gg_buf_int(out, gg_policy_vocabulary(policy));
    for (size_t i = 0; i < count; i++) {
        gg_buf_printf(out, ",\"%s\":", traits[i].name);
        if (traits[i].text)
            gg_buf_json_str(out, traits[i].text);
        else
            gg_buf_int(out, traits[i].number);
    }
    gg_buf_str(out, ",\"rank\":");
    gg_buf_double(out, adapter->rank);
    gg_buf_str(out, ",\"alpha\":");
    gg_buf_double(out, adapter->alpha);
    gg_buf_str(out, ",\"version\":");
    gg_buf_int(out, adapter->weights.version);
    gg_buf_str(out, ",\"adapter\":");
    gg_buf_doubles(out, adapter->weights.adapter, adapter->weights.n);
    gg_buf_str(out, "}\n");
    return gg_buf_status(out, "the adapter file", error);
}
