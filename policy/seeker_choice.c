#include "policy/seeker_choice.h"

#include <math.h>
#include <string.h>

/* The state's features go up and down together; at full size a step would move a tool's score by
 * several times what it moves a word's. */
#define STATE_SCALE 0.4
#define TURN_SCALE  10.0
#define LATE_TURN   8
#define WORD_SCALE  8.0
#define FRAME       0 /* the part of a question before its first colon */

_Static_assert(GG_SEEK_WORDS_AT <= GG_SEEK_ROW && (int)GG_WORD_FEATURES <= GG_SEEK_ROW &&
                   (int)GG_DOC_FEATURES <= GG_SEEK_ROW && GG_SEEK_DOCUMENTS_MAX <= GG_SEEK_CHOICES,
               "every choice must have room");

#define TOOL(tool, state) ((tool - 1) * GG_SEEK_STATES + (state))
#define WORD(feature)     (GG_SEEK_WORDS_AT + (feature))
#define DOC(feature)      (GG_SEEK_DOCS_AT + (feature))

/* The untrained policy takes any tool, short queries of any of the question's words, and hardly
 * heeds the ranks. docs/seeker.md has the same figures. */
const double gg_seeker_base[GG_SEEK_WEIGHTS] = {
    [TOOL(GG_SEEK_SUBMIT, GG_SEEK_ONE)] = -2.5,
    [WORD(GG_WORD_RARE)] = 1,
    [WORD(GG_WORD_READ)] = -1.5,
    [WORD(GG_WORD_LEAD)] = -1.5,
    [WORD(GG_WORD_END)] = 1,
    [WORD(GG_WORD_END_COUNT)] = 2,
    [DOC(GG_DOC_FUSED)] = 1,
    [DOC(GG_DOC_COVER)] = 1,
};

static double *add_row(gg_seek_choice *c, int32_t token)
{
    double *row = c->feature[c->count];
    memset(row, 0, c->width * sizeof *row);
    c->token[c->count++] = token;
    return row;
}

/* ---- tools ---- */

static void set_state(const gg_seeker_state *s, double *out)
{
    const gg_seek_result *last = s->result_count ? &s->results[s->result_count - 1] : NULL;
    int agreed = 0;
    bool leads = false;
    for (int i = 0; i < s->document_count; i++)
        agreed += s->documents[i].results > 1;
    for (int i = s->asked; i < s->word_count && !leads; i++)
        leads = s->words[i].kind == GG_WORD_OF_TWO && !s->words[i].used;
    out[GG_SEEK_ONE] = 1;
    out[GG_SEEK_TURN] = (s->turn - 1) / TURN_SCALE;
    out[GG_SEEK_LATE] = s->turn > LATE_TURN;
    out[GG_SEEK_NEW] = last && last->hits ? (double)last->fresh / last->hits : 0;
    out[GG_SEEK_AGREED] = s->document_count ? (double)agreed / s->document_count : 0;
    out[GG_SEEK_DONE] = gg_seeker_done(s);
    out[GG_SEEK_LEADS] = leads;
    out[GG_SEEK_DONE_OPEN] = leads ? out[GG_SEEK_DONE] : 0;
    for (int i = 0; i < GG_SEEK_STATES; i++)
        out[i] *= i == GG_SEEK_LATE ? 1 : STATE_SCALE;
}

/* A page without a new document ends the search: no reward asks for fewer searches, and a trained
 * policy would go on until its replies are used up. */
static bool exhausted(const gg_seeker_state *s)
{
    const gg_seek_result *last = s->result_count ? &s->results[s->result_count - 1] : NULL;
    return last && last->hits > 0 && last->fresh == 0 && s->offered[GG_SEEK_SUBMIT];
}

