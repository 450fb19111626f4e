/* A small corpus with known questions, for tests of the search room. Failures fail the test. */
#ifndef GG_TESTS_CORPUS_MAKE_H
#define GG_TESTS_CORPUS_MAKE_H

#include "tests/folder.h"

#define CORPUS_DOCUMENTS 240

/* Writes corpus.jsonl: ten documents to be found by their words (a00 .. a09) among others that
 * share only common ones (x000 ...). */
void corpus_write(const char *folder);
/* The same, and its index in FOLDER/index. */
void corpus_index(const char *folder);

#endif
