#include "service/registry.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"

#define FOLDER   "sessions"
#define SUFFIX   ".json"
#define FILE_MAX (1u << 20)
#define RESTARTED                                                                                  \
    "the service was started again while this session ran; its training state is gone: create "    \
    "another session and load the last saved state"

typedef struct entry {
    gg_hosted *session;
    int64_t serial;
} entry;

struct gg_registry {
    pthread_mutex_t lock;
    char *state_dir;
    entry *entries; /* by serial */
    size_t count, room;
    int64_t last;
};

/* ---- files ---- */

static void file_path(const gg_registry *r, const char *name, gg_buf *out)
{
    gg_buf_init(out, strlen(r->state_dir) + sizeof FOLDER + GG_NAME_MAX + sizeof SUFFIX + 4);
    gg_buf_printf(out, "%s/" FOLDER "/%s" SUFFIX, r->state_dir, name);
}

static void write_texts(const gg_hosted_options *o, const gg_hosted_info *info, gg_buf *out)
{
    const char *const texts[][2] = {
        {"name", o->name},        {"arn", o->arn},
        {"region", o->region},    {"account", o->account},
        {"base_id", o->base_id},  {"base_version", o->base_version},
        {"group", o->group},      {"s3_path", o->s3_path},
        {"detail", info->detail}, {"state", gg_hosted_state_name(info->state)},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gg_buf_printf(out, "\"%s\":", texts[i][0]);
        gg_buf_json_str(out, texts[i][1]);
        gg_buf_char(out, ',');
    }
}

static void write_numbers(const gg_hosted_options *o, const gg_hosted_info *info, int64_t serial,
                          gg_buf *out)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"serial", (double)serial},
        {"rank", o->rank},
        {"alpha", o->alpha},
        {"created", info->created},
        {"modified", info->modified},
        {"ended", info->ended},
        {"last_received", (double)info->last_received},
        {"prefill", (double)info->usage.prefill},
        {"sampled", (double)info->usage.sampled},
        {"trained", (double)info->usage.trained},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        gg_buf_printf(out, "\"%s\":", numbers[i].name);
        gg_buf_double(out, numbers[i].value);
        gg_buf_char(out, ',');
    }
}

static gg_status write_file(const gg_registry *r, const entry *e, gg_error *error)
{
    const gg_hosted_options *o = gg_hosted_made_with(e->session);
    gg_hosted_info info;
    gg_buf path, text;
    if (!r->state_dir)
        return GG_OK;
    gg_hosted_look(e->session, &info);
    file_path(r, o->name, &path);
    gg_buf_init(&text, FILE_MAX);
    gg_buf_char(&text, '{');
    write_texts(o, &info, &text);
    write_numbers(o, &info, e->serial, &text);
    gg_buf_str(&text, "\"request\":");
    gg_buf_str(&text, o->request);
    gg_buf_str(&text, "}\n");
    gg_status status = gg_buf_status(&text, "a session's state", error);
    if (status == GG_OK)
        status = gg_buf_status(&path, "a path", error);
    if (status == GG_OK)
        status = gg_file_write(path.data, text.data, text.len, error);
    gg_buf_free(&path);
    gg_buf_free(&text);
    return status;
}

/* ---- entries; under the lock ---- */

static entry *find(const gg_registry *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(gg_hosted_made_with(r->entries[i].session)->name, name) == 0)
            return &r->entries[i];
    return NULL;
}

/* Keeps the order of serials; takes the session over. */
static entry *insert(gg_registry *r, gg_hosted *session, int64_t serial)
{
    if (r->count == r->room) {
        size_t room = r->room ? r->room * 2 : 16;
        entry *entries = realloc(r->entries, room * sizeof *entries);
        if (!entries)
            return NULL;
        r->entries = entries;
        r->room = room;
    }
    size_t at = r->count++;
    for (; at > 0 && r->entries[at - 1].serial > serial; at--)
        r->entries[at] = r->entries[at - 1];
    r->entries[at] = (entry){session, serial};
    if (serial > r->last)
        r->last = serial;
    return &r->entries[at];
}

static size_t running(const gg_registry *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        gg_hosted_info info;
        gg_hosted_look(r->entries[i].session, &info);
        count += info.state < GG_HOSTED_STOPPED;
    }
    return count;
}