static void list_tools(const gg_seeker_state *s, gg_seek_choice *c)
{
    double state[GG_SEEK_STATES];
    c->at = 0;
    c->width = GG_SEEK_WORDS_AT;
    set_state(s, state);
    for (int tool = 0; tool < GG_SEEK_TOOLS; tool++) {
        bool allowed = tool == GG_SEEK_SUBMIT ? s->document_count > 0 : !exhausted(s);
        if (!s->offered[tool] || !allowed)
            continue;
        double *row = add_row(c, s->vocabulary->tools[tool]);
        if (tool > 0)
            memcpy(row + TOOL(tool, 0), state, sizeof state);
    }
}

/* ---- words of a query ---- */

static bool same_kind(const gg_seeker_state *s, const gg_seek_word *w)
{
    if (w->kind != GG_WORD_OF_QUESTION || s->first_kind != GG_WORD_OF_QUESTION)
        return w->kind == s->first_kind;
    return w->parts & s->first_parts;
}

static void set_word(const gg_seeker_state *s, const gg_seek_word *w, double done, double *row)
{
    double fresh = 0;
    row[GG_WORD_USED] = w->used;
    row[GG_WORD_SAME] = s->query_words > 0 && same_kind(s, w);
    switch (w->kind) {
    case GG_WORD_OF_QUESTION:
        for (int part = 0; part < s->parts; part++)
            if (w->parts >> part & 1 && 1 - gg_seeker_spent(s, part) > fresh)
                fresh = 1 - gg_seeker_spent(s, part);
        row[GG_WORD_RARE] = w->rarity;
        row[GG_WORD_FRAME] = s->parts > 1 && w->parts == 1u << FRAME;
        row[GG_WORD_FRESH] = fresh;
        row[GG_WORD_SPENT] = done;
        break;
    case GG_WORD_OF_TWO:
        row[GG_WORD_RARE] = w->rarity;
        row[GG_WORD_LEAD] = 1;
        row[GG_WORD_LEAD_DONE] = done;
        break;
    default:
        row[GG_WORD_READ] = 1;
        row[GG_WORD_READ_RARE] = w->rarity;
        break;
    }
}

/* The share, by rarity, of what the query began with that it holds by now. */
static double covered(const gg_seeker_state *s)
{
    double most = 0;
    for (int part = 0; part < s->parts; part++)
        if (s->first_kind == GG_WORD_OF_QUESTION && s->first_parts >> part & 1 &&
            s->mass[part] > 0 && s->query[part] / s->mass[part] > most)
            most = s->query[part] / s->mass[part];
    return most;
}

static void list_words(const gg_seeker_state *s, gg_seek_choice *c)
{
    double done = gg_seeker_done(s);
    c->at = GG_SEEK_WORDS_AT;
    c->width = GG_WORD_FEATURES;
    for (int i = 0; i < s->word_count && s->query_words < GG_SEEK_QUERY_MAX; i++) {
        const gg_seek_word *w = &s->words[i];
        if (!w->picked)
            set_word(s, w, done, add_row(c, s->query_words ? w->lexeme.spaced : w->lexeme.plain));
    }
    if (c->count > 0 && s->query_words == 0)
        return;
    double *row = add_row(c, gg_seeker_query_end(s));
    bool lead = s->query_words > 0 && s->first_kind != GG_WORD_OF_QUESTION;
    row[GG_WORD_END] = 1;
    row[GG_WORD_END_COUNT] = s->query_words / WORD_SCALE;
    row[GG_WORD_END_COVER] = covered(s);
    row[GG_WORD_END_LEAD] = lead;
    row[GG_WORD_END_LEADS] = lead ? s->query_words / WORD_SCALE : 0;
}

/* ---- documents ---- */

static double inverse(int rank)
{
    return rank ? 1.0 / rank : 0;
}

static double title_asked(const gg_seeker_state *s, const gg_seek_document *d)
{
    int asked = 0;
    for (int i = 0; i < d->title_count; i++) {
        int32_t key = s->vocabulary->lexicon.lexemes[d->words[i]].key;
        for (int w = 0; w < s->asked; w++)
            asked += s->words[w].lexeme.key == key;
    }
    return d->title_count ? (double)asked / d->title_count : 0;
}

