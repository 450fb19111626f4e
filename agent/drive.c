#include "agent/drive.h"

#include <stdio.h>
#include <time.h>

void gg_driver_init(gg_driver *driver, uv_loop_t *loop, const gg_game *game)
{
    *driver = (gg_driver){.loop = loop, .blocks = game->info.may_block};
    gg_reply_init(&driver->reply);
    gg_buf_init(&driver->body, GG_REQUEST_MAX);
}

void gg_driver_free(gg_driver *driver)
{
    gg_offload_forget(&driver->behind);
    gg_reply_free(&driver->reply);
    gg_buf_free(&driver->body);
}

void gg_drive_clock(char out[GG_STARTED_ROOM])
{
    struct timespec wall;
    struct tm utc;
    char day[32];
    clock_gettime(CLOCK_REALTIME, &wall);
    gmtime_r(&wall.tv_sec, &utc);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, GG_STARTED_ROOM, "%s.%03ldZ", day, wall.tv_nsec / 1000000);
}

/* ------------------------------------------------------------------ stopping */

static void leave_call(gg_drive *drive)
{
    (void)gg_actor_release(drive->actor); /* the call keeps it */
    gg_offload_leave(drive->call, &drive->driver->behind);
    drive->call = NULL;
}

void gg_drive_stop(gg_drive *drive)
{
    if (drive->post)
        gg_post_cancel(drive->post);
    drive->post = NULL;
    if (drive->call)
        leave_call(drive);
}

bool gg_drive_overdue(gg_drive *drive)
{
    if (!drive->call || (int64_t)uv_now(drive->driver->loop) < drive->deadline_ms)
        return false;
    leave_call(drive);
    gg_actor_abort(drive->actor, GG_STOP_DEADLINE,
                   "a call of the environment went on past the episode's deadline");
    return true;
}

/* ------------------------------------------------------------------ what came of it */

static void go_on(gg_drive *drive, gg_status status, const gg_error *error)
{
    gg_driver *driver = drive->driver;
    if (status != GG_OK)
        driver->broken(drive, error);
    else if (driver->goes_on(drive))
        gg_drive_step(drive);
    driver->after(driver);
}

static gg_retry_class judge(void *context, const gg_http_reply *reply, gg_buf *message)
{
    gg_drive *drive = context;
    return gg_reply_judge(&drive->driver->reply, reply, message);
}

static void answered(void *context, const gg_post_result *result)
{
    gg_drive *drive = context;
    gg_error error;
    gg_status status;
    gg_exchange_log log = {result->attempts, result->attempt_count,
                           result->reply ? result->reply->elapsed_ms : 0};
    drive->post = NULL;
    drive->driver->heard(drive, result);
    if (result->outcome == GG_RETRY_OK)
        status = gg_actor_reply(drive->actor, &drive->driver->reply, &log, &error);
    else
        status = gg_actor_failed(drive->actor, result->outcome, result->message, &log, &error);
    go_on(drive, status, &error);
}

static void called(void *context, const gg_job *job)
{
    gg_drive *drive = context;
    gg_error error;
    drive->call = NULL;
    gg_status status = gg_actor_did(drive->actor, job, &error);
    go_on(drive, status, &error);
}

/* ------------------------------------------------------------------ the machine's turn */

static gg_status ask_for_reply(gg_drive *drive, gg_error *error)
{
    gg_buf *body = &drive->driver->body;
    gg_buf_reset(body);
    gg_status status = gg_actor_request(drive->actor, body, error);
    if (status != GG_OK)
        return status;
    gg_post_request request = {.path = drive->path,
                               .body = body->data,
                               .len = body->len,
                               .headers = drive->headers,
                               .deadline_ms = drive->deadline_ms,
                               .accept = judge};
    return gg_endpoint_send(drive->endpoint, &request, answered, drive, &drive->post, error);
}

/* Sets *waits when the call runs elsewhere. */
static gg_status call(gg_drive *drive, bool *waits, gg_error *error)
{
    gg_job job;
    gg_actor_job(drive->actor, &job);
    *waits = drive->driver->blocks;
    if (*waits)
        return gg_offload_start(drive->driver->loop, &job, called, drive, &drive->call, error);
    gg_job_run(&job);
    return gg_actor_did(drive->actor, &job, error);
}

void gg_drive_step(gg_drive *drive)
{
    gg_error error;
    gg_status status = GG_OK;
    bool waits = false;
    while (status == GG_OK && !waits) {
        switch (gg_actor_wants(drive->actor)) {
        case GG_WANT_END:
            drive->driver->over(drive);
            return;
        case GG_WANT_REPLY:
            status = ask_for_reply(drive, &error);
            waits = true;
            break;
        case GG_WANT_CALL:
            status = call(drive, &waits, &error);
            break;
        }
    }
    if (status != GG_OK)
        drive->driver->broken(drive, &error);
}
