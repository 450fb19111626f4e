#include "core/price.h"

#include <math.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"

/* As seen in the public test data of a cost guard that reads the provider's price list (us-west-2).
 */
static const gg_price table[] = {
    {GG_PRICE_MODEL, 0.12, 0.30, 0.36, GG_PRICES_DATE},
};

gg_status gg_price_find(const char *model, gg_price *out, gg_error *error)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].model, model)) {
            *out = table[i];
            return GG_OK;
        }
    return gg_fail(error, GG_E_CONFIG,
                   "no price is known for model '%s'; known is '%s', others by --prices FILE",
                   model, table[0].model);
}

/* A number of dollars; 1e999 reads as infinity. */
static bool read_figure(const cJSON *row, const char *name, double *out)
{
    return gg_json_number(row, name, out) && *out >= 0 && isfinite(*out);
}

static gg_status pick(const cJSON *root, const char *path, const char *model, gg_price *out,
                      gg_error *error)
{
    const cJSON *row = gg_json_get(root, model);
    *out = (gg_price){0};
    if (!row || strlen(model) >= sizeof out->model)
        return gg_fail(error, GG_E_CONFIG, "%s: no prices of model '%s'", path, model);
    memcpy(out->model, model, strlen(model) + 1);
    const char *date = gg_json_text(row, "date");
    bool ok = read_figure(row, "prefill", &out->prefill) &&
              read_figure(row, "sample", &out->sample) && read_figure(row, "train", &out->train) &&
              (!date || strlen(date) < sizeof out->date);
    if (!ok)
        return gg_fail(error, GG_E_CONFIG,
                       "%s: model '%s' needs prefill, sample and train, dollars a million tokens, "
                       "none negative, and a "
                       "date of at most %zu characters",
                       path, model, sizeof out->date - 1);
    if (date)
        memcpy(out->date, date, strlen(date) + 1);
    return GG_OK;
}

gg_status gg_price_read(const char *path, const char *model, gg_price *out, gg_error *error)
{
    gg_buf text;
    cJSON *root = NULL;
    gg_buf_init(&text, GG_FILE_MAX);
    gg_status status = gg_file_read(path, &text, error);
    if (status == GG_OK) {
        status = gg_json_parse(gg_buf_cstr(&text), text.len, &root, error);
        if (status != GG_OK)
            gg_fail_prefix(error, "%s", path);
    }
    if (status == GG_OK)
        status = pick(root, path, model, out, error);
    cJSON_Delete(root);
    gg_buf_free(&text);
    return status;
}

double gg_price_cost(const gg_price *price, int64_t prefill, int64_t sample, int64_t train)
{
    return ((double)prefill * price->prefill + (double)sample * price->sample +
            (double)train * price->train) /
           1e6;
}
