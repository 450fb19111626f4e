#include "policy/walk.h"

#include <string.h>

enum part {
    PART_BETWEEN, /* messages */
    PART_TOOLS,   /* the names of the tools */
    PART_TEXT,    /* a message that tells nothing of the board */
    PART_RESULT,  /* a tool message */
    PART_REPLY
};

enum stage {
    STAGE_DUE,   /* fixed tokens wait in `due`; then comes the stage `after` */
    STAGE_DRAFT, /* letters of a draft in the thoughts */
    STAGE_PLAY,  /* letters of the call, where there were no thoughts */
    STAGE_OFF,   /* not a reply of ours */
    STAGE_CLOSED /* the reply's closing token was read */
};

static const int most_drafts[] = {
    [GG_EFFORT_LOW] = GG_DRAFTS_LOW,
    [GG_EFFORT_MEDIUM] = GG_DRAFTS_MEDIUM,
    [GG_EFFORT_HIGH] = GG_DRAFTS_HIGH,
};

void gg_walk_start(gg_walk *w, const gg_vocabulary *vocabulary, const gg_trie *trie)
{
    memset(w, 0, sizeof *w);
    w->vocabulary = vocabulary;
    w->trie = trie;
    w->effort = GG_EFFORT_MEDIUM;
    gg_board_init(&w->board, trie->length);
}

static void owe(gg_walk *w, int32_t id)
{
    w->due[w->due_count++] = id;
}

static void owe_from_here(gg_walk *w, enum stage after)
{
    w->stage = STAGE_DUE;
    w->after = (uint8_t)after;
    w->due_at = w->due_count = 0;
}

static void enter(gg_walk *w, enum stage stage)
{
    w->stage = (uint8_t)stage;
    if (stage == STAGE_CLOSED)
        w->part = PART_BETWEEN;
    w->place = 0;
    w->node = GG_TRIE_ROOT;
    memset(w->used, 0, sizeof w->used);
}

static void owe_call_opening(gg_walk *w)
{
    owe(w, w->vocabulary->tool);
    owe(w, GG_TOKEN_ARGUMENTS);
    owe(w, w->vocabulary->open);
}

static void owe_call_closing(gg_walk *w)
{
    owe(w, w->vocabulary->close);
    owe(w, GG_TOKEN_END);
}

static void begin_reply(gg_walk *w)
{
    w->part = PART_REPLY;
    w->drafts = 0;
    if (w->board.over || !w->tool_offered) {
        owe_from_here(w, STAGE_CLOSED);
        owe(w, w->board.over ? w->vocabulary->over : w->vocabulary->no_tool);
        owe(w, GG_TOKEN_END);
    } else if (w->effort == GG_EFFORT_LOW) {
        owe_from_here(w, STAGE_PLAY);
        owe(w, GG_TOKEN_CALL);
        owe_call_opening(w);
    } else {
        owe_from_here(w, STAGE_DRAFT);
        owe(w, GG_TOKEN_THINK);
    }
}

/* A draft is complete: its check is due, then the next draft or the call. */
static void check_draft(gg_walk *w)
{
    const gg_vocabulary *v = w->vocabulary;
    int letter, place;
    gg_clash clash = gg_board_clash(&w->board, w->word, &letter, &place);
    bool last = ++w->drafts >= most_drafts[w->effort] || clash == GG_CLASH_NONE;
    owe_from_here(w, last ? STAGE_CLOSED : STAGE_DRAFT);
    if (clash == GG_CLASH_NONE) {
        owe(w, v->fits);
    } else {
        owe(w, v->subject[letter]);
        owe(w, v->clash[clash][place < 0 ? 0 : place][!last]);
    }
    if (!last)
        return;
    owe(w, GG_TOKEN_THOUGHT);
    owe(w, GG_TOKEN_CALL);
    owe_call_opening(w);
    for (int i = 0; i < w->trie->length; i++)
        owe(w, 'a' + w->word[i]);
    owe_call_closing(w);
}

