/* What the files of the search game share. */
#ifndef GG_ENV_SEARCH_GAME_H
#define GG_ENV_SEARCH_GAME_H

#include "env/search/ndcg.h"
#include "env/search/page.h"
#include "env/search/search.h"
#include "env/search/texts.h"

#define GG_QUERY_MAX    1000 /* bytes of a query */
#define GG_K_MAX        20
#define GG_K_DEFAULT    10
#define GG_TEXT_ROOM    (8u << 20) /* of what a play keeps: 1,000 calls of 20 ids of 256 bytes */
#define GG_JUDGED_MAX   4096       /* judged documents of a question */
#define GG_QUESTION_MAX (64u << 10)

struct gg_env {
    gg_index *index;
    gg_pages *pages;
    char *dir;
    double solved_at;
    int turns, calls, k;
    gg_buf system, splits[3];
};

/* A dataset row. */
typedef struct gg_question {
    gg_buf id, text, kind;
    gg_buf ids; /* the judged documents' ids, each with a NUL */
    int *grades;
    size_t judged;
} gg_question;

gg_status gg_question_read(const char *prompt, gg_question *out, gg_error *error);
void gg_question_free(gg_question *question);
/* The grade of a document, 0 when it was not judged. */
int gg_question_grade(const gg_question *question, const char *id);

struct gg_play {
    const gg_env *env;
    gg_question question;
    gg_buf shown; /* "\nid\nid\n": every document that was shown */
    gg_buf asked; /* "\nkind k query\n": every search */
    gg_buf text;  /* scratch */
    bool over;
};

/* Begins a call's facts: {"kind":...; what follows begins with a comma. */
void gg_search_open_facts(const gg_play *play, gg_buf *facts);
gg_status gg_search_call(gg_play *play, const char *tool, const char *arguments, gg_result *result,
                         gg_error *error);
gg_status gg_search_text(gg_play *play, const char *reply, bool *taken, gg_result *result,
                         gg_error *error);

/* ranking.c */
typedef struct gg_ranking {
    char ids[S_RANKED_MAX][GG_DOCUMENT_ID_MAX + 1];
    size_t count;
} gg_ranking;
/* A ranking ends the play. */
void gg_search_end(gg_play *play, const gg_ranking *ranking, gg_result *result);
/* Reads the argument; what is wrong with it goes into the result. False when it cannot count. */
bool gg_ranking_read(gg_play *play, const char *arguments, gg_ranking *out, gg_result *result,
                     gg_status *status, gg_error *error);

#define GG_SEARCH_PARTS 7
extern const gg_part_info gg_search_part_table[GG_SEARCH_PARTS];
double gg_search_measure(const gg_env *env, const gg_episode *episode);
void gg_search_parts(const gg_env *env, const gg_episode *episode, gg_part_fn each, void *context);
void gg_search_labels(const gg_env *env, const gg_episode *episode, gg_label_fn each,
                      void *context);
gg_status gg_search_render(const gg_env *env, const gg_episode *episode, gg_render_style style,
                           gg_buf *out, gg_error *error);

#endif
