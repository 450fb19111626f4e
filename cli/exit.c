#include "cli/exit.h"

#include <stddef.h>

static const struct {
    gg_exit starting, working;
} codes[] = {
    [GG_OK] = {GG_EXIT_OK, GG_EXIT_OK},
    [GG_E_MEMORY] = {GG_EXIT_INTERNAL, GG_EXIT_INTERNAL},
    [GG_E_ARGUMENT] = {GG_EXIT_USAGE, GG_EXIT_INTERNAL},
    [GG_E_CONFIG] = {GG_EXIT_USAGE, GG_EXIT_USAGE},
    [GG_E_IO] = {GG_EXIT_USAGE, GG_EXIT_INTERNAL},
    [GG_E_FORMAT] = {GG_EXIT_USAGE, GG_EXIT_INTERNAL},
    [GG_E_LIMIT] = {GG_EXIT_USAGE, GG_EXIT_INTERNAL},
    [GG_E_LOCKED] = {GG_EXIT_USAGE, GG_EXIT_USAGE},
    [GG_E_UNREACHABLE] = {GG_EXIT_UNREACHABLE, GG_EXIT_UNREACHABLE},
    [GG_E_PROTOCOL] = {GG_EXIT_UNREACHABLE, GG_EXIT_UNREACHABLE},
    [GG_E_STATE] = {GG_EXIT_INTERNAL, GG_EXIT_INTERNAL},
    [GG_E_INTERRUPTED] = {GG_EXIT_INTERRUPTED, GG_EXIT_INTERRUPTED},
};

static const gg_exit_row meanings[] = {
    {GG_EXIT_OK, "done"},
    {GG_EXIT_INTERNAL, "internal error, full disk or short memory"},
    {GG_EXIT_USAGE, "wrong usage, configuration or input file; env-check: a broken rule"},
    {GG_EXIT_UNREACHABLE, "the endpoint does not answer, or refuses us"},
    {GG_EXIT_ERRORED, "finished, but more episodes errored than --max-errored allows"},
    {GG_EXIT_THRESHOLD, "a threshold such as --min-solve-rate was missed"},
    {GG_EXIT_INTERRUPTED, "interrupted; what was done is kept"},
};

gg_exit gg_exit_code(gg_status status, gg_phase phase)
{
    size_t i = (size_t)status;
    if (i >= sizeof codes / sizeof *codes)
        return GG_EXIT_INTERNAL;
    return phase == GG_STARTING ? codes[i].starting : codes[i].working;
}

const gg_exit_row *gg_exit_meaning(unsigned index)
{
    return index < sizeof meanings / sizeof *meanings ? &meanings[index] : NULL;
}
