#include "tests/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#define RUNS_MAX 100000

static _Thread_local size_t count, failing;

/* Names that the linker's --wrap option fixes. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);

static bool fails(void)
{
    return ++count == failing;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strndup(const char *text, size_t len)
{
    size_t used = strnlen(text, len);
    char *copy = fails() ? NULL : __real_malloc(used + 1);
    if (copy) {
        memcpy(copy, text, used);
        copy[used] = '\0';
    }
    return copy;
}

char *__wrap_strdup(const char *text)
{
    return __wrap_strndup(text, SIZE_MAX);
}

void alloc_fail_at(size_t n)
{
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = __wrap_malloc, .free_fn = free});
    count = 0;
    failing = n;
}

size_t alloc_count(void)
{
    return count;
}

bool alloc_failed(void)
{
    return failing && count >= failing;
}

size_t alloc_each_fails(gg_status (*once)(void *context), void *context)
{
    for (size_t n = 1; n < RUNS_MAX; n++) {
        alloc_fail_at(n);
        gg_status status = once(context);
        bool failed = alloc_failed();
        alloc_fail_at(0);
        if (status != GG_OK && !(failed && status == GG_E_MEMORY))
            fail_msg("allocation %zu failing gave \"%s\"", n, gg_status_name(status));
        if (!failed)
            return n - 1;
    }
    fail_msg("more than %d allocations", RUNS_MAX);
    return 0;
}
