#include "train/preflight.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINDINGS_AT_FIRST 32

const char *gg_severity_name(gg_severity severity)
{
    static const char *const names[] = {
        [GG_HOLDS] = "ok", [GG_REMARK] = "note", [GG_DOUBT] = "warn", [GG_FAULT] = "fail"};
    return names[severity];
}

void gg_findings_add(gg_findings *findings, const char *check, gg_severity severity,
                     const char *format, ...)
{
    va_list arguments;

    if (findings->count == findings->room) {
        size_t room = findings->room ? 2 * findings->room : FINDINGS_AT_FIRST;
        gg_finding *grown = realloc(findings->items, room * sizeof *grown);
        if (!grown) {
            findings->no_memory = true;
            return;
        }
        findings->items = grown;
        findings->room = room;
    }
    gg_finding *finding = &findings->items[findings->count++];
    finding->check = check;
    finding->severity = severity;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

size_t gg_findings_count(const gg_findings *findings, gg_severity severity)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->items[i].severity == severity;
    return count;
}

void gg_findings_free(gg_findings *findings)
{
    free(findings->items);
    *findings = (gg_findings){0};
}

double gg_plan_number(const gg_job_plan *plan, const char *name, double otherwise)
{
    for (size_t i = 0; i < plan->value_count; i++)
        if (strcmp(plan->values[i].name, name) == 0)
            return strtod(plan->values[i].text, NULL);
    return otherwise;
}

gg_status gg_preflight_run(const gg_preflight *preflight, gg_findings *out, gg_error *error)
{
    gg_check_places(preflight, out);
    gg_check_values(preflight, out);
    gg_check_rows(preflight, out);
    gg_check_budget(preflight, out);
    gg_check_roles(preflight, out);
    return out->no_memory ? gg_fail(error, GG_E_MEMORY, "out of memory") : GG_OK;
}
