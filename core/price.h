/*
 * What tokens cost: a dated table, and the user's own prices in its place.
 *
 * A price is data of a day, not a promise: GG_PRICES_DATE says when the table was last looked at.
 * The built-in embedded policies cost nothing; a cost told for them is what the same tokens would
 * cost on a named model.
 */
#ifndef GG_CORE_PRICE_H
#define GG_CORE_PRICE_H

#include <stdint.h>

#include <guessgym/error.h>

#define GG_PRICES_DATE "2026-11"
#define GG_PRICE_MODEL "openai-reasoning-gpt-oss-20b"
#define GG_PRICE_NAME  96
#define GG_PRICE_DATE  16

typedef struct gg_price {
    char model[GG_PRICE_NAME];
    double prefill, sample, train; /* dollars a million tokens */
    char date[GG_PRICE_DATE];      /* as of; "" when the user's file does not say */
} gg_price;

/* From the built-in table. An unknown model is GG_E_CONFIG with the known ones named. */
gg_status gg_price_find(const char *model, gg_price *out, gg_error *error);
/* From a JSON file {"MODEL": {"prefill": x, "sample": y, "train": z, "date": "2026-11"}, ...},
 * dollars a million tokens; the date may be left out. */
gg_status gg_price_read(const char *path, const char *model, gg_price *out, gg_error *error);
/* Dollars. */
double gg_price_cost(const gg_price *price, int64_t prefill, int64_t sample, int64_t train);

#endif
