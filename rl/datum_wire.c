/* The wire form of a datum, written and read without a tree. */
#include "rl/datum.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_TYPE   "encoded_text"
#define NAME_MAX_LEN 64
#define DIMENSIONS   8
#define TENSOR_BYTES 20 /* usual text of a number with its comma */

enum element { INTEGERS, NUMBERS, IGNORED };

static const struct tensor {
    const char *name;
    unsigned bit; /* 0 = accepted and passed over */
    enum element element;
    size_t offset; /* of the array in gg_datum */
    const char *wrong_length, *no_number;
} tensors[] = {
    {"target_tokens", GG_TENSOR_TARGET, INTEGERS, offsetof(gg_datum, target),
     "target_tokens has another length than modelInput", ""},
    {"weights", GG_TENSOR_WEIGHTS, NUMBERS, offsetof(gg_datum, weights),
     "weights has another length than modelInput", "weights holds something that is no number"},
    {"logprobs", GG_TENSOR_LOGPROBS, NUMBERS, offsetof(gg_datum, logprobs),
     "logprobs has another length than modelInput", "logprobs holds something that is no number"},
    {"advantages", GG_TENSOR_ADVANTAGES, NUMBERS, offsetof(gg_datum, advantages),
     "advantages has another length than modelInput",
     "advantages holds something that is no number"},
    {"ref_log_prob", 0, IGNORED, 0, "", ""},
    {"temperature", 0, IGNORED, 0, "", ""},
};
#define TENSORS (sizeof tensors / sizeof *tensors)

static const char *const dtypes[] = {"int64", "float32", "float16", "bfloat16", "int32"};

const char *gg_tensor_name(unsigned bit)
{
    for (size_t i = 0; i < TENSORS; i++)
        if (tensors[i].bit == bit)
            return tensors[i].name;
    return "unknown";
}

static int32_t **integers_of(gg_datum *d, const struct tensor *t)
{
    return (int32_t **)(void *)((char *)d + t->offset);
}

static double **numbers_of(gg_datum *d, const struct tensor *t)
{
    return (double **)(void *)((char *)d + t->offset);
}

static void write_tensor(const struct tensor *t, gg_datum *d, bool first, gg_buf *out)
{
    gg_buf_str(out, first ? "\"" : ",\"");
    gg_buf_str(out, t->name);
    gg_buf_str(out, "\":{\"data\":");
    if (t->element == INTEGERS)
        gg_buf_ints(out, *integers_of(d, t), d->n);
    else
        gg_buf_doubles(out, *numbers_of(d, t), d->n);
    gg_buf_str(out, t->element == INTEGERS ? ",\"dtype\":\"int64\",\"shape\":["
                                           : ",\"dtype\":\"float32\",\"shape\":[");
    gg_buf_int(out, (int64_t)d->n);
    gg_buf_str(out, "]}");
}

void gg_datum_write(const gg_datum *datum, gg_buf *out)
{
    gg_datum d = *datum;
    bool first = true;
    gg_buf_reserve(out, d.n * TENSOR_BYTES);
    gg_buf_str(out, "{\"modelInput\":{\"chunks\":[{\"tokens\":");
    gg_buf_ints(out, d.input, d.n);
    gg_buf_str(out, ",\"type\":\"" CHUNK_TYPE "\"}]},\"lossFnInputs\":{");
    for (size_t i = 0; i < TENSORS; i++)
        if (gg_datum_tensors(datum) & tensors[i].bit) {
            write_tensor(&tensors[i], &d, first, out);
            first = false;
        }
    gg_buf_str(out, "}}");
}

/* A reading in progress. */
typedef struct reading {
    gg_json_reader *r;
    gg_datum *d;
    size_t lengths[TENSORS];
    bool seen[TENSORS], seen_input;
    gg_error *error;
} reading;

static gg_status broken(reading *x, const char *what)
{
    return gg_fail(x->error, GG_E_FORMAT, "datum: %s", what);
}

static bool is_string(gg_json_reader *r, const char *const *values, size_t count)
{
    gg_json_name raw;
    if (!gg_read_raw(r, &raw) || raw.len < 2 || raw.bytes[0] != '"')
        return false;
    for (size_t i = 0; i < count; i++)
        if (raw.len == strlen(values[i]) + 2 && memcmp(raw.bytes + 1, values[i], raw.len - 2) == 0)
            return true;
    return false;
}

