/* Jobs on the control plane. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/inside.h"

#define TAGS_MAX         50
#define ARN_ROOM         257
#define PAGE_JOBS        50
#define DOCUMENT_OUT_MAX (1u << 20)

/* ---- reading ---- */

static const char *read_category(const cJSON *in, gg_job_category *out, gg_error *error)
{
    const char *text = gg_json_text(in, "JobCategory");
    *out = gg_job_category_parse(text);
    return *out < GG_JOB_CATEGORIES
               ? NULL
               : gg_control_fail(error, GG_VALIDATION,
                                 "JobCategory %.64s must be AgentRFT or AgentRFTEvaluation here",
                                 text ? text : "is missing;");
}

static const char *check_tags(const cJSON *tags, gg_error *error)
{
    const cJSON *tag;
    if (!tags)
        return NULL;
    if (!cJSON_IsArray(tags) || cJSON_GetArraySize(tags) > TAGS_MAX)
        return gg_control_fail(error, GG_VALIDATION, "Tags must be at most %d tags", TAGS_MAX);
    cJSON_ArrayForEach(tag, tags)
    {
        if (!gg_json_text(tag, "Key") || !gg_json_text(tag, "Value"))
            return gg_control_fail(error, GG_VALIDATION, "a tag needs Key and Value");
    }
    return NULL;
}

/* The named job, kept. */
static const char *named(gg_request *request, const cJSON *in, gg_job **out, gg_error *error)
{
    gg_job_category category;
    const char *name;
    const char *type = gg_control_text(in, "JobName", GG_TEXT_NAME, &name, error);
    *out = NULL;
    if (type || (type = read_category(in, &category, error)))
        return type;
    *out = gg_jobs_find(request->service->jobs, category, name);
    return *out ? NULL
                : gg_control_fail(error, GG_NOT_FOUND, "Could not find job %s of category %s", name,
                                  gg_job_category_name(category));
}

/* ---- create ---- */

typedef struct creation {
    gg_job_options options;
    char arn[ARN_ROOM];
    gg_job_config config;
} creation;

typedef struct key_note {
    gg_request *request;
    const char *job;
} key_note;

static void note_key(void *context, const char *key)
{
    const key_note *x = context;
    gg_service_say(x->request->service,
                   "job %s: the document's key %.64s is not known here; it is "
                   "passed over",
                   x->job, key);
}

static const char *read_document(gg_request *request, const cJSON *in, creation *c, gg_error *error)
{
    const char *document = gg_json_text(in, "JobConfigDocument");
    const char *version = gg_json_text(in, "JobConfigSchemaVersion");
    key_note x = {request, c->options.name};
    if (!document || !*document || strlen(document) > GG_JOB_DOCUMENT_MAX)
        return gg_control_fail(error, GG_VALIDATION,
                               "JobConfigDocument must be a JSON text of 1 to %d characters",
                               GG_JOB_DOCUMENT_MAX);
    if (strcmp(version, GG_JOB_SCHEMA_VERSION) != 0)
        return gg_control_fail(error, GG_VALIDATION,
                               "JobConfigSchemaVersion %s is not known; use " GG_JOB_SCHEMA_VERSION,
                               version);
    gg_status status =
        gg_job_config_read(c->options.category, document, &c->config, note_key, &x, error);
    c->options.document = document;
    return status == GG_OK ? NULL : status == GG_E_ARGUMENT ? GG_VALIDATION : GG_INTERNAL;
}

static const char *check_package(gg_request *request, const creation *c, gg_error *error)
{
    const char *input = c->config.input_package;
    if (!input || gg_packages_has(request->service->packages, input))
        return NULL;
    return gg_control_fail(error, GG_NOT_FOUND, "ModelPackage %.300s does not exist", input);
}

static const char *make_groups(gg_request *request, const creation *c, gg_error *error)
{
    const char *const names[] = {c->config.output_group, c->config.checkpoint_group};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*names[i] && gg_packages_group(request->service->packages, names[i], request->region,
                                           request->service->account, NULL, NULL, error) != GG_OK)
            return GG_INTERNAL;
    return NULL;
}

