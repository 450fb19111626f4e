#include "policy/board.h"

#include <string.h>

void gg_board_init(gg_board *board, int length)
{
    memset(board, 0, sizeof *board);
    board->length = length;
    memset(board->green, -1, sizeof board->green);
    memset(board->most, length, sizeof board->most);
}

void gg_board_learn(gg_board *board, const uint8_t *letters, const uint8_t *marks)
{
    int8_t coloured[GG_LETTERS] = {0};
    uint32_t grey = 0, seen = 0;
    int greens = 0;
    for (int i = 0; i < board->length; i++) {
        uint8_t c = letters[i];
        seen |= 1u << c;
        if (marks[i] == GG_MARK_GREY)
            grey |= 1u << c;
        else
            coloured[c]++;
        if (marks[i] == GG_MARK_GREEN) {
            board->green[i] = (int8_t)c;
            greens++;
        } else {
            board->wrong[i] |= 1u << c;
        }
    }
    for (uint32_t left = seen; left; left &= left - 1) {
        int c = __builtin_ctz(left);
        if (coloured[c] > board->least[c]) {
            board->least[c] = coloured[c];
            board->needed |= 1u << c;
        }
        if ((grey >> c & 1) && coloured[c] < board->most[c])
            board->most[c] = coloured[c];
    }
    board->tried |= seen;
    board->guesses++;
    if (greens == board->length)
        board->over = true;
}

static gg_clash clash_at_place(const gg_board *board, const uint8_t *letters, int *letter,
                               int *place)
{
    for (int i = 0; i < board->length; i++) {
        if (board->green[i] >= 0 && letters[i] != board->green[i]) {
            *letter = board->green[i];
            *place = i;
            return GG_CLASH_GREEN;
        }
    }
    for (int i = 0; i < board->length; i++) {
        if (board->wrong[i] >> letters[i] & 1) {
            *letter = letters[i];
            *place = i;
            return GG_CLASH_WRONG;
        }
    }
    return GG_CLASH_NONE;
}

gg_clash gg_board_clash(const gg_board *board, const uint8_t *letters, int *letter, int *place)
{
    int spare_letter = 0, spare_place = 0;
    letter = letter ? letter : &spare_letter;
    place = place ? place : &spare_place;
    gg_clash found = clash_at_place(board, letters, letter, place);
    if (found != GG_CLASH_NONE)
        return found;
    int8_t copies[GG_LETTERS] = {0};
    for (int i = 0; i < board->length; i++)
        copies[letters[i]]++;
    *place = -1;
    for (*letter = 0; *letter < GG_LETTERS; ++*letter)
        if (copies[*letter] > board->most[*letter])
            return GG_CLASH_OFTEN;
    for (*letter = 0; *letter < GG_LETTERS; ++*letter)
        if (copies[*letter] < board->least[*letter])
            return GG_CLASH_MISSING;
    return GG_CLASH_NONE;
}
