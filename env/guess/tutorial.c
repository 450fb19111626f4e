#include "env/guess/tutorial.h"

#include <math.h>
#include <string.h>

#include "core/json.h"

/* Points, of one guess unless it says otherwise. */
#define PLAYED       15.0 /* a guess that does not solve */
#define OPENING_BIT  7.5  /* first guess: a bit of entropy */
#define NEW_LETTER   2.0  /* later ones: a letter not tried before */
#define NARROWED     15.0 /* later ones: times the share of answers ruled out */
#define GREEN_LEFT   30.0 /* a known place without its letter */
#define YELLOW_LEFT  20.0 /* a known letter with too few copies */
#define GREY_USED    20.0 /* a letter known to be absent */
#define GREEN_AGAIN  3.0  /* a known place with its letter */
#define YELLOW_AGAIN 1.5  /* a known letter used */
#define UNLISTED     35.0
#define REPEATED     40.0
#define MALFORMED    50.0
#define FROM_TEXT    5.0 /* a call found in prose */
#define TIME         1.0 /* any guess, the solving one included */

#define POINTS_FULL   150.0
#define NEVER_PLAYED  (-1.5)
#define LOST          (-0.5)
#define LOST_SHAPING  0.15
#define SOLVED        1.05
#define SOLVED_SPEED  0.5
#define SOLVE_SHAPING 0.04
#define SHAPING_STEPS 5 /* 0.04 x 2 fits between the solves of a game of 6 guesses: 5 steps */

#define BIT(letter) (UINT32_C(1) << (letter))

static bool read_letters(gg_json_name value, int length, const char *set, char *out)
{
    if (value.len != (size_t)length + 2 || *value.bytes != '"')
        return false;
    memcpy(out, value.bytes + 1, (size_t)length);
    out[length] = '\0';
    return strspn(out, set) == (size_t)length;
}

static bool is_text(gg_json_name value, const char *text)
{
    return value.len == strlen(text) && memcmp(value.bytes, text, value.len) == 0;
}

void gg_guess_read_fact(gg_json_name name, gg_json_name value, int length, gg_guess_facts *out)
{
    gg_json_reader r = gg_json_reader_make(value.bytes, value.len);
    if (gg_name_is(name, "guess"))
        out->has_word = read_letters(value, length, "abcdefghijklmnopqrstuvwxyz", out->word);
    else if (gg_name_is(name, "marks"))
        out->has_marks = read_letters(value, length, "GYB", out->marks);
    else if (gg_name_is(name, "listed"))
        out->unlisted = is_text(value, "false");
    else if (gg_name_is(name, "repeat"))
        out->repeat = is_text(value, "true");
    else if (gg_name_is(name, "malformed"))
        out->malformed = true;
    else if (gg_name_is(name, "from_text"))
        out->from_text = is_text(value, "true");
    else if (gg_name_is(name, "entropy_bits") && !gg_read_double(&r, &out->entropy))
        out->entropy = 0;
}

static void count_letters(const char *word, int length, uint8_t copies[GG_LETTERS])
{
    for (int i = 0; i < length; i++)
        copies[word[i] - 'a']++;
}

static double charge_ignored(const gg_tutorial_book *k, const char *word)
{
    uint8_t copies[GG_LETTERS] = {0};
    double charge = 0;
    count_letters(word, k->length, copies);
    for (int i = 0; i < k->length; i++)
        charge += k->green[i] && word[i] != k->green[i] ? GREEN_LEFT : 0;
    for (int letter = 0; letter < GG_LETTERS; letter++) {
        charge += copies[letter] < k->yellow[letter] ? YELLOW_LEFT : 0;
        charge += copies[letter] && k->grey & BIT(letter) ? GREY_USED : 0;
    }
    return charge;
}

static double charge_reused(const gg_tutorial_book *k, const char *word)
{
    uint8_t copies[GG_LETTERS] = {0};
    double charge = 0;
    count_letters(word, k->length, copies);
    for (int i = 0; i < k->length; i++)
        charge += word[i] == k->green[i] ? GREEN_AGAIN : 0;
    for (int letter = 0; letter < GG_LETTERS; letter++)
        charge += copies[letter] && k->yellow[letter] ? YELLOW_AGAIN : 0;
    return charge;
}

static uint32_t letters_of(const char *word)
{
    uint32_t letters = 0;
    for (; *word; word++)
        letters |= BIT(*word - 'a');
    return letters;
}