static const char *add(gg_request *request, const creation *c, gg_error *error)
{
    static const char *const types[] = {
        [GG_JOBS_OK] = NULL,
        [GG_JOBS_TAKEN] = GG_IN_USE,
        [GG_JOBS_FULL] = GG_LIMIT_REACHED,
        [GG_JOBS_BROKEN] = GG_INTERNAL,
    };
    return types[gg_jobs_add(request->service->jobs, &c->options, error)];
}

static const char *read_creation(gg_request *request, const cJSON *in, creation *c, gg_error *error)
{
    gg_job_options *o = &c->options;
    const char *type;
    if ((type = gg_control_text(in, "JobName", GG_TEXT_NAME, &o->name, error)) ||
        (type = gg_control_text(in, "RoleArn", GG_TEXT_ROLE_ARN, &o->role, error)) ||
        (type = read_category(in, &o->category, error)) ||
        (type = gg_control_text(in, "JobConfigSchemaVersion", GG_TEXT_SCHEMA_VERSION,
                                &o->schema_version, error)) ||
        (type = check_tags(gg_json_get(in, "Tags"), error)) ||
        (type = read_document(request, in, c, error)) ||
        (type = check_package(request, c, error)) ||
        (type = gg_choose_policy(request->service, c->options.name, c->config.base_id, &o->policy,
                                 error)))
        return type;
    snprintf(c->arn, sizeof c->arn, "arn:aws:sagemaker:%s:%s:job/%s/%s", request->region,
             request->service->account, gg_job_category_name(o->category), o->name);
    o->arn = c->arn;
    o->region = request->region;
    o->site = &request->service->site;
    return NULL;
}

const char *gg_create_job(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    creation *c = calloc(1, sizeof *c);
    gg_buf tags;
    if (!c)
        return gg_control_fail(error, GG_INTERNAL, "out of memory for a job");
    gg_buf_init(&tags, GG_CONTROL_BODY_MAX);
    if (gg_json_get(in, "Tags"))
        gg_buf_cjson(&tags, gg_json_get(in, "Tags"));
    c->options.tags = gg_buf_cstr(&tags);
    const char *type = read_creation(request, in, c, error);
    if (!type)
        type = make_groups(request, c, error);
    if (!type)
        type = add(request, c, error);
    if (!type)
        gg_buf_printf(out, "{\"JobArn\":\"%s\"}", c->arn);
    gg_job_config_free(&c->config);
    gg_buf_free(&tags);
    free(c);
    return type;
}

/* ---- describe ---- */

static void write_text(gg_buf *out, const char *name, const char *text)
{
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_json_str(out, text);
}

static void write_time(gg_buf *out, const char *name, double value)
{
    if (value <= 0)
        return;
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_double(out, value);
}

/* What the service adds to the document. */
static void write_service_output(const gg_job_options *o, const gg_job_info *info, gg_buf *out)
{
    gg_buf_printf(out,
                  "{\"BillableTokenUsage\":{\"TrainTokenCount\":%" PRId64
                  ",\"PrefillTokenCount\":%" PRId64 ",\"SampleTokenCount\":%" PRId64
                  "},\"RolloutInfo\":{\"Total\":%" PRId64 ",\"Completed\":%" PRId64 "}",
                  info->usage.trained, info->usage.prefill, info->usage.sampled, info->rollouts,
                  info->rollouts_done);
    if (o->category == GG_JOB_TRAIN)
        gg_buf_printf(out,
                      ",\"ProgressInfo\":{\"MaxEpoch\":%" PRId64 ",\"StepsPerEpoch\":%" PRId64
                      ",\"CurrentEpoch\":%" PRId64 ",\"MaxSteps\":%" PRId64
                      ",\"CurrentStep\":%" PRId64 ",\"BatchSize\":%" PRId64 "}",
                      info->epochs, info->steps_per_epoch, info->epoch, info->steps, info->step,
                      info->batch);
    const char *const arns[][2] = {{"OutputModelPackageArn", info->output_arn},
                                   {"ModelCheckpoint", info->model_arn},
                                   {"ResumableCheckpoint", info->state_arn}};
    for (size_t i = 0; i < sizeof arns / sizeof *arns; i++)
        if (*arns[i][1])
            write_text(out, arns[i][0], arns[i][1]);
    gg_buf_char(out, '}');
}