static gg_status append_tokens(reading *x)
{
    int32_t *ids = NULL;
    size_t count = 0, room = 0;
    bool fine = gg_read_int32s(x->r, &ids, &count, &room);
    for (size_t i = 0; fine && i < count; i++)
        fine = ids[i] >= 0;
    if (!fine) {
        free(ids);
        return broken(x, "tokens of a chunk must be an array of token ids");
    }
    if (!x->d->input) { /* the usual case: one chunk */
        x->d->input = ids;
        x->d->n = count;
        return GG_OK;
    }
    int32_t *all = realloc(x->d->input, (x->d->n + count + 1) * sizeof *all);
    if (all) {
        x->d->input = all;
        if (count)
            memcpy(all + x->d->n, ids, count * sizeof *ids);
        x->d->n += count;
    }
    free(ids);
    return all ? GG_OK : gg_fail(x->error, GG_E_MEMORY, "out of memory for a datum");
}

static gg_status read_chunk(reading *x)
{
    static const char *const types[] = {CHUNK_TYPE};
    bool tokens = false, type = false;
    gg_json_name name;
    if (!gg_read_object(x->r))
        return broken(x, "a chunk must be an object");
    while (gg_read_name(x->r, &name)) {
        if (gg_name_is(name, "tokens") && !tokens) {
            gg_status status = append_tokens(x);
            if (status != GG_OK)
                return status;
            tokens = true;
        } else if (gg_name_is(name, "type")) {
            if (!is_string(x->r, types, 1))
                return broken(x, "the type of a chunk must be \"" CHUNK_TYPE "\"");
            type = true;
        } else {
            return broken(x, "a chunk has the members tokens and type and no other");
        }
    }
    return tokens && type ? GG_OK : broken(x, "a chunk needs tokens and type");
}

static gg_status read_input(reading *x)
{
    gg_json_name name;
    if (x->seen_input || !gg_read_object(x->r) || !gg_read_name(x->r, &name) ||
        !gg_name_is(name, "chunks") || !gg_read_array(x->r))
        return broken(x, "modelInput must be an object with one member, chunks, an array");
    size_t chunks = 0;
    while (gg_read_element(x->r)) {
        gg_status status = read_chunk(x);
        if (status != GG_OK)
            return status;
        chunks++;
    }
    if (gg_read_name(x->r, &name))
        return broken(x, "modelInput has the member chunks and no other");
    if (chunks == 0 || x->d->n == 0)
        return broken(x, "modelInput needs at least one chunk with at least one token");
    x->seen_input = true;
    return GG_OK;
}

/* An empty array is there, of length 0: it must not look like an absent tensor. */
static void *empty_array(reading *x)
{
    void *array = calloc(1, sizeof(double));
    x->r->no_memory = x->r->no_memory || !array;
    return array;
}

static bool read_data(reading *x, size_t i)
{
    size_t room = 0;
    const struct tensor *t = &tensors[i];
    if (t->element == INTEGERS)
        return gg_read_int32s(x->r, integers_of(x->d, t), &x->lengths[i], &room) &&
               (*integers_of(x->d, t) || (*integers_of(x->d, t) = empty_array(x)));
    if (t->element == NUMBERS)
        return gg_read_doubles(x->r, numbers_of(x->d, t), &x->lengths[i], &room) &&
               (*numbers_of(x->d, t) || (*numbers_of(x->d, t) = empty_array(x)));
    return gg_read_skip(x->r);
}

/* The product of the dimensions; 0 when it is no shape. */
static bool read_shape(reading *x, size_t *elements)
{
    size_t count = 0;
    *elements = 1;
    if (!gg_read_array(x->r))
        return false;
    while (gg_read_element(x->r)) {
        int64_t size;
        if (!gg_read_int(x->r, &size) || size < 0 || size > GG_OPERATION_BYTES ||
            ++count > DIMENSIONS || *elements > GG_OPERATION_BYTES)
            return false;
        *elements *= (size_t)size;
    }
    return !x->r->failed;
}