static void learn(gg_tutorial_book *k, const char *word, const char *marks)
{
    uint8_t hits[GG_LETTERS] = {0};
    for (int i = 0; i < k->length; i++)
        hits[word[i] - 'a'] = (uint8_t)(hits[word[i] - 'a'] + (marks[i] != 'B'));
    for (int i = 0; i < k->length; i++) {
        int letter = word[i] - 'a';
        if (hits[letter] > k->yellow[letter])
            k->yellow[letter] = hits[letter];
        if (marks[i] == 'G') {
            k->green[i] = word[i];
            k->placed |= BIT(letter);
        } else if (marks[i] == 'Y') {
            k->not_here[letter] = (uint16_t)(k->not_here[letter] | 1u << i);
        } else if (!hits[letter]) {
            k->grey |= BIT(letter);
        }
    }
    for (int letter = 0; letter < GG_LETTERS; letter++)
        if (k->placed & BIT(letter))
            k->yellow[letter] = 0;
    k->grey &= ~k->placed;
    k->tried |= letters_of(word);
}

/* Answers that fit all that is known. */
static size_t open_answers(const gg_tutorial_book *k, const gg_fits *fits)
{
    gg_fits_condition conditions[GG_WORD_MAX + GG_LETTERS * (GG_WORD_MAX + 1)];
    size_t count = 0;
    for (int i = 0; i < k->length; i++)
        if (k->green[i])
            conditions[count++] = (gg_fits_condition){k->green[i] - 'a', i, 0, true};
    for (uint32_t left = k->tried; left; left &= left - 1) {
        int letter = __builtin_ctz(left);
        if (k->grey & BIT(letter))
            conditions[count++] = (gg_fits_condition){letter, GG_FITS_COPIES, 1, false};
        else if (k->yellow[letter])
            conditions[count++] =
                (gg_fits_condition){letter, GG_FITS_COPIES, k->yellow[letter], true};
        for (unsigned places = k->not_here[letter]; places; places &= places - 1)
            conditions[count++] = (gg_fits_condition){letter, __builtin_ctz(places), 0, false};
    }
    return gg_fits_count(fits, conditions, count);
}

static void add_guess(gg_tutorial_book *k, const gg_fits *fits, const gg_guess_facts *f)
{
    k->charges += TIME;
    if (f->repeat || strspn(f->marks, "G") == (size_t)k->length) {
        k->charges += f->repeat ? REPEATED : 0;
        k->guesses++;
        return;
    }
    k->bonus += PLAYED;
    k->charges += charge_ignored(k, f->word) + charge_reused(k, f->word);
    k->charges += f->unlisted ? UNLISTED : 0;
    if (k->guesses == 0) {
        k->bonus += f->unlisted ? 0 : OPENING_BIT * f->entropy;
        learn(k, f->word, f->marks);
    } else {
        size_t before = k->counted ? k->open : open_answers(k, fits);
        k->bonus += NEW_LETTER * __builtin_popcount(letters_of(f->word) & ~k->tried);
        learn(k, f->word, f->marks);
        k->open = open_answers(k, fits);
        k->counted = true;
        if (before)
            k->bonus += NARROWED * ((double)before - (double)k->open) / (double)before;
    }
    k->guesses++;
}

void gg_tutorial_add(gg_tutorial_book *k, const gg_fits *fits, const gg_guess_facts *f)
{
    if (f->has_word && f->has_marks)
        add_guess(k, fits, f);
    else if (f->has_word)
        k->charges += charge_ignored(k, f->word) + (f->unlisted ? UNLISTED : 0);
    else if (f->malformed)
        k->charges += MALFORMED;
    k->charges += f->from_text ? FROM_TEXT : 0;
}

double gg_tutorial_reward(double points, bool solved, int played, int guesses)
{
    double s = fmin(fmax(points / POINTS_FULL, -1), 1);
    if (played == 0)
        return NEVER_PLAYED;
    if (!solved)
        return LOST + LOST_SHAPING * s;
    if (guesses < 2)
        return SOLVED + SOLVED_SPEED + SOLVE_SHAPING * s;
    double steps = guesses - 1;
    double shaping = steps > SHAPING_STEPS ? SOLVE_SHAPING * SHAPING_STEPS / steps : SOLVE_SHAPING;
    return SOLVED + SOLVED_SPEED * (guesses - played) / steps + shaping * s;
}

void gg_tutorial_end(const gg_tutorial_book *k, bool solved, int guesses, gg_tutorial *out)
{
    *out = (gg_tutorial){.bonus = k->bonus, .charges = k->charges, .points = k->bonus - k->charges};
    out->reward = gg_tutorial_reward(out->points, solved, k->guesses, guesses);
}