/* The document with ServiceOutput, as a JSON text. */
static void write_document(const gg_job_options *o, const gg_job_info *info, gg_buf *out)
{
    gg_buf text;
    gg_json_reader r = gg_json_reader_make(o->document, strlen(o->document));
    gg_json_name name, value;
    gg_buf_init(&text, DOCUMENT_OUT_MAX);
    gg_buf_char(&text, '{');
    gg_read_object(&r);
    while (gg_read_name(&r, &name) && gg_read_raw(&r, &value)) {
        if (gg_name_is(name, "ServiceOutput"))
            continue;
        gg_buf_char(&text, '"');
        gg_buf_add(&text, name.bytes, name.len);
        gg_buf_str(&text, "\":");
        gg_buf_add(&text, value.bytes, value.len);
        gg_buf_char(&text, ',');
    }
    gg_buf_str(&text, "\"ServiceOutput\":");
    write_service_output(o, info, &text);
    gg_buf_char(&text, '}');
    write_text(out, "JobConfigDocument", gg_buf_cstr(&text));
    gg_buf_free(&text);
}

static void write_transitions(const gg_job_info *info, gg_buf *out)
{
    gg_buf_str(out, ",\"SecondaryStatusTransitions\":[");
    for (size_t i = 0; i < info->transition_count; i++) {
        const gg_job_transition *t = &info->transitions[i];
        gg_buf_printf(out, "%s{\"Status\":\"%s\"", i ? "," : "", gg_job_phase_name(t->phase));
        write_time(out, "StartTime", t->start);
        write_time(out, "EndTime", t->end);
        if (t->message[0])
            write_text(out, "StatusMessage", t->message);
        gg_buf_char(out, '}');
    }
    gg_buf_char(out, ']');
}

static void write_detail(const gg_job_options *o, const gg_job_info *info, gg_buf *out)
{
    gg_buf_printf(out, "{\"JobName\":\"%s\",\"JobArn\":\"%s\"", o->name, o->arn);
    write_text(out, "RoleArn", o->role);
    write_text(out, "JobCategory", gg_job_category_name(o->category));
    write_text(out, "JobConfigSchemaVersion", o->schema_version);
    write_document(o, info, out);
    write_time(out, "CreationTime", info->created);
    write_time(out, "LastModifiedTime", info->modified);
    write_time(out, "EndTime", info->ended);
    write_text(out, "JobStatus", gg_job_state_name(info->state));
    write_text(out, "SecondaryStatus", gg_job_phase_name(info->phase));
    write_transitions(info, out);
    if (info->reason[0])
        write_text(out, "FailureReason", info->reason);
    if (o->tags[0])
        gg_buf_printf(out, ",\"Tags\":%s", o->tags);
    gg_buf_char(out, '}');
}

const char *gg_describe_job(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    gg_job *job;
    const char *type = named(request, in, &job, error);
    gg_job_info *info = type ? NULL : malloc(sizeof *info);
    if (info) {
        gg_job_look(job, info);
        write_detail(gg_job_made_with(job), info, out);
    } else if (!type) {
        type = gg_control_fail(error, GG_INTERNAL, "out of memory for a job");
    }
    free(info);
    gg_job_release(job);
    return type;
}

/* ---- stop, delete ---- */

const char *gg_stop_job(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    gg_job *job;
    const char *type = named(request, in, &job, error);
    if (!type && gg_job_stop(job, error) != GG_OK)
        type = GG_VALIDATION;
    if (!type)
        gg_buf_str(out, "{}");
    gg_job_release(job);
    return type;
}