static void put_letter(gg_walk *w, int letter)
{
    const gg_trie_branch *branch =
        w->node == GG_TRIE_NONE ? NULL : gg_trie_branch_of(w->trie, w->node, letter);
    w->node = branch ? branch->node : GG_TRIE_NONE;
    w->word[w->place++] = (uint8_t)letter;
    w->used[letter]++;
    if (w->place < w->trie->length)
        return;
    if (w->stage == STAGE_DRAFT) {
        check_draft(w);
    } else {
        owe_from_here(w, STAGE_CLOSED);
        owe_call_closing(w);
    }
}

/* A token that the policy would not have written here. */
static void leave_path(gg_walk *w, int32_t id)
{
    if (id == GG_TOKEN_THINK) {
        enter(w, STAGE_DRAFT);
    } else if (id == GG_TOKEN_CALL) {
        owe_from_here(w, STAGE_PLAY);
        owe_call_opening(w);
    } else {
        enter(w, id == GG_TOKEN_END ? STAGE_CLOSED : STAGE_OFF);
    }
}

static void put_in_reply(gg_walk *w, int32_t id)
{
    bool letter = id >= 'a' && id <= 'z';
    if (w->stage == STAGE_DUE && id == w->due[w->due_at]) {
        if (++w->due_at == w->due_count)
            enter(w, w->after);
    } else if ((w->stage == STAGE_DRAFT || w->stage == STAGE_PLAY) && letter) {
        put_letter(w, id - 'a');
    } else {
        leave_path(w, id);
    }
}

/* Marks count when exactly one word's worth of them stands in a row. */
static void end_row(gg_walk *w)
{
    if (w->row == w->trie->length)
        gg_board_learn(&w->board, w->row_letters, w->row_marks);
    w->row = 0;
}

static void put_in_result(gg_walk *w, int32_t id)
{
    const gg_token token = w->vocabulary->tokens[id];
    if (token.meaning != GG_MEANS_MARK) {
        end_row(w);
        if (token.meaning == GG_MEANS_OVER)
            w->board.over = true;
        return;
    }
    if (w->row < w->trie->length) {
        w->row_letters[w->row] = token.letter;
        w->row_marks[w->row] = token.mark;
    }
    w->row++;
}

/* Special tokens outside a reply. */
static void put_special(gg_walk *w, int32_t id)
{
    if (w->part == PART_RESULT)
        end_row(w);
    switch (id) {
    case GG_TOKEN_LOW:
    case GG_TOKEN_MEDIUM:
    case GG_TOKEN_HIGH:
        w->effort = (gg_effort)(id - GG_TOKEN_LOW);
        break;
    case GG_TOKEN_TOOLS:
        w->part = PART_TOOLS;
        break;
    case GG_TOKEN_SYSTEM:
    case GG_TOKEN_USER:
        w->part = PART_TEXT;
        break;
    case GG_TOKEN_TOOL:
        w->part = PART_RESULT;
        break;
    case GG_TOKEN_ASSISTANT:
        begin_reply(w);
        break;
    default:
        w->part = PART_BETWEEN;
        break;
    }
}

void gg_walk_put(gg_walk *w, int32_t id)
{
    if (w->part == PART_REPLY)
        put_in_reply(w, id);
    else if (id >= GG_TOKEN_BYTES && id < GG_TOKEN_PHRASES)
        put_special(w, id);
    else if (w->part == PART_RESULT)
        put_in_result(w, id);
    else if (w->part == PART_TOOLS && w->vocabulary->tokens[id].meaning == GG_MEANS_TOOL)
        w->tool_offered = true;
}

gg_next gg_walk_next(const gg_walk *w)
{
    if (w->part != PART_REPLY)
        return GG_NEXT_GIVEN;
    if (w->stage == STAGE_DUE)
        return GG_NEXT_FIXED;
    if (w->stage == STAGE_OFF || w->node == GG_TRIE_NONE)
        return GG_NEXT_NOTHING;
    return GG_NEXT_LETTER;
}
