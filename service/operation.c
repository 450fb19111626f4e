/* Training operations: read without a tree, since datums are many and large. */
#include "service/operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/names.h"

#define SHOWN 64 /* of a name in a message */

static const char *const kinds[GG_OP_KIND_COUNT] = {
    [GG_OP_FORWARD] = "forward",
    [GG_OP_FORWARD_BACKWARD] = "forwardBackward",
    [GG_OP_OPTIMIZER_STEP] = "optimizerStep",
    [GG_OP_SAVE_WEIGHTS] = "saveWeights",
    [GG_OP_SAVE_STATE] = "saveState",
    [GG_OP_LOAD_STATE] = "loadState",
    [GG_OP_SAMPLE] = "sample",
    [GG_OP_COMPUTE_LOGPROBS] = "computeLogprobs",
    [GG_OP_LOAD_FOR_SAMPLING] = "loadWeightsForSampling",
};

const char *gg_op_kind_name(gg_op_kind kind)
{
    return kinds[kind];
}

void gg_op_request_free(gg_op_request *request)
{
    if (!request)
        return;
    gg_datums_free(&request->datums);
    free(request->description);
    free(request->package);
    free(request->prompt);
    for (size_t i = 0; i < request->stop_count; i++)
        free(request->stops[i]);
    *request = (gg_op_request){0};
}

typedef struct reading {
    gg_json_reader *r;
    gg_op_request *out;
    gg_error *error;
} reading;

static gg_status refuse(reading *x, const char *sentence)
{
    return gg_fail(x->error, GG_E_ARGUMENT, "%s", sentence);
}

static gg_status unknown(reading *x, const char *where, gg_json_name name)
{
    return gg_fail(x->error, GG_E_ARGUMENT, "%s has no member \"%.*s\"", where,
                   (int)(name.len < SHOWN ? name.len : SHOWN), name.bytes);
}

/* A string of at most `longest` bytes; NULL (with the reader failed) otherwise. */
static char *read_text(reading *x, size_t longest)
{
    gg_buf buf;
    gg_buf_init(&buf, longest);
    bool fine = gg_read_string(x->r, &buf);
    char *text = fine ? gg_buf_take(&buf) : NULL;
    x->r->no_memory = x->r->no_memory || buf.status == GG_E_MEMORY || (fine && !text);
    gg_buf_free(&buf);
    x->r->failed = x->r->failed || !text;
    return text;
}

/* ---- forward, forwardBackward ---- */

static gg_status read_bounds(reading *x)
{
    gg_json_name name;
    if (gg_read_null(x->r))
        return GG_OK;
    if (!gg_read_object(x->r))
        return refuse(x, "lossFnConfig must be an object");
    while (gg_read_name(x->r, &name)) {
        bool low = gg_name_is(name, "clip_low_threshold");
        double value;
        if (!low && !gg_name_is(name, "clip_high_threshold"))
            return unknown(x, "lossFnConfig", name);
        if (!gg_read_double(x->r, &value) || !(value >= (low ? 0 : 1)) ||
            !(value <= (low ? 1 : 10)))
            return refuse(x, low ? "clip_low_threshold must be a number from 0 to 1"
                                 : "clip_high_threshold must be a number from 1 to 10");
        *(low ? &x->out->clip.clip_low : &x->out->clip.clip_high) = value;
    }
    return GG_OK;
}

static gg_status read_datums(reading *x)
{
    size_t bytes = 0;
    if (!gg_read_array(x->r))
        return refuse(x, "datumList must be an array");
    while (gg_read_element(x->r)) {
        if (x->out->datums.count == GG_DATUMS_PER_OPERATION)
            return gg_fail(x->error, GG_E_ARGUMENT,
                           "datumList holds more than %d datums; send several operations",
                           GG_DATUMS_PER_OPERATION);
        gg_datum *d = gg_datums_push(&x->out->datums);
        if (!d)
            return gg_fail(x->error, GG_E_MEMORY, "out of memory for the datums");
        gg_status status = gg_datum_read(x->r, d, x->error);
        if (status != GG_OK)
            return gg_fail_prefix(x->error, "datumList[%zu]", x->out->datums.count - 1);
        bytes += gg_datum_estimate(d);
        if (bytes > GG_OPERATION_BYTES)
            return gg_fail(x->error, GG_E_ARGUMENT,
                           "datumList is larger than %d bytes (10 a token and tensor element); "
                           "send several operations",
                           GG_OPERATION_BYTES);
    }
    return x->out->datums.count ? GG_OK : refuse(x, "datumList needs at least one datum");
}

static gg_status check_keys(reading *x)
{
    for (size_t i = 0; i < x->out->datums.count; i++) {
        unsigned missing =
            gg_loss_tensors(x->out->loss) & ~gg_datum_tensors(&x->out->datums.items[i]);
        if (missing)
            return gg_fail(x->error, GG_E_ARGUMENT, "datumList[%zu]: %s needs %s in lossFnInputs",
                           i, gg_loss_name(x->out->loss), gg_tensor_name(missing & (~missing + 1)));
    }
    return GG_OK;
}