static void set_document(const gg_seeker_state *s, const gg_seek_document *d, double *row)
{
    for (int part = s->parts > 1 ? FRAME + 1 : FRAME; part < s->parts; part++) {
        bool served = s->served >> part & 1;
        if (d->cover[part] > row[GG_DOC_COVER])
            row[GG_DOC_COVER] = d->cover[part];
        if (!served && d->cover[part] > row[GG_DOC_COVER_FRESH])
            row[GG_DOC_COVER_FRESH] = d->cover[part];
    }
    row[GG_DOC_RANK] = inverse(d->rank_lexical);
    row[GG_DOC_RANK_VECTOR] = inverse(d->rank_vector);
    row[GG_DOC_RANK_LEAD] = inverse(d->rank_leads);
    row[GG_DOC_FUSED] = s->result_count ? d->fused / s->result_count : 0;
    row[GG_DOC_BEST] = d->rank_lexical == 1 || d->rank_vector == 1;
    row[GG_DOC_NAMED] = d->named > 0;
    row[GG_DOC_NAMED_TWICE] = d->named > 1;
    row[GG_DOC_NAMED_RANK] = d->named > 1 ? inverse(d->rank_leads) : 0;
    row[GG_DOC_NAMED_FIRST] = d->named > 1 && s->submitted == 0;
    row[GG_DOC_TITLE_ASKED] = title_asked(s, d);
}

static void list_documents(const gg_seeker_state *s, gg_seek_choice *c)
{
    c->at = GG_SEEK_DOCS_AT;
    c->width = GG_DOC_FEATURES;
    for (int i = 0; i < s->document_count; i++) {
        const gg_seek_document *d = &s->documents[i];
        if (gg_seeker_alive(s, d))
            set_document(s, d, add_row(c, gg_seeker_id_token(s, d)));
    }
}

/* ---- the softmax ---- */

static double dot(const double *row, const double *weights, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += row[k] * weights[k];
    return sum;
}

void gg_seek_choose(const gg_seeker_state *s, const double *weights, gg_seek_choice *c)
{
    double most = -INFINITY, sum = 0;
    c->count = 0;
    switch (s->stage) {
    case GG_SEEK_STAGE_TOOL:
        list_tools(s, c);
        break;
    case GG_SEEK_STAGE_WORD:
        list_words(s, c);
        break;
    default:
        list_documents(s, c);
        break;
    }
    if (c->count <= 1) { /* certain, to the last bit */
        c->score[0] = c->log_sum = 0;
        c->p[0] = 1;
        return;
    }
    for (size_t a = 0; a < c->count; a++) {
        c->score[a] = dot(c->feature[a], weights + c->at, c->width);
        most = c->score[a] > most ? c->score[a] : most;
    }
    for (size_t a = 0; a < c->count; a++)
        sum += c->p[a] = exp(c->score[a] - most);
    for (size_t a = 0; a < c->count; a++)
        c->p[a] /= sum;
    c->log_sum = most + log(sum);
}

double gg_seek_logprob(const gg_seek_choice *c, int32_t token)
{
    double sum = 0, score = 0;
    size_t found = 0;
    for (size_t a = 0; a < c->count; a++) {
        if (c->token[a] != token)
            continue;
        score = c->score[a];
        sum += c->p[a];
        found++;
    }
    if (found == 0)
        return -INFINITY;
    if (found == c->count)
        return 0;
    return found == 1 ? score - c->log_sum : log(sum);
}

void gg_seek_add_gradient(const gg_seek_choice *c, int32_t token, double factor, double *sum)
{
    double chosen = 0;
    for (size_t a = 0; a < c->count; a++)
        chosen += c->token[a] == token ? c->p[a] : 0;
    if (!(chosen > 0) || c->count < 2)
        return;
    for (size_t a = 0; a < c->count; a++) {
        double share = (c->token[a] == token ? c->p[a] / chosen : 0) - c->p[a];
        for (size_t k = 0; k < c->width; k++)
            sum[c->at + k] += factor * share * c->feature[a][k];
    }
}
