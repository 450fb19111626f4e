#include "env/guess/known.h"

#include <string.h>

#define BIT(letter) (UINT32_C(1) << (letter))

void gg_known_init(gg_known *known, int length)
{
    *known = (gg_known){.length = length};
}

/* Copies of each letter in the guess; returns the set of letters. */
static uint32_t count_letters(const char *guess, int length, uint8_t count[GG_LETTERS])
{
    uint32_t letters = 0;
    memset(count, 0, GG_LETTERS);
    for (int i = 0; i < length; i++) {
        count[guess[i] - 'a']++;
        letters |= BIT(guess[i] - 'a');
    }
    return letters;
}

void gg_known_judge(const gg_known *known, const char *guess, gg_use *use)
{
    uint8_t count[GG_LETTERS];
    uint32_t letters = count_letters(guess, known->length, count);
    *use = (gg_use){0};
    for (int i = 0; i < known->length; i++) {
        use->greens_kept += known->green[i] == guess[i];
        use->greens_dropped += known->green[i] && known->green[i] != guess[i];
    }
    for (uint32_t left = known->yellow; left; left &= left - 1) {
        int letter = __builtin_ctz(left);
        if (count[letter] >= known->least[letter]) {
            use->yellows_kept++;
        } else {
            use->yellows_missing++;
            use->missing |= BIT(letter);
        }
    }
    for (uint32_t left = known->capped & letters; left; left &= left - 1) {
        int letter = __builtin_ctz(left);
        use->greys_used += count[letter] > known->most[letter];
    }
    use->new_letters = __builtin_popcount(letters & ~known->tried);
}

void gg_known_learn(gg_known *known, const char *guess, gg_marks marks, gg_use *use)
{
    uint8_t hits[GG_LETTERS] = {0};
    uint8_t owed[GG_LETTERS]; /* of the guess's letters, before it */
    uint32_t letters = 0, grey = 0;
    for (int i = 0; i < known->length; i++) {
        int letter = guess[i] - 'a';
        letters |= BIT(letter);
        owed[letter] = (uint8_t)(known->least[letter] - known->placed[letter]);
    }
    for (int i = 0; i < known->length; i++, marks /= 3) {
        int letter = guess[i] - 'a', mark = marks % 3;
        hits[letter] = (uint8_t)(hits[letter] + (mark != 0));
        if (mark == 0)
            grey |= BIT(letter);
        if (mark == 2 && !known->green[i]) {
            known->green[i] = guess[i];
            known->placed[letter]++;
            use->new_greens++;
        }
    }
    for (uint32_t left = letters; left; left &= left - 1) {
        int letter = __builtin_ctz(left);
        if (hits[letter] > known->least[letter])
            known->least[letter] = hits[letter];
        if (known->placed[letter] > known->least[letter])
            known->least[letter] = known->placed[letter];
        if (grey & BIT(letter))
            known->most[letter] = hits[letter];
        int now = known->least[letter] - known->placed[letter];
        known->yellow = now ? known->yellow | BIT(letter) : known->yellow & ~BIT(letter);
        use->new_yellows += now > owed[letter] ? now - owed[letter] : 0;
    }
    known->tried |= letters;
    known->capped |= grey;
}