static gg_status read_tensor(reading *x, size_t i)
{
    const struct tensor *t = &tensors[i];
    bool data = false, dtype = false, shape = false;
    size_t elements = 0;
    gg_json_name name;
    if (x->seen[i] || !gg_read_object(x->r))
        return gg_fail(x->error, GG_E_FORMAT, "datum: lossFnInputs.%s must be one object", t->name);
    while (gg_read_name(x->r, &name)) {
        bool fine = false;
        if (gg_name_is(name, "data") && !data)
            fine = data = read_data(x, i);
        else if (gg_name_is(name, "dtype"))
            fine = dtype = is_string(x->r, dtypes, sizeof dtypes / sizeof *dtypes);
        else if (gg_name_is(name, "shape"))
            fine = gg_read_null(x->r) || (shape = read_shape(x, &elements));
        if (!fine)
            return gg_fail(x->error, GG_E_FORMAT,
                           "datum: lossFnInputs.%s: %.*s is unknown or not as it must be (data: "
                           "flat array of numbers; dtype: int64, float32, float16, bfloat16 or "
                           "int32; shape: array of sizes)",
                           t->name, (int)(name.len < NAME_MAX_LEN ? name.len : NAME_MAX_LEN),
                           name.bytes);
    }
    if (!data || !dtype)
        return gg_fail(x->error, GG_E_FORMAT, "datum: lossFnInputs.%s needs data and dtype",
                       t->name);
    if (shape && t->bit && elements != x->lengths[i])
        x->d->fault = "a tensor's shape does not fit its data";
    x->seen[i] = true;
    return GG_OK;
}

static gg_status read_tensors(reading *x)
{
    gg_json_name name;
    if (!gg_read_object(x->r))
        return broken(x, "lossFnInputs must be an object");
    while (gg_read_name(x->r, &name)) {
        size_t i = 0;
        while (i < TENSORS && !gg_name_is(name, tensors[i].name))
            i++;
        if (i == TENSORS)
            return gg_fail(x->error, GG_E_FORMAT,
                           "datum: lossFnInputs has no key \"%.*s\"; use target_tokens, weights, "
                           "advantages, logprobs, ref_log_prob or temperature",
                           (int)(name.len < NAME_MAX_LEN ? name.len : NAME_MAX_LEN), name.bytes);
        gg_status status = read_tensor(x, i);
        if (status != GG_OK)
            return status;
    }
    return GG_OK;
}

static bool all_numbers(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static void find_faults(reading *x)
{
    gg_datum *d = x->d;
    for (size_t i = 0; i < TENSORS; i++) {
        const struct tensor *t = &tensors[i];
        if (!t->bit || !x->seen[i])
            continue;
        if (x->lengths[i] != d->n)
            d->fault = t->wrong_length;
        else if (t->element == NUMBERS && !all_numbers(*numbers_of(d, t), d->n))
            d->fault = t->no_number;
    }
}

static gg_status read_members(reading *x)
{
    gg_status status = GG_OK;
    bool tensors_seen = false;
    gg_json_name name;
    if (!gg_read_object(x->r))
        return broken(x, "must be an object");
    while (status == GG_OK && gg_read_name(x->r, &name)) {
        if (gg_name_is(name, "modelInput"))
            status = read_input(x);
        else if (gg_name_is(name, "lossFnInputs") && !tensors_seen) {
            status = read_tensors(x);
            tensors_seen = true;
        } else
            status = broken(x, "has the members modelInput and lossFnInputs and no other");
    }
    if (status == GG_OK && x->r->failed)
        status = broken(x, "is not valid JSON");
    if (status == GG_OK && (!x->seen_input || !tensors_seen))
        status = broken(x, "needs modelInput and lossFnInputs");
    return status;
}

gg_status gg_datum_read(gg_json_reader *reader, gg_datum *out, gg_error *error)
{
    reading x = {.r = reader, .d = out, .error = error};
    *out = (gg_datum){.weight_version = -1};
    gg_status status = read_members(&x);
    if (status != GG_OK) {
        reader->failed = true;
        gg_datum_free(out);
        return reader->no_memory ? gg_fail(error, GG_E_MEMORY, "out of memory for a datum")
                                 : status;
    }
    find_faults(&x);
    return GG_OK;
}