static gg_registry_answer add(gg_registry *r, const gg_hosted_options *options, gg_error *error)
{
    gg_hosted *session = NULL;
    if (find(r, options->name)) {
        gg_fail(error, GG_E_STATE, "Training Session already exists: %s", options->arn);
        return GG_REGISTRY_TAKEN;
    }
    if (running(r) >= GG_SESSIONS_RUNNING_MAX) {
        gg_fail(error, GG_E_LIMIT, "%d training sessions run already; stop one first",
                GG_SESSIONS_RUNNING_MAX);
        return GG_REGISTRY_FULL;
    }
    if (gg_hosted_new(options, &session, error) != GG_OK)
        return GG_REGISTRY_BROKEN;
    entry *e = insert(r, session, r->last + 1);
    if (e && write_file(r, e, error) == GG_OK)
        return GG_REGISTRY_OK;
    if (e)
        r->count--; /* the newest is the last */
    else
        gg_fail(error, GG_E_MEMORY, "out of memory for a training session");
    gg_hosted_release(session);
    return GG_REGISTRY_BROKEN;
}

gg_registry_answer gg_registry_add(gg_registry *r, const gg_hosted_options *options,
                                   gg_error *error)
{
    pthread_mutex_lock(&r->lock);
    gg_registry_answer answer = add(r, options, error);
    pthread_mutex_unlock(&r->lock);
    return answer;
}

gg_hosted *gg_registry_find(gg_registry *r, const char *name)
{
    pthread_mutex_lock(&r->lock);
    const entry *e = find(r, name);
    gg_hosted *session = e ? gg_hosted_keep(e->session) : NULL;
    pthread_mutex_unlock(&r->lock);
    return session;
}

void gg_registry_save(gg_registry *r, gg_hosted *session)
{
    pthread_mutex_lock(&r->lock);
    const entry *e = find(r, gg_hosted_made_with(session)->name);
    if (e)
        (void)write_file(r, e, NULL); /* an older state on the disk is no reason to refuse */
    pthread_mutex_unlock(&r->lock);
}

void gg_registry_remove(gg_registry *r, const char *name)
{
    gg_hosted *session = NULL;
    pthread_mutex_lock(&r->lock);
    entry *e = find(r, name);
    if (e) {
        size_t at = (size_t)(e - r->entries);
        session = e->session;
        memmove(e, e + 1, (r->count - at - 1) * sizeof *e);
        r->count--;
    }
    if (e && r->state_dir) {
        gg_buf path;
        file_path(r, name, &path);
        if (path.status == GG_OK)
            unlink(path.data);
        gg_buf_free(&path);
    }
    pthread_mutex_unlock(&r->lock);
    gg_hosted_release(session);
}

void gg_registry_each(gg_registry *r, int64_t below, gg_session_fn each, void *context)
{
    pthread_mutex_lock(&r->lock);
    for (size_t i = r->count; i-- > 0;)
        if (r->entries[i].serial < below &&
            !each(context, r->entries[i].session, r->entries[i].serial))
            break;
    pthread_mutex_unlock(&r->lock);
}

/* ---- opening ---- */

static void read_info(const cJSON *root, gg_hosted_info *info, int64_t *serial)
{
    const char *detail = gg_json_text(root, "detail");
    *info = (gg_hosted_info){.state = gg_hosted_state_parse(gg_json_text(root, "state"))};
    gg_json_int(root, "serial", serial);
    gg_json_number(root, "created", &info->created);
    gg_json_number(root, "modified", &info->modified);
    gg_json_number(root, "ended", &info->ended);
    gg_json_int(root, "last_received", &info->last_received);
    gg_json_int(root, "prefill", &info->usage.prefill);
    gg_json_int(root, "sampled", &info->usage.sampled);
    gg_json_int(root, "trained", &info->usage.trained);
    if (info->state == GG_HOSTED_RUNNING || info->state == GG_HOSTED_BLOCKED ||
        info->state == GG_HOSTED_STOPPING) {
        info->state = GG_HOSTED_FAILED;
        info->ended = info->modified;
        detail = RESTARTED;
    }
    size_t len = detail ? strlen(detail) : 0;
    if (len > GG_DETAIL_MAX)
        len = GG_DETAIL_MAX;
    if (len)
        memcpy(info->detail, detail, len);
}

