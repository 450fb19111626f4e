#include "report/training.h"

#include <math.h>

#include "core/json.h"

static double number(const cJSON *line, const char *name)
{
    double value = NAN;
    gg_json_number(line, name, &value);
    return value;
}

static int64_t whole(const cJSON *line, const char *name)
{
    int64_t value = 0;
    gg_json_int(line, name, &value);
    return value;
}

static void add_tokens(int64_t *sum, const cJSON *tokens, const char *name)
{
    int64_t value = 0;
    bool known = gg_json_int(tokens, name, &value);
    *sum = *sum == GG_TOKENS_UNKNOWN || !known ? GG_TOKENS_UNKNOWN : *sum + value;
}

static void add_ledger(gg_training_figures *f, const cJSON *ledger)
{
    f->planned += whole(ledger, "planned");
    for (int i = 0; i < GG_OUTCOME_COUNT; i++)
        f->by_outcome[i] += whole(ledger, gg_outcome_name((gg_outcome)i));
}

static void add_validation(gg_training_figures *f, const cJSON *line, int64_t step)
{
    double rate = number(line, "val/solve_rate");
    if (isnan(rate))
        return;
    if (isnan(f->val_before)) {
        f->val_before = rate;
        f->val_before_step = step;
    }
    f->val_after = rate;
    f->val_after_step = step;
}

static void add_step(gg_training_figures *f, const cJSON *line, int64_t step)
{
    f->steps = step;
    f->plays += whole(line, "plays");
    f->weight_version = whole(line, "weight_version");
    f->groups += whole(line, "training/num_groups");
    f->groups_without_signal += whole(line, "analysis/zero_adv_groups");
    f->groups_refused += whole(line, "analysis/refused_groups");
    f->stale_datums += whole(line, "training/stale_datums");
    if (isnan(f->first_solve_rate))
        f->first_solve_rate = number(line, "rollout/solve_rate");
    f->last_solve_rate = number(line, "rollout/solve_rate");
    f->cost_usd = number(line, "cost_usd");
}

static gg_status add_line(void *context, const char *text, size_t len, size_t number_of_line,
                          gg_error *error)
{
    gg_training_figures *f = context;
    cJSON *line = NULL;
    int64_t step = 0;
    gg_status status = gg_json_parse(text, len, &line, error);
    if (status == GG_OK && !gg_json_int(line, "step", &step))
        status = gg_fail(error, GG_E_FORMAT, "no step");
    if (status == GG_OK) {
        add_ledger(f, gg_json_get(line, "ledger"));
        const cJSON *tokens = gg_json_get(line, "tokens");
        add_tokens(&f->prefill, tokens, "prefill");
        add_tokens(&f->sample, tokens, "sample");
        add_tokens(&f->train, tokens, "train");
        f->wall_s += number(line, "wall_s");
        gg_health_read(&f->health, gg_json_get(line, "health"));
        add_validation(f, line, step);
        if (step > 0)
            add_step(f, line, step);
    } else {
        gg_fail_prefix(error, "metrics.jsonl, line %zu", number_of_line);
    }
    cJSON_Delete(line);
    return status;
}

gg_status gg_training_read(const gg_run *run, gg_training_figures *out, gg_error *error)
{
    *out = (gg_training_figures){.first_solve_rate = NAN,
                                 .last_solve_rate = NAN,
                                 .val_before = NAN,
                                 .val_after = NAN,
                                 .cost_usd = NAN};
    return gg_run_each(run, GG_JOURNAL_METRICS, add_line, out, error);
}

static void member_int(gg_buf *out, const char *name, int64_t value)
{
    gg_buf_printf(out, ",\"%s\":", name);
    if (value == GG_TOKENS_UNKNOWN)
        gg_buf_str(out, "null");
    else
        gg_buf_int(out, value);
}

static void member_real(gg_buf *out, const char *name, double value)
{
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_double(out, value);
}

static void member_text(gg_buf *out, const char *name, const char *value)
{
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_json_str(out, value);
}

void gg_training_write(const gg_training_figures *f, const gg_summary_list *list,
                       const char *adapter, const char *stopped, gg_buf *out)
{
    gg_buf_str(out, "{\"command\":\"train\"");
    member_int(out, "steps", f->steps);
    member_int(out, "plays", f->plays);
    member_int(out, "weight_version", f->weight_version);
    member_int(out, "planned", f->planned);
    for (int i = GG_SOLVED; i < GG_OUTCOME_COUNT; i++)
        member_int(out, gg_outcome_name((gg_outcome)i), f->by_outcome[i]);
    member_real(out, "first_solve_rate", f->first_solve_rate);
    member_real(out, "last_solve_rate", f->last_solve_rate);
    member_real(out, "val_before", f->val_before);
    member_real(out, "val_after", f->val_after);
    member_int(out, "groups", f->groups);
    member_int(out, "groups_without_signal", f->groups_without_signal);
    member_int(out, "groups_refused", f->groups_refused);
    member_int(out, "stale_datums", f->stale_datums);
    gg_buf_str(out, ",\"tokens\":{\"prefill\":");
    const int64_t tokens[] = {f->prefill, f->sample, f->train};
    static const char *const names[] = {"", ",\"sample\":", ",\"train\":"};
    for (int i = 0; i < 3; i++) {
        gg_buf_str(out, names[i]);
        if (tokens[i] == GG_TOKENS_UNKNOWN)
            gg_buf_str(out, "null");
        else
            gg_buf_int(out, tokens[i]);
    }
    gg_buf_char(out, '}');
    member_real(out, "cost_usd", f->cost_usd);
    member_real(out, "wall_s", f->wall_s);
    gg_buf_str(out, ",\"list\":{\"name\":");
    gg_buf_json_str(out, list->name);
    gg_buf_printf(out, ",\"count\":%zu,\"identity\":\"%s\"}", list->count, list->identity);
    gg_warning warnings[GG_WARNINGS_MAX];
    size_t count = gg_health_warnings(&f->health, true, warnings);
    gg_buf_str(out, ",\"warnings\":");
    gg_warnings_write(warnings, count, out);
    member_text(out, "adapter", adapter);
    member_text(out, "stopped", stopped);
    gg_buf_char(out, '}');
}
