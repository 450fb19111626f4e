/* A play of the search game on the small corpus (tests/corpus_make.h). Failures fail the test. */
#ifndef GG_TESTS_SEARCH_PLAY_H
#define GG_TESTS_SEARCH_PLAY_H

#include "tests/play.h"

#define SEARCH_TEXT_ROOM (1u << 20)
#define TASK(answer)                                                                               \
    "{\"id\":\"q1\",\"prompt\":\"What orders or maps "                                             \
    "things?\",\"kind\":\"two\",\"answer\":" answer "}"
/* Ideal DCG@10: 2/log2(2) + 1/log2(3) = 2.630930. */
#define ANSWER                                                                                     \
    "[{\"id\":\"a00\",\"grade\":2},{\"id\":\"a03\",\"grade\":1},{\"id\":\"a08\",\"grade\":0}]"
#define RANK(ids) "{\"document_ids\":[" ids "]}"

/* For cmocka_run_group_tests: a folder with the corpus and its index. */
int search_make(void **state);
int search_drop(void **state);
/* A path in that folder (tests/folder.h). */
const char *search_path(const char *name);
/* The game's settings; `more` begins with a comma. Overwritten by the next call. */
const char *search_settings(const char *more);
/* Opens the game and starts TASK(ANSWER). */
void search_open(play *p);
void search_ask(play *p, const char *tool, const char *query);
void search_near(double got, double want);

#endif
