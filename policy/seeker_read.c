#include "policy/seeker_read.h"

#include <string.h>

enum part {
    PART_BETWEEN,  /* messages */
    PART_TOOLS,    /* the names of the tools */
    PART_TEXT,     /* a message that tells nothing */
    PART_QUESTION, /* the first user message */
    PART_RESULT,   /* a tool message */
    PART_REPLY
};

enum field { FIELD_NONE = -1, FIELD_ID, FIELD_TITLE, FIELD_SNIPPET };

#define FRAME        0    /* the part of a question before its first colon */
#define LEAD_RARITY  0.25 /* commoner words lead nowhere */
#define SERVED_COVER 0.3  /* of a part, from which on a document is said to show it */
#define FUSE_AT      60
#define NAMED_MOST   2

void gg_seeker_start(gg_seeker_state *s, const gg_seek_vocabulary *vocabulary)
{
    memset(s, 0, sizeof *s);
    s->vocabulary = vocabulary;
    s->effort = GG_EFFORT_MEDIUM;
}

static gg_lexeme lexeme_of(const gg_seeker_state *s, int32_t id)
{
    return s->vocabulary->lexicon.lexemes[id];
}

static bool has_sign(const gg_seeker_state *s, int32_t id, enum gg_seek_sign sign)
{
    return s->vocabulary->signs[id] & sign;
}

/* ---- words by key ---- */

static int16_t *slot_of(gg_seeker_state *s, int32_t key)
{
    uint32_t at = (uint32_t)key * 2654435761u >> 16;
    while (s->slots[at % GG_SEEK_SLOTS] &&
           s->words[s->slots[at % GG_SEEK_SLOTS] - 1].lexeme.key != key)
        at++;
    return &s->slots[at % GG_SEEK_SLOTS];
}

static gg_seek_word *find_word(gg_seeker_state *s, int32_t key)
{
    int16_t at = *slot_of(s, key);
    return at ? &s->words[at - 1] : NULL;
}

static gg_seek_word *add_word(gg_seeker_state *s, gg_lexeme lexeme, enum gg_word_kind kind)
{
    gg_seek_word *w = &s->words[s->word_count++];
    *slot_of(s, lexeme.key) = (int16_t)s->word_count;
    *w = (gg_seek_word){.lexeme = lexeme,
                        .kind = (uint8_t)kind,
                        .rarity = s->vocabulary->lexicon.rarity[lexeme.key]};
    return w;
}

/* ---- the question ---- */

static void put_in_question(gg_seeker_state *s, int32_t id)
{
    if (s->colon && has_sign(s, id, GG_SIGN_BLANK) && s->parts < GG_SEEK_PARTS_MAX)
        s->parts++;
    s->colon = has_sign(s, id, GG_SIGN_COLON);
    gg_lexeme lexeme = lexeme_of(s, id);
    if (lexeme.key == GG_LEXICON_KEY_NONE)
        return;
    gg_seek_word *w = find_word(s, lexeme.key);
    if (!w && s->asked == GG_SEEK_ASKED_MAX)
        return;
    if (!w) {
        w = add_word(s, lexeme, GG_WORD_OF_QUESTION);
        s->asked = s->word_count;
    }
    int part = s->parts - 1;
    if (!(w->parts >> part & 1))
        s->mass[part] += w->rarity;
    w->parts |= (uint8_t)(1u << part);
}

double gg_seeker_spent(const gg_seeker_state *s, int part)
{
    return s->mass[part] > 0 ? s->spent[part] / s->mass[part] : 1;
}

double gg_seeker_done(const gg_seeker_state *s)
{
    double least = 1;
    for (int part = s->parts > 1 ? FRAME + 1 : FRAME; part < s->parts; part++) {
        double spent = gg_seeker_spent(s, part);
        least = spent < least ? spent : least;
    }
    return least;
}

/* ---- results ---- */

static gg_seek_document *line_of(gg_seeker_state *s)
{
    return &s->documents[s->document_count];
}

static void begin_line(gg_seeker_state *s)
{
    memset(line_of(s), 0, sizeof *line_of(s));
    s->field = FIELD_ID;
}

