/*
 * Allocation failure on purpose.
 *
 * Every test program is linked so that malloc, calloc, realloc, strdup and strndup of the library
 * and of the test itself come here (linker option --wrap), and cJSON is told to use them too. Other
 * shared libraries keep their own. Leaks on the failing paths are found by the address sanitizer.
 *
 * Threads: the counter is one a thread; only the thread that asked sees failures.
 */
#ifndef GG_TESTS_ALLOC_H
#define GG_TESTS_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include <guessgym/error.h>

/* The n-th allocation from now on fails, once; 0 = none. Starts the count anew. */
void alloc_fail_at(size_t n);
/* Allocations since alloc_fail_at, the failed one included. */
size_t alloc_count(void);
/* Whether the failure has happened. */
bool alloc_failed(void);

/* Runs `once` with its first allocation failing, then its second, and so on until a run asks for
 * fewer. A failing run must answer GG_E_MEMORY, or GG_OK where the code does without; the last run
 * GG_OK. Anything else fails the test. `once` sets up and frees all it needs. Returns the number of
 * failing runs. */
size_t alloc_each_fails(gg_status (*once)(void *context), void *context);

#endif