static gg_status restore(gg_registry *r, const cJSON *root, const char *path, gg_error *error)
{
    gg_hosted_info info;
    gg_hosted *session = NULL;
    int64_t serial = 0;
    gg_buf request;
    gg_buf_init(&request, FILE_MAX);
    gg_buf_cjson(&request, gg_json_get(root, "request"));
    gg_hosted_options o = {.name = gg_json_text(root, "name"),
                           .arn = gg_json_text(root, "arn"),
                           .region = gg_json_text(root, "region"),
                           .account = gg_json_text(root, "account"),
                           .base_id = gg_json_text(root, "base_id"),
                           .base_version = gg_json_text(root, "base_version"),
                           .group = gg_json_text(root, "group"),
                           .s3_path = gg_json_text(root, "s3_path"),
                           .request = gg_buf_cstr(&request)};
    gg_json_number(root, "rank", &o.rank);
    gg_json_number(root, "alpha", &o.alpha);
    read_info(root, &info, &serial);
    gg_status status = gg_buf_status(&request, "a request", error);
    if (status == GG_OK &&
        (!o.name || !o.arn || info.state == GG_HOSTED_STATE_COUNT || !gg_json_get(root, "request")))
        status = gg_fail(error, GG_E_FORMAT, "%s is damaged; remove it", path);
    if (status == GG_OK)
        status = gg_hosted_restore(&o, &info, &session, error);
    if (status == GG_OK && !insert(r, session, serial)) {
        gg_hosted_release(session);
        status = gg_fail(error, GG_E_MEMORY, "out of memory for the training sessions");
    }
    gg_buf_free(&request);
    return status;
}

static gg_status read_file(gg_registry *r, const char *name, gg_error *error)
{
    gg_buf path, text;
    cJSON *root = NULL;
    file_path(r, name, &path);
    gg_buf_init(&text, FILE_MAX);
    gg_status status = gg_buf_status(&path, "a path", error);
    if (status == GG_OK)
        status = gg_file_read(path.data, &text, error);
    if (status == GG_OK)
        status = gg_json_parse(gg_buf_cstr(&text), text.len, &root, error);
    if (status == GG_E_FORMAT)
        status = gg_fail(error, GG_E_FORMAT, "%s is damaged; remove it", path.data);
    if (status == GG_OK)
        status = restore(r, root, gg_buf_cstr(&path), error);
    cJSON_Delete(root);
    gg_buf_free(&path);
    gg_buf_free(&text);
    return status;
}

static gg_status read_all(gg_registry *r, gg_error *error)
{
    gg_buf folder;
    struct dirent *file;
    gg_buf_init(&folder, strlen(r->state_dir) + sizeof FOLDER + 2);
    gg_buf_printf(&folder, "%s/" FOLDER, r->state_dir);
    gg_status status = gg_buf_status(&folder, "a path", error);
    if (status == GG_OK)
        status = gg_dir_make(folder.data, error);
    DIR *dir = status == GG_OK ? opendir(folder.data) : NULL;
    if (status == GG_OK && !dir)
        status = gg_fail(error, GG_E_IO, "cannot read %s: %s", folder.data, strerror(errno));
    while (dir && status == GG_OK && (file = readdir(dir))) {
        char name[GG_NAME_MAX + 1] = "";
        size_t len = strlen(file->d_name), end = strlen(SUFFIX);
        if (len <= end || len - end > GG_NAME_MAX || strcmp(file->d_name + len - end, SUFFIX) != 0)
            continue;
        memcpy(name, file->d_name, len - end);
        if (gg_text_is(name, GG_TEXT_NAME))
            status = read_file(r, name, error);
    }
    if (dir)
        closedir(dir);
    gg_buf_free(&folder);
    return status;
}

gg_status gg_registry_open(const char *state_dir, gg_registry **out, gg_error *error)
{
    *out = NULL;
    gg_registry *r = calloc(1, sizeof *r);
    if (!r || (state_dir && !(r->state_dir = strdup(state_dir)))) {
        free(r);
        return gg_fail(error, GG_E_MEMORY, "out of memory for the training sessions");
    }
    pthread_mutex_init(&r->lock, NULL);
    gg_status status = state_dir ? read_all(r, error) : GG_OK;
    if (status == GG_OK)
        *out = r;
    else
        gg_registry_close(r);
    return status;
}

void gg_registry_close(gg_registry *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++) {
        (void)gg_hosted_stop(r->entries[i].session, NULL); /* refused by what has ended: fine */
        (void)write_file(r, &r->entries[i], NULL);
        gg_hosted_release(r->entries[i].session);
    }
    free(r->entries);
    free(r->state_dir);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