static void begin_result(gg_seeker_state *s)
{
    s->part = PART_RESULT;
    begin_line(s);
    if (s->result_count == GG_SEEK_RESULTS_MAX)
        s->result_count--; /* the last gives way */
    s->results[s->result_count++] =
        (gg_seek_result){.best = -1,
                         .tool = s->awaiting ? s->asked_tool : GG_SEEK_LEXICAL,
                         .of_question = !s->awaiting || s->asked_of_question};
    s->awaiting = false;
}

static gg_seek_document *find_document(gg_seeker_state *s, const gg_seek_document *line)
{
    for (int i = 0; i < s->document_count; i++)
        if (s->documents[i].id_count == line->id_count &&
            memcmp(s->documents[i].id, line->id, line->id_count * sizeof *line->id) == 0)
            return &s->documents[i];
    return NULL;
}

/* What of each part of the question stands in a line. */
static void set_cover(gg_seeker_state *s, gg_seek_document *d)
{
    bool seen[GG_SEEK_ASKED_MAX] = {false};
    for (int i = 0; i < d->word_count; i++) {
        const gg_seek_word *w = find_word(s, lexeme_of(s, d->words[i]).key);
        if (!w || w >= s->words + s->asked || seen[w - s->words])
            continue;
        seen[w - s->words] = true;
        for (int part = 0; part < s->parts; part++)
            if (w->parts >> part & 1)
                d->cover[part] += w->rarity / s->mass[part];
    }
}

static void better_rank(int *best, int rank)
{
    if (*best == 0 || rank < *best)
        *best = rank;
}

static void end_line(gg_seeker_state *s)
{
    gg_seek_document *line = line_of(s), *known = NULL;
    gg_seek_result *r = &s->results[s->result_count - 1];
    if (s->field < FIELD_TITLE || line->id_count == 0)
        return;
    known = find_document(s, line);
    if (!known && s->document_count == GG_SEEK_DOCUMENTS_MAX)
        return;
    if (!known) {
        set_cover(s, line);
        known = line;
        s->document_count++;
        r->fresh++;
    }
    int rank = ++r->hits;
    if (rank == 1)
        r->best = (int)(known - s->documents);
    known->results++;
    known->fused += (double)FUSE_AT / (FUSE_AT + rank);
    if (!r->of_question)
        better_rank(&known->rank_leads, rank);
    else
        better_rank(r->tool == GG_SEEK_VECTOR ? &known->rank_vector : &known->rank_lexical, rank);
}

static void put_text(gg_seeker_state *s, gg_seek_document *line, int32_t id)
{
    bool title = s->field == FIELD_TITLE;
    if (title && has_sign(s, id, GG_SIGN_COMMA) && line->title_count > 0)
        line->name_ends |= 1u << (line->title_count - 1);
    if (lexeme_of(s, id).key == GG_LEXICON_KEY_NONE || line->word_count == GG_SEEK_TEXT_MAX ||
        (title && line->title_count == GG_SEEK_TITLE_MAX))
        return;
    line->words[line->word_count++] = id;
    line->title_count = (uint8_t)(line->title_count + title);
}

static void put_in_result(gg_seeker_state *s, int32_t id)
{
    gg_seek_document *line = line_of(s);
    if (has_sign(s, id, GG_SIGN_LINE)) {
        end_line(s);
        begin_line(s);
    } else if (has_sign(s, id, GG_SIGN_FIELD) && s->field >= FIELD_ID && s->field < FIELD_SNIPPET) {
        s->field++;
    } else if (s->field == FIELD_ID) {
        if (line->id_count < GG_SEEK_ID_MAX)
            line->id[line->id_count++] = id;
        else
            s->field = FIELD_NONE;
    } else if (s->field != FIELD_NONE) {
        put_text(s, line, id);
    }
}

/* ---- leads ---- */

static bool was_used(const gg_seeker_state *s, int32_t key)
{
    for (int i = 0; i < s->used_count; i++)
        if (s->used[i] == key)
            return true;
    return false;
}

static void clear_leads(gg_seeker_state *s)
{
    if (s->word_count == s->asked)
        return;
    s->word_count = s->asked;
    memset(s->slots, 0, sizeof s->slots);
    for (int i = 0; i < s->asked; i++)
        *slot_of(s, s->words[i].lexeme.key) = (int16_t)(i + 1);
}

