#include "rl/hyper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/near.h"

#define TRAIN    1u
#define EVALUATE 2u
#define BOTH     (TRAIN | EVALUATE)
#define CHOICES  4

typedef enum kind { WHOLE, NUMBER, ABOVE, CHOICE, METHOD, LOSS, LIST } kind;

typedef struct bounds {
    double fallback, low, high;
    int32_t choices[CHOICES]; /* of CHOICE, 0 ends */
} bounds;

typedef struct hyper {
    const char *name;
    unsigned categories;
    kind kind; /* ABOVE: a number above `low` */
    size_t at;
    bounds general, nova, evaluate;
} hyper;

#define AT(member) offsetof(gg_hyper, member)
#define SAME                                                                                       \
    {                                                                                              \
        0, 0, 0,                                                                                   \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    } /* as the general bounds */

static const hyper table[] = {
    {"global_batch_size",
     TRAIN,
     CHOICE,
     AT(batch),
     {128, 0, 0, {32, 64, 128}},
     {32, 0, 0, {8, 16, 32, 64}},
     SAME},
    {"group_size", TRAIN, WHOLE, AT(group_size), {8, 2, 32, {0}}, {4, 2, 32, {0}}, SAME},
    {"eval_group_size", EVALUATE, WHOLE, AT(group_size), {1, 1, 128, {0}}, SAME, SAME},
    {"advantage_method", TRAIN, METHOD, AT(advantage), SAME, SAME, SAME},
    {"loss_fn", TRAIN, LOSS, AT(loss), SAME, SAME, SAME},
    {"clip_low_threshold", TRAIN, NUMBER, AT(clip.clip_low), {GG_CLIP_LOW, 0, 1, {0}}, SAME, SAME},
    {"clip_high_threshold",
     TRAIN,
     NUMBER,
     AT(clip.clip_high),
     {GG_CLIP_HIGH, 1, 10, {0}},
     SAME,
     SAME},
    {"temperature", BOTH, NUMBER, AT(temperature), {1, 0, 2, {0}}, SAME, {0, 0, 2, {0}}},
    {"sampling_top_p", BOTH, NUMBER, AT(top_p), {1, 0, 1, {0}}, SAME, SAME},
    {"sampling_max_tokens", BOTH, WHOLE, AT(max_tokens), {4096, 512, 8192, {0}}, SAME, SAME},
    {"pass_k_values", BOTH, LIST, AT(pass_k), SAME, SAME, SAME},
    {"success_threshold", BOTH, NUMBER, AT(success_threshold), {1, -1e9, 1e9, {0}}, SAME, SAME},
    {"max_epochs", TRAIN, WHOLE, AT(max_epochs), {1, 1, 30, {0}}, SAME, SAME},
    {"max_steps", TRAIN, WHOLE, AT(max_steps), {100, 1, 1000, {0}}, SAME, SAME},
    {"val_every", TRAIN, WHOLE, AT(val_every), {10, 0, 100, {0}}, SAME, SAME},
    {"learning_rate", TRAIN, ABOVE, AT(adam.learning_rate), {0, 0, 0.01, {0}}, SAME, SAME},
    {"lora_rank", TRAIN, WHOLE, AT(rank), {32, 16, 64, {0}}, {32, 16, 32, {0}}, SAME},
    {"lora_alpha", TRAIN, WHOLE, AT(alpha), {64, 16, 128, {0}}, SAME, SAME},
    {"adam_beta1", TRAIN, NUMBER, AT(adam.beta1), {0.9, 0, 0.999999, {0}}, SAME, SAME},
    {"adam_beta2", TRAIN, NUMBER, AT(adam.beta2), {0.95, 0, 0.999999, {0}}, SAME, SAME},
    {"adam_eps", TRAIN, NUMBER, AT(adam.eps), {1e-8, 1e-16, 1e-2, {0}}, SAME, SAME},
    {"adam_weight_decay",
     TRAIN,
     NUMBER,
     AT(adam.weight_decay),
     {0, 0, 1, {0}},
     {0.01, 0, 1, {0}},
     SAME},
    {"adam_grad_clip_norm", TRAIN, NUMBER, AT(adam.clip_norm), {1, 0, 100, {0}}, SAME, SAME},
    {"rollout_max_concurrency", BOTH, WHOLE, AT(concurrency), {96, 32, 96, {0}}, SAME, SAME},
    {"rollout_timeout", BOTH, WHOLE, AT(timeout_s), {600, 300, 86400, {0}}, SAME, SAME},
    {"rollout_max_retries", BOTH, WHOLE, AT(retries), {3, 1, 10, {0}}, SAME, SAME},
    {"max_steps_off_policy", TRAIN, WHOLE, AT(off_policy), {3, 0, 10, {0}}, SAME, SAME},
};
#define ROWS (sizeof table / sizeof *table)

/* Members that are whole numbers but are kept as doubles. */
static bool is_double(const hyper *row)
{
    return row->at == AT(rank) || row->at == AT(alpha);
}

/* Whose values they are. */
typedef struct owner {
    gg_hyper_of of;
    const char *base_id;
} owner;

