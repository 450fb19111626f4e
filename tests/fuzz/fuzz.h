/*
 * What the fuzz targets share. A target is one file fuzz_NAME.c with an LLVMFuzzerTestOneInput;
 * its seeds lie in seeds/NAME/. What a target claims of every input is a `must`.
 */
#ifndef GG_TESTS_FUZZ_H
#define GG_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/toolcall.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(claim)                                                                                \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #claim);             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The input as a string of its own, whose end the sanitizer watches. The caller frees. */
char *fuzz_text(const uint8_t *data, size_t size);
/* The input as a file that is read by its path; the same path every time. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* Looks for calls in a reply, and claims of what is found all that the agent relies on: a call that
 * may run names a tool and has an object as its arguments; the conversation with reply, calls and
 * answers in it is valid JSON. */
void fuzz_calls(const gg_reply *reply);

#endif