/* The words of one best document: those that another one holds too become leads. */
static void read_best(gg_seeker_state *s, const gg_seek_document *d, int before, bool last)
{
    for (int i = 0; i < d->word_count; i++) {
        gg_lexeme lexeme = lexeme_of(s, d->words[i]);
        gg_seek_word *w = find_word(s, lexeme.key);
        if (w && w - s->words < before && w->kind == GG_WORD_OF_LAST)
            w->kind = GG_WORD_OF_TWO;
        if (w || s->word_count == GG_SEEK_ASKED_MAX + GG_SEEK_LEADS_MAX ||
            s->vocabulary->lexicon.rarity[lexeme.key] < LEAD_RARITY)
            continue;
        w = add_word(s, lexeme, GG_WORD_OF_LAST);
        w->used = was_used(s, lexeme.key);
        w->parts = last; /* for drop_old */
    }
}

/* Leaves, of the words of one document alone, those of the last result's. */
static void drop_old(gg_seeker_state *s)
{
    int kept = s->asked;
    for (int i = s->asked; i < s->word_count; i++) {
        gg_seek_word w = s->words[i];
        if (w.kind == GG_WORD_OF_LAST && !w.parts)
            continue;
        w.parts = 0;
        s->words[kept++] = w;
    }
    s->word_count = kept;
    memset(s->slots, 0, sizeof s->slots);
    for (int i = 0; i < kept; i++)
        *slot_of(s, s->words[i].lexeme.key) = (int16_t)(i + 1);
}

/* The words that a query may hold beside those of the question. The newest result comes first, so
 * that its words find room. */
static void find_leads(gg_seeker_state *s)
{
    bool seen[GG_SEEK_DOCUMENTS_MAX] = {false}, last = true;
    clear_leads(s);
    for (int i = s->result_count - 1; i >= 0; i--) {
        int best = s->results[i].best;
        if (best < 0 || seen[best])
            continue;
        seen[best] = true;
        read_best(s, &s->documents[best], s->word_count, last);
        last = false;
    }
    if (!last)
        drop_old(s);
}

/* ---- replies ---- */

static void owe(gg_seeker_state *s, int32_t id)
{
    s->due[s->due_count++] = id;
}

static void owe_from_here(gg_seeker_state *s, enum gg_seek_stage after)
{
    s->stage = GG_SEEK_STAGE_DUE;
    s->after = (uint8_t)after;
    s->due_at = s->due_count = 0;
}

static void enter(gg_seeker_state *s, uint8_t stage)
{
    s->stage = stage;
    if (stage == GG_SEEK_STAGE_CLOSED)
        s->part = PART_BETWEEN;
}

static void begin_reply(gg_seeker_state *s)
{
    s->part = PART_REPLY;
    if ((s->offered[GG_SEEK_LEXICAL] || s->offered[GG_SEEK_VECTOR]) ||
        (s->offered[GG_SEEK_SUBMIT] && s->document_count > 0)) {
        find_leads(s);
        owe_from_here(s, GG_SEEK_STAGE_TOOL);
        owe(s, GG_TOKEN_CALL);
    } else {
        owe_from_here(s, GG_SEEK_STAGE_CLOSED);
        owe(s, s->vocabulary->no_tool);
        owe(s, GG_TOKEN_END);
    }
    s->turn++;
}

static bool holds(const gg_seeker_state *s, const gg_seek_document *d, int32_t key)
{
    for (int i = 0; i < d->word_count; i++)
        if (lexeme_of(s, d->words[i]).key == key)
            return true;
    return false;
}

/* Whether a text holds all words of one of a document's names. */
static bool names(const gg_seeker_state *s, const gg_seek_document *text, const gg_seek_document *d)
{
    bool all = true;
    for (int i = 0; i < d->title_count; i++) {
        all = all && holds(s, text, lexeme_of(s, d->words[i]).key);
        if (i + 1 < d->title_count && !(d->name_ends >> i & 1))
            continue;
        if (all)
            return true;
        all = true;
    }
    return false;
}