static gg_status read_loss(reading *x)
{
    char *name = read_text(x, SHOWN);
    gg_status status = gg_loss_parse(name, &x->out->loss, x->error);
    free(name);
    return status;
}

static gg_status read_forward(reading *x)
{
    gg_json_name name;
    bool loss = false, datums = false;
    gg_status status = GG_OK;
    x->out->clip = (gg_loss_config)GG_LOSS_DEFAULTS;
    while (status == GG_OK && gg_read_name(x->r, &name)) {
        if (gg_name_is(name, "lossFnName")) {
            status = read_loss(x);
            loss = true;
        } else if (gg_name_is(name, "lossFnConfig")) {
            status = read_bounds(x);
        } else if (gg_name_is(name, "datumList") && !datums) {
            status = read_datums(x);
            datums = true;
        } else {
            status = unknown(x, kinds[x->out->kind], name);
        }
    }
    if (status != GG_OK || x->r->failed)
        return status;
    if (!loss || !datums)
        return refuse(x, loss ? "datumList is missing" : "lossFnName is missing");
    return check_keys(x);
}

/* ---- optimizerStep ---- */

static const struct {
    const char *name;
    double low, high;
    bool above; /* low itself is too low */
    size_t offset;
} adam_fields[] = {
    {"learningRate", 0, 0.01, true, offsetof(gg_adam_config, learning_rate)},
    {"beta1", 0, 0.999999, false, offsetof(gg_adam_config, beta1)},
    {"beta2", 0, 0.999999, false, offsetof(gg_adam_config, beta2)},
    {"eps", 1e-16, 0.01, false, offsetof(gg_adam_config, eps)},
    {"weightDecay", 0, 1, false, offsetof(gg_adam_config, weight_decay)},
    {"gradClipNorm", 0, 100, false, offsetof(gg_adam_config, clip_norm)},
    /* Checked and passed over: an embedded policy's adapter has no B matrices. */
    {"loraPlusLrRatio", 1, 100, false, SIZE_MAX},
};
#define ADAM_FIELDS (sizeof adam_fields / sizeof *adam_fields)

static gg_status read_adam_field(reading *x, gg_json_name name)
{
    size_t i = 0;
    double value;
    while (i < ADAM_FIELDS && !gg_name_is(name, adam_fields[i].name))
        i++;
    if (i == ADAM_FIELDS)
        return unknown(x, "adamParamsConfig", name);
    if (!gg_read_double(x->r, &value) || !(value >= adam_fields[i].low) ||
        !(value <= adam_fields[i].high) || (adam_fields[i].above && value == adam_fields[i].low))
        return gg_fail(x->error, GG_E_ARGUMENT, "%s must be a number %s %g and at most %g",
                       adam_fields[i].name, adam_fields[i].above ? "above" : "from",
                       adam_fields[i].low, adam_fields[i].high);
    if (adam_fields[i].offset != SIZE_MAX)
        *(double *)(void *)((char *)&x->out->adam + adam_fields[i].offset) = value;
    return GG_OK;
}

static gg_status read_step(reading *x)
{
    gg_json_name name;
    x->out->adam = (gg_adam_config)GG_ADAM_DEFAULTS;
    x->out->adam.clip_norm = 0; /* nothing is clipped unless it is asked for */
    x->out->adam.learning_rate = NAN;
    while (gg_read_name(x->r, &name)) {
        if (!gg_name_is(name, "adamParamsConfig"))
            return unknown(x, "optimizerStep", name);
        if (!gg_read_object(x->r))
            return refuse(x, "adamParamsConfig must be an object");
        while (gg_read_name(x->r, &name)) {
            gg_status status = read_adam_field(x, name);
            if (status != GG_OK)
                return status;
        }
    }
    return isnan(x->out->adam.learning_rate) && !x->r->failed
               ? refuse(x, "adamParamsConfig needs learningRate")
               : GG_OK;
}

/* ---- saves and load ---- */

static gg_status read_save(reading *x)
{
    gg_json_name name;
    bool merge = false;
    while (gg_read_name(x->r, &name)) {
        if (gg_name_is(name, "description") && !x->out->description) {
            if (!(x->out->description = read_text(x, GG_DESCRIPTION_MAX)))
                return refuse(x, "description must be a text of at most 1024 bytes");
        } else if (gg_name_is(name, "mergeWeights") && x->out->kind == GG_OP_SAVE_WEIGHTS) {
            if (!gg_read_bool(x->r, &merge) || merge)
                return refuse(x, "mergeWeights must be false: an embedded policy's weights are "
                                 "saved as an adapter");
        } else {
            return unknown(x, kinds[x->out->kind], name);
        }
    }
    return GG_OK;
}