/* Deleting what is not there is fine: the call may be repeated. */
const char *gg_delete_job(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    gg_job *job;
    const char *type = named(request, in, &job, error);
    gg_job_info *info = malloc(sizeof *info);
    if (!info)
        type = gg_control_fail(error, GG_INTERNAL, "out of memory for a job");
    else if (type && strcmp(type, GG_NOT_FOUND) == 0)
        type = NULL;
    else if (!type)
        gg_job_look(job, info);
    if (!type && job && info->state < GG_JOB_COMPLETED)
        type = gg_control_fail(error, GG_IN_USE, "Job %s is in status %s; stop it first",
                               gg_job_made_with(job)->name, gg_job_state_name(info->state));
    if (!type && job)
        gg_jobs_remove(request->service->jobs, job);
    if (!type)
        gg_buf_str(out, "{}");
    free(info);
    gg_job_release(job);
    return type;
}

/* ---- list ---- */

typedef struct row {
    gg_job *job;
    const char *name;
    gg_job_state state;
    gg_job_phase phase;
    double created, modified, ended;
} row;

typedef struct filter {
    const char *contains, *status;
    double times[4]; /* created after, before; modified after, before */
} filter;

static const char *read_filter(const cJSON *in, filter *f, gg_error *error)
{
    static const char *const times[] = {"CreationTimeAfter", "CreationTimeBefore",
                                        "LastModifiedTimeAfter", "LastModifiedTimeBefore"};
    *f = (filter){.contains = gg_json_text(in, "NameContains"),
                  .status = gg_json_text(in, "StatusEquals"),
                  .times = {-INFINITY, INFINITY, -INFINITY, INFINITY}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        gg_json_number(in, times[i], &f->times[i]);
    if (f->contains && *f->contains && !gg_text_is(f->contains, GG_TEXT_NAME_PART))
        return gg_control_fail(error, GG_VALIDATION,
                               "NameContains must be at most 63 of a-z, A-Z, 0-9 and -");
    bool known = !f->status || strcmp(f->status, "Deleting") == 0 ||
                 strcmp(f->status, "DeleteFailed") == 0 ||
                 gg_job_state_parse(f->status) < GG_JOB_STATES;
    return known ? NULL
                 : gg_control_fail(error, GG_VALIDATION, "StatusEquals %.64s is no JobStatus",
                                   f->status);
}

static bool fits(const filter *f, const row *r)
{
    return (!f->contains || strstr(r->name, f->contains)) &&
           (!f->status || strcmp(gg_job_state_name(r->state), f->status) == 0) &&
           r->created > f->times[0] && r->created < f->times[1] && r->modified > f->times[2] &&
           r->modified < f->times[3];
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const row *)a)->name, ((const row *)b)->name);
}

static int by_created(const void *a, const void *b)
{
    double x = ((const row *)a)->created, y = ((const row *)b)->created;
    return x != y ? (x > y) - (x < y) : by_name(a, b);
}

static int by_status(const void *a, const void *b)
{
    int order = strcmp(gg_job_state_name(((const row *)a)->state),
                       gg_job_state_name(((const row *)b)->state));
    return order ? order : by_created(a, b);
}

static const struct {
    const char *name;
    int (*compare)(const void *, const void *);
} orders[] = {{"CreationTime", by_created}, {"Name", by_name}, {"Status", by_status}};

static const char *read_order(const cJSON *in, size_t *order, bool *descending, gg_error *error)
{
    const char *by = gg_json_text(in, "SortBy"), *way = gg_json_text(in, "SortOrder");
    size_t count = sizeof orders / sizeof *orders;
    *order = 0;
    *descending = !way || strcmp(way, "Descending") == 0;
    while (by && *order < count && strcmp(orders[*order].name, by) != 0)
        ++*order;
    if (*order == count)
        return gg_control_fail(error, GG_VALIDATION, "SortBy must be Name, CreationTime or Status");
    if (!*descending && strcmp(way, "Ascending") != 0)
        return gg_control_fail(error, GG_VALIDATION, "SortOrder must be Ascending or Descending");
    return NULL;
}

static void write_row(const row *r, gg_buf *out)
{
    const gg_job_options *o = gg_job_made_with(r->job);
    gg_buf_printf(out, "{\"JobArn\":\"%s\",\"JobName\":\"%s\"", o->arn, o->name);
    write_text(out, "JobCategory", gg_job_category_name(o->category));
    write_text(out, "JobStatus", gg_job_state_name(r->state));
    write_text(out, "JobSecondaryStatus", gg_job_phase_name(r->phase));
    write_time(out, "CreationTime", r->created);
    write_time(out, "LastModifiedTime", r->modified);
    write_time(out, "EndTime", r->ended);
    gg_buf_char(out, '}');
}