static void find_named(gg_seeker_state *s)
{
    bool seen[GG_SEEK_DOCUMENTS_MAX] = {false};
    for (int i = 0; i < s->document_count; i++) {
        s->documents[i].named = 0;
        s->documents[i].submitted = false;
    }
    for (int r = 0; r < s->result_count; r++) {
        int best = s->results[r].best;
        if (best < 0 || seen[best])
            continue;
        seen[best] = true;
        for (int i = 0; i < s->document_count; i++)
            if (i != best && s->documents[i].named < NAMED_MOST)
                s->documents[i].named += names(s, &s->documents[best], &s->documents[i]);
    }
}

static void begin_call(gg_seeker_state *s, int tool)
{
    const gg_seek_vocabulary *v = s->vocabulary;
    bool ranking = tool == GG_SEEK_SUBMIT;
    s->asked_tool = (uint8_t)tool;
    s->asked_of_question = true;
    s->query_words = s->submitted = s->spelled = 0;
    s->served = 0;
    memset(s->query, 0, sizeof s->query);
    for (int i = 0; i < s->word_count; i++)
        s->words[i].picked = false;
    if (ranking)
        find_named(s);
    owe_from_here(s, ranking ? GG_SEEK_STAGE_RANK : GG_SEEK_STAGE_WORD);
    owe(s, GG_TOKEN_ARGUMENTS);
    owe(s, ranking ? v->rank_open : v->query_open);
}

int32_t gg_seeker_query_end(const gg_seeker_state *s)
{
    return s->vocabulary->query_end[s->effort];
}

static void end_query(gg_seeker_state *s)
{
    s->awaiting = true;
    s->asked_of_question = s->query_words == 0 || s->first_kind == GG_WORD_OF_QUESTION;
    for (int i = 0; i < s->word_count; i++) {
        gg_seek_word *w = &s->words[i];
        if (!w->picked || w->used)
            continue;
        w->used = true;
        for (int part = 0; part < s->parts && i < s->asked; part++)
            if (w->parts >> part & 1)
                s->spent[part] += w->rarity;
        if (i >= s->asked && s->used_count < GG_SEEK_USED_MAX)
            s->used[s->used_count++] = w->lexeme.key;
    }
    owe_from_here(s, GG_SEEK_STAGE_CLOSED);
    owe(s, GG_TOKEN_END);
}

/* False for a token that cannot stand in a query here. */
static bool put_query_word(gg_seeker_state *s, int32_t id)
{
    gg_lexeme lexeme = lexeme_of(s, id);
    if (lexeme.key == GG_LEXICON_KEY_NONE)
        return false;
    gg_seek_word *w = find_word(s, lexeme.key);
    if (!w || w->picked)
        return false;
    w->picked = true;
    for (int part = 0; part < s->parts; part++)
        if (w->kind == GG_WORD_OF_QUESTION && (w->parts >> part & 1))
            s->query[part] += w->rarity;
    if (s->query_words++ == 0) {
        s->first_kind = w->kind;
        s->first_parts = w->parts;
    }
    return true;
}

int gg_seeker_wanted(const gg_seeker_state *s)
{
    return s->document_count < GG_SEEK_RANKING ? s->document_count : GG_SEEK_RANKING;
}

bool gg_seeker_alive(const gg_seeker_state *s, const gg_seek_document *d)
{
    return !d->submitted && d->id_count >= s->spelled &&
           memcmp(d->id, s->spelling, (size_t)s->spelled * sizeof *d->id) == 0;
}

int32_t gg_seeker_id_token(const gg_seeker_state *s, const gg_seek_document *d)
{
    if (s->spelled < d->id_count)
        return d->id[s->spelled];
    return s->submitted + 1 < gg_seeker_wanted(s) ? s->vocabulary->rank_next
                                                  : s->vocabulary->rank_end;
}