static gg_status read_load(reading *x)
{
    gg_json_name name;
    bool optimizer = false;
    while (gg_read_name(x->r, &name)) {
        if (gg_name_is(name, "modelPackageArn") && !x->out->package) {
            x->out->package = read_text(x, GG_S3_PATH_MAX * 2);
            if (!gg_text_is(x->out->package, GG_TEXT_PACKAGE_ARN))
                return refuse(x, "modelPackageArn must be the ARN of a model package version");
        } else if (gg_name_is(name, "loadOptimizer")) {
            if (!gg_read_bool(x->r, &x->out->load_optimizer))
                return refuse(x, "loadOptimizer must be true or false");
            optimizer = true;
        } else {
            return unknown(x, "loadState", name);
        }
    }
    if (x->r->failed || (x->out->package && optimizer))
        return GG_OK;
    return refuse(x, "loadState needs modelPackageArn and loadOptimizer");
}

/* ---- the envelope ---- */

static gg_status (*const readers[])(reading *) = {
    [GG_OP_FORWARD] = read_forward,     [GG_OP_FORWARD_BACKWARD] = read_forward,
    [GG_OP_OPTIMIZER_STEP] = read_step, [GG_OP_SAVE_WEIGHTS] = read_save,
    [GG_OP_SAVE_STATE] = read_save,     [GG_OP_LOAD_STATE] = read_load,
};
#define TRAINING_KINDS (sizeof readers / sizeof *readers)

static gg_status read_config(reading *x)
{
    gg_json_name name;
    size_t members = 0;
    if (!gg_read_object(x->r))
        return refuse(x, "operationConfig must be an object");
    while (gg_read_name(x->r, &name)) {
        size_t kind = 0;
        if (gg_read_null(x->r))
            continue;
        while (kind < TRAINING_KINDS && !gg_name_is(name, kinds[kind]))
            kind++;
        if (kind == TRAINING_KINDS)
            return unknown(x, "operationConfig of a training operation", name);
        if (++members > 1)
            break;
        x->out->kind = (gg_op_kind)kind;
        if (!gg_read_object(x->r))
            return gg_fail(x->error, GG_E_ARGUMENT, "%s must be an object", kinds[kind]);
        gg_status status = readers[kind](x);
        if (status != GG_OK || x->r->failed)
            return status;
    }
    return members == 1 || x->r->failed ? GG_OK
                                        : refuse(x, "operationConfig needs exactly one member");
}

static gg_status read_token(reading *x, char *token)
{
    if (gg_read_null(x->r))
        return GG_OK;
    char *text = read_text(x, GG_CLIENT_TOKEN_MAX);
    bool fine = gg_text_is(text, GG_TEXT_CLIENT_TOKEN);
    if (fine)
        memcpy(token, text, strlen(text) + 1);
    free(text);
    return fine ? GG_OK : refuse(x, "clientToken must be 1 to 128 of a-z, A-Z, 0-9 and -");
}

static gg_status read_envelope(reading *x, int64_t *sequence, char *token)
{
    gg_json_name name;
    gg_status status = GG_OK;
    bool config = false;
    *sequence = 0;
    token[0] = '\0';
    if (!gg_read_object(x->r))
        return refuse(x, "the body must be a JSON object");
    while (status == GG_OK && gg_read_name(x->r, &name)) {
        if (gg_name_is(name, "sequenceNumber")) {
            if (!gg_read_int(x->r, sequence) || *sequence < 1)
                status = refuse(x, "sequenceNumber must be a whole number from 1");
        } else if (gg_name_is(name, "clientToken")) {
            status = read_token(x, token);
        } else if (gg_name_is(name, "operationConfig") && !config) {
            status = read_config(x);
            config = true;
        } else {
            status = unknown(x, "the body", name);
        }
    }
    if (status == GG_OK && (x->r->failed || !gg_read_end(x->r)))
        return refuse(x, "the body is not valid JSON");
    if (status == GG_OK && *sequence < 1)
        return refuse(x, "sequenceNumber is missing");
    return status == GG_OK && !config ? refuse(x, "operationConfig is missing") : status;
}

gg_status gg_op_read_training(const char *body, size_t len, int64_t *sequence,
                              char token[GG_CLIENT_TOKEN_MAX + 1], gg_op_request *out,
                              gg_error *error)
{
    gg_json_reader r = gg_json_reader_make(body, len);
    reading x = {&r, out, error};
    *out = (gg_op_request){.bytes = len};
    gg_status status = read_envelope(&x, sequence, token);
    if (status == GG_OK)
        return GG_OK;
    gg_op_request_free(out);
    if (r.no_memory)
        return gg_fail(error, GG_E_MEMORY, "out of memory for an operation");
    return status == GG_E_MEMORY ? status : GG_E_ARGUMENT;
}