/* The rows that fit, unsorted; their number. */
static size_t take_rows(gg_job *const *list, size_t count, const filter *f, row *rows,
                        gg_job_info *info)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        gg_job_look(list[i], info);
        const row r = {.job = list[i],
                       .name = gg_job_made_with(list[i])->name,
                       .state = info->state,
                       .phase = info->phase,
                       .created = info->created,
                       .modified = info->modified,
                       .ended = info->ended};
        if (fits(f, &r))
            rows[kept++] = r;
    }
    return kept;
}

static void write_page(const row *rows, size_t count, bool descending, int64_t skip, int64_t most,
                       gg_buf *out)
{
    gg_buf_str(out, "{\"JobSummaries\":[");
    int64_t end = skip + most < (int64_t)count ? skip + most : (int64_t)count;
    for (int64_t i = skip; i < end; i++) {
        if (i > skip)
            gg_buf_char(out, ',');
        write_row(&rows[descending ? (int64_t)count - 1 - i : i], out);
    }
    gg_buf_char(out, ']');
    if (end < (int64_t)count && end > skip)
        gg_buf_printf(out, ",\"NextToken\":\"%" PRId64 "\"", end);
    gg_buf_char(out, '}');
}

const char *gg_list_jobs(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    gg_job_category category;
    filter f;
    size_t order, count = 0;
    bool descending;
    int64_t most, skip;
    const char *type;
    if ((type = read_category(in, &category, error)) || (type = read_filter(in, &f, error)) ||
        (type = read_order(in, &order, &descending, error)) ||
        (type = gg_control_page(in, &most, &skip, error)))
        return type;
    if (!gg_json_get(in, "MaxResults"))
        most = PAGE_JOBS;
    gg_job **list = gg_jobs_list(request->service->jobs, category, &count);
    row *rows = calloc(count + 1, sizeof *rows);
    gg_job_info *info = malloc(sizeof *info);
    if (list && rows && info) {
        size_t kept = take_rows(list, count, &f, rows, info);
        qsort(rows, kept, sizeof *rows, orders[order].compare);
        write_page(rows, kept, descending, skip == INT64_MAX ? 0 : skip, most, out);
    } else {
        type = gg_control_fail(error, GG_INTERNAL, "out of memory for a list");
    }
    for (size_t i = 0; list && i < count; i++)
        gg_job_release(list[i]);
    free(list);
    free(rows);
    free(info);
    return type;
}

/* ---- schemas ---- */

const char *gg_list_job_schemas(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error)
{
    gg_job_category category;
    const char *type = read_category(in, &category, error);
    (void)request;
    if (!type)
        gg_buf_str(out,
                   "{\"JobConfigSchemas\":[{\"JobConfigSchemaVersion\":\"" GG_JOB_SCHEMA_VERSION
                   "\"}]}");
    return type;
}

const char *gg_describe_job_schema(gg_request *request, const cJSON *in, gg_buf *out,
                                   gg_error *error)
{
    gg_job_category category;
    gg_buf schema;
    const char *version = gg_json_text(in, "JobConfigSchemaVersion");
    const char *type = read_category(in, &category, error);
    (void)request;
    if (type)
        return type;
    if (version && strcmp(version, GG_JOB_SCHEMA_VERSION) != 0)
        return gg_control_fail(error, GG_NOT_FOUND, "there is no schema version %.16s", version);
    gg_buf_init(&schema, DOCUMENT_OUT_MAX);
    gg_job_schema_write(category, &schema);
    gg_buf_printf(
        out, "{\"JobCategory\":\"%s\",\"JobConfigSchemaVersion\":\"" GG_JOB_SCHEMA_VERSION "\"",
        gg_job_category_name(category));
    write_text(out, "JobConfigSchema", gg_buf_cstr(&schema));
    gg_buf_char(out, '}');
    gg_buf_free(&schema);
    return NULL;
}