static void submit(gg_seeker_state *s, gg_seek_document *d)
{
    int best = FRAME;
    for (int part = 0; part < s->parts; part++)
        if (d->cover[part] > d->cover[best] || (best == FRAME && s->parts > 1))
            best = part;
    d->submitted = true;
    if (d->cover[best] >= SERVED_COVER)
        s->served |= (uint8_t)(1u << best);
    s->spelled = 0;
    if (++s->submitted < gg_seeker_wanted(s))
        return;
    owe_from_here(s, GG_SEEK_STAGE_CLOSED);
    owe(s, GG_TOKEN_END);
}

static bool put_id_token(gg_seeker_state *s, int32_t id)
{
    for (int i = 0; i < s->document_count; i++) {
        gg_seek_document *d = &s->documents[i];
        if (!gg_seeker_alive(s, d) || gg_seeker_id_token(s, d) != id)
            continue;
        if (s->spelled == d->id_count)
            submit(s, d);
        else
            s->spelling[s->spelled++] = id;
        return true;
    }
    return false;
}

static bool put_tool(gg_seeker_state *s, int32_t id)
{
    for (int tool = 0; tool < GG_SEEK_TOOLS; tool++) {
        if (s->vocabulary->tools[tool] != id)
            continue;
        begin_call(s, tool);
        return true;
    }
    return false;
}

/* Whether the token is one that the stage knows. */
static bool put_choice(gg_seeker_state *s, int32_t id)
{
    switch (s->stage) {
    case GG_SEEK_STAGE_TOOL:
        return put_tool(s, id);
    case GG_SEEK_STAGE_WORD:
        if (id != gg_seeker_query_end(s))
            return put_query_word(s, id);
        end_query(s);
        return true;
    case GG_SEEK_STAGE_RANK:
        return put_id_token(s, id);
    default:
        return false;
    }
}

static void put_in_reply(gg_seeker_state *s, int32_t id)
{
    if (s->stage == GG_SEEK_STAGE_DUE && id == s->due[s->due_at]) {
        if (++s->due_at == s->due_count)
            enter(s, s->after);
    } else if (!put_choice(s, id)) {
        enter(s, id == GG_TOKEN_END    ? GG_SEEK_STAGE_CLOSED
                 : id == GG_TOKEN_CALL ? GG_SEEK_STAGE_TOOL
                                       : GG_SEEK_STAGE_OFF);
    }
}

/* ---- the template ---- */

static void put_special(gg_seeker_state *s, int32_t id)
{
    if (s->part == PART_RESULT)
        end_line(s);
    switch (id) {
    case GG_TOKEN_LOW:
    case GG_TOKEN_MEDIUM:
    case GG_TOKEN_HIGH:
        s->effort = (gg_effort)(id - GG_TOKEN_LOW);
        break;
    case GG_TOKEN_TOOLS:
        s->part = PART_TOOLS;
        break;
    case GG_TOKEN_SYSTEM:
        s->part = PART_TEXT;
        break;
    case GG_TOKEN_USER:
        s->part = s->has_question ? PART_TEXT : PART_QUESTION;
        s->has_question = true;
        s->parts = s->parts ? s->parts : 1;
        break;
    case GG_TOKEN_TOOL:
        begin_result(s);
        break;
    case GG_TOKEN_ASSISTANT:
        begin_reply(s);
        break;
    default:
        s->part = PART_BETWEEN;
        break;
    }
}

void gg_seeker_put(gg_seeker_state *s, int32_t id)
{
    if (s->part == PART_REPLY)
        put_in_reply(s, id);
    else if (id >= GG_TOKEN_BYTES && id < GG_TOKEN_PHRASES)
        put_special(s, id);
    else if (s->part == PART_QUESTION)
        put_in_question(s, id);
    else if (s->part == PART_RESULT)
        put_in_result(s, id);
    else if (s->part == PART_TOOLS)
        for (int tool = 0; tool < GG_SEEK_TOOLS; tool++)
            if (s->vocabulary->tools[tool] == id)
                s->offered[tool] = true;
}

gg_seek_next gg_seeker_next(const gg_seeker_state *s)
{
    if (s->part != PART_REPLY)
        return GG_SEEK_GIVEN;
    if (s->stage == GG_SEEK_STAGE_DUE)
        return GG_SEEK_FIXED;
    return s->stage == GG_SEEK_STAGE_OFF ? GG_SEEK_NOTHING : GG_SEEK_CHOICE;
}
