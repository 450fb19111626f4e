#include "core/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

struct gg_pattern {
    pcre2_code *code;
    pcre2_match_context *limits;
};

gg_status gg_pattern_compile(const char *expression, gg_pattern **out, gg_error *error)
{
    int number = 0;
    PCRE2_SIZE place = 0;
    gg_pattern *pattern = calloc(1, sizeof *pattern);
    *out = NULL;
    if (!pattern)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a pattern");
    /* Anchored here, not at match time, which would turn the JIT off. */
    pattern->code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
                                  PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY,
                                  &number, &place, NULL);
    pattern->limits = pcre2_match_context_create(NULL);
    if (!pattern->code || !pattern->limits) {
        PCRE2_UCHAR text[256] = "out of memory";
        if (!pattern->code)
            pcre2_get_error_message(number, text, sizeof text);
        gg_pattern_free(pattern);
        return gg_fail(error, GG_E_ARGUMENT, "pattern \"%s\", byte %zu: %s", expression,
                       (size_t)place, (char *)text);
    }
    pcre2_set_match_limit(pattern->limits, GG_PATTERN_STEPS);
    (void)pcre2_jit_compile(pattern->code,
                            PCRE2_JIT_COMPLETE); /* without it the interpreter does the same */
    *out = pattern;
    return GG_OK;
}

void gg_pattern_free(gg_pattern *pattern)
{
    if (!pattern)
        return;
    pcre2_code_free(pattern->code);
    pcre2_match_context_free(pattern->limits);
    free(pattern);
}

bool gg_pattern_is(const gg_pattern *pattern, const char *text, size_t len)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    if (!data)
        return false;
    int found = pcre2_match(pattern->code, (PCRE2_SPTR)text, len, 0, 0, data, pattern->limits);
    pcre2_match_data_free(data);
    return found >= 0;
}