static bool is_nova(const owner *whose)
{
    return strncmp(whose->base_id, "nova-", 5) == 0;
}

static unsigned bit_of(gg_hyper_of of)
{
    return of == GG_HYPER_TRAIN ? TRAIN : EVALUATE;
}

static bool is_same(const bounds *b)
{
    return b->fallback == 0 && b->low == 0 && b->high == 0 && b->choices[0] == 0;
}

static const bounds *bounds_of(const hyper *row, const owner *whose)
{
    const bounds *own = whose->of == GG_HYPER_EVALUATE ? &row->evaluate
                        : is_nova(whose)               ? &row->nova
                                                       : &row->general;
    return is_same(own) ? &row->general : own;
}

/* Learning rates of the recipes by the model's name; embedded policies learn at the highest. */
static double default_rate(const char *base_id)
{
    static const struct {
        const char *part;
        double rate;
    } rates[] = {{"gpt-oss", 1e-5}, {"gemma", 1e-5}, {"nova", 1e-5}, {"qwen", 4e-5}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (strstr(base_id, rates[i].part))
            return rates[i].rate;
    return 0.01;
}

/* ---- values ---- */

static void put(gg_hyper *out, const hyper *row, double value)
{
    char *at = (char *)out + row->at;
    int64_t whole = (int64_t)value;
    bool is_whole = (row->kind == WHOLE || row->kind == CHOICE) && !is_double(row);
    if (is_whole)
        memcpy(at, &whole, sizeof whole);
    else
        memcpy(at, &value, sizeof value);
}

/* A number, or a text that is one and nothing else. */
static bool read_number(const cJSON *value, double *out)
{
    if (cJSON_IsNumber(value)) {
        *out = value->valuedouble;
        return isfinite(*out);
    }
    const char *text = cJSON_IsString(value) ? value->valuestring : "";
    char *end;
    bool plain = *text && strspn(text, "0123456789+-.eE") == strlen(text);
    *out = plain ? strtod(text, &end) : 0;
    return plain && *end == '\0' && isfinite(*out);
}

static gg_status refuse_choice(const hyper *row, const bounds *b, gg_error *error)
{
    gg_buf list;
    gg_buf_init(&list, 128);
    for (size_t i = 0; i < CHOICES && b->choices[i]; i++)
        gg_buf_printf(&list, "%s%d", i ? ", " : "", b->choices[i]);
    gg_fail(error, GG_E_ARGUMENT, "HyperParameters: %s must be one of %s", row->name,
            gg_buf_cstr(&list));
    gg_buf_free(&list);
    return GG_E_ARGUMENT;
}

static gg_status read_value(const hyper *row, const bounds *b, const cJSON *value, gg_hyper *out,
                            gg_error *error)
{
    double x;
    bool known = read_number(value, &x);
    bool whole = row->kind == WHOLE || row->kind == CHOICE;
    if (row->kind == CHOICE) {
        bool found = false;
        for (size_t i = 0; i < CHOICES && b->choices[i]; i++)
            found = found || (known && x == b->choices[i]);
        if (!found)
            return refuse_choice(row, b, error);
    } else if (!known || !(x >= b->low && x <= b->high) || (row->kind == ABOVE && x == b->low) ||
               (whole && x != floor(x))) {
        return gg_fail(error, GG_E_ARGUMENT, "HyperParameters: %s must be a%s number %s %g %s %g",
                       row->name, whole ? " whole" : "", row->kind == ABOVE ? "above" : "from",
                       b->low, row->kind == ABOVE ? "and at most" : "to", b->high);
    }
    put(out, row, x);
    return GG_OK;
}

static gg_status read_list(const cJSON *value, gg_hyper *out, gg_error *error)
{
    cJSON *parsed = NULL;
    const cJSON *item;
    size_t count = 0;
    bool fine = true;
    if (cJSON_IsString(value))
        fine =
            gg_json_parse(value->valuestring, strlen(value->valuestring), &parsed, error) == GG_OK;
    const cJSON *list = parsed ? parsed : value;
    fine = fine && cJSON_IsArray(list) && list->child;
    const cJSON *items = fine ? list : NULL;
    cJSON_ArrayForEach(item, items)
    {
        double k = cJSON_IsNumber(item) ? item->valuedouble : 0;
        fine = fine && count < GG_PASS_K_MAX && k >= 1 && k <= 1024 && k == floor(k);
        if (fine)
            out->pass_k[count++] = (int64_t)k;
    }
    cJSON_Delete(parsed);
    out->pass_k_count = count;
    return fine ? GG_OK
                : gg_fail(error, GG_E_ARGUMENT,
                          "HyperParameters: pass_k_values must be a list of 1 to %d whole numbers "
                          "from 1 to 1024, such as \"[1,2,4]\"",
                          GG_PASS_K_MAX);
}

static gg_status read_name(const hyper *row, const cJSON *value, gg_hyper *out, gg_error *error)
{
    const char *text = cJSON_IsString(value) ? value->valuestring : "";
    gg_error why = {0};
    gg_status status = row->kind == METHOD ? gg_advantage_parse(text, &out->advantage, &why)
                                           : gg_loss_parse(text, &out->loss, &why);
    if (status == GG_OK && row->kind == LOSS && out->loss == GG_LOSS_CROSS_ENTROPY)
        return gg_fail(error, GG_E_ARGUMENT,
                       "HyperParameters: loss_fn must be one of importance_sampling, ppo, cispo");
    return status == GG_OK
               ? GG_OK
               : gg_fail(error, GG_E_ARGUMENT, "HyperParameters: %s: %s", row->name, why.text);
}

static gg_status read_one(const hyper *row, const owner *whose, const cJSON *value, gg_hyper *out,
                          gg_error *error)
{
    if (row->kind == LIST)
        return read_list(value, out, error);
    if (row->kind == METHOD || row->kind == LOSS)
        return read_name(row, value, out, error);
    return read_value(row, bounds_of(row, whose), value, out, error);
}

static void fill_defaults(const owner *whose, gg_hyper *out)
{
    static const int64_t pass_k[] = {1, 2, 4, 8, 16, 32};
    for (size_t i = 0; i < ROWS; i++)
        if ((table[i].categories & bit_of(whose->of)) && table[i].kind < METHOD)
            put(out, &table[i], bounds_of(&table[i], whose)->fallback);
    out->adam.learning_rate = default_rate(whose->base_id);
    out->advantage = GG_ADV_GROUP_BASED;
    out->loss = GG_LOSS_PPO;
    memcpy(out->pass_k, pass_k, sizeof pass_k);
    out->pass_k_count = sizeof pass_k / sizeof *pass_k;
}

/* ---- names ---- */

/* In fixed places on the way: what the recipes do not let anybody change. */
static const char *const fixed[] = {
    "rollout_tps", "val_batch_size",      "val_group_size",         "save_every",
    "gamma",       "max_sequence_length", "advantage_normalization"};

static gg_status unknown_name(const char *name, gg_hyper_of of, gg_error *error)
{
    const char *names[ROWS];
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(fixed[i], name) == 0)
            return gg_fail(error, GG_E_ARGUMENT, "HyperParameters: %s cannot be set", name);
    for (size_t i = 0; i < ROWS; i++)
        names[i] = table[i].categories & bit_of(of) ? table[i].name : NULL;
    const char *near = gg_near_miss(name, names, ROWS);
    return gg_fail(error, GG_E_ARGUMENT, "HyperParameters: %s jobs have no %.64s%s%s%s",
                   of == GG_HYPER_TRAIN ? "training" : "evaluation", name,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

gg_status gg_hyper_read(gg_hyper_of of, const char *base_id, const cJSON *object, gg_hyper *out,
                        gg_error *error)
{
    const owner whose = {of, base_id};
    const cJSON *item;
    gg_status status = GG_OK;
    *out = (gg_hyper){0};
    fill_defaults(&whose, out);
    if (object && !cJSON_IsObject(object))
        return gg_fail(error, GG_E_ARGUMENT, "HyperParameters must be an object");
    cJSON_ArrayForEach(item, object)
    {
        size_t i = 0;
        while (i < ROWS &&
               (strcmp(table[i].name, item->string) != 0 || !(table[i].categories & bit_of(of))))
            i++;
        if (status == GG_OK && cJSON_IsObject(item))
            status = gg_fail(error, GG_E_ARGUMENT,
                             "HyperParameters: %.64s must be a text; they are one flat list",
                             item->string);
        else if (status == GG_OK && i == ROWS)
            status = unknown_name(item->string, of, error);
        else if (status == GG_OK)
            status = read_one(&table[i], &whose, item, out, error);
    }
    return status;
}

gg_status gg_hyper_check(gg_hyper_of of, const char *base_id, const char *name, const char *value,
                         gg_error *error)
{
    gg_hyper scratch;
    cJSON *object = cJSON_CreateObject();
    bool made = object && cJSON_AddStringToObject(object, name, value);
    gg_status status = made ? gg_hyper_read(of, base_id, object, &scratch, error)
                            : gg_fail(error, GG_E_MEMORY, "out of memory for a hyperparameter");
    cJSON_Delete(object);
    return status;
}

/* ---- the schema ---- */

void gg_hyper_schema(gg_hyper_of of, gg_buf *out)
{
    const owner any = {of, ""};
    bool first = true;
    for (size_t i = 0; i < ROWS; i++) {
        const hyper *row = &table[i];
        const bounds *b = bounds_of(row, &any);
        if (!(row->categories & bit_of(of)))
            continue;
        gg_buf_printf(out, "%s\"%s\":{\"type\":[\"string\",\"number\",\"array\"]", first ? "" : ",",
                      row->name);
        first = false;
        if (row->kind < METHOD && row->kind != CHOICE)
            gg_buf_printf(out, ",\"description\":\"from %g to %g, default %g\"", b->low, b->high,
                          row->kind == ABOVE ? default_rate(any.base_id) : b->fallback);
        gg_buf_char(out, '}');
    }
}
