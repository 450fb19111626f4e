#include "net/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct gg_clock {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    gg_due_heap heap;
    bool over;
};

int64_t gg_clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void wait_until(gg_clock *clock, int64_t time_ms)
{
    struct timespec t = {.tv_sec = (time_t)(time_ms / 1000),
                         .tv_nsec = (long)(time_ms % 1000) * 1000000};
    pthread_cond_timedwait(&clock->changed, &clock->lock, &t);
}

static void *run(void *context)
{
    gg_clock *clock = context;
    pthread_mutex_lock(&clock->lock);
    for (;;) {
        gg_due *due = gg_due_first(&clock->heap);
        if (due && (clock->over || due->time <= gg_clock_now())) {
            gg_alarm *alarm = (gg_alarm *)due;
            gg_due_take(&clock->heap, due);
            pthread_mutex_unlock(&clock->lock);
            alarm->ring(alarm);
            pthread_mutex_lock(&clock->lock);
        } else if (due)
            wait_until(clock, due->time);
        else if (clock->over)
            break;
        else
            pthread_cond_wait(&clock->changed, &clock->lock);
    }
    pthread_mutex_unlock(&clock->lock);
    return NULL;
}

void gg_clock_free(gg_clock *clock)
{
    if (!clock)
        return;
    pthread_cond_destroy(&clock->changed);
    pthread_mutex_destroy(&clock->lock);
    gg_due_free(&clock->heap);
    free(clock);
}

gg_clock *gg_clock_new(void)
{
    gg_clock *clock = calloc(1, sizeof *clock);
    pthread_condattr_t monotonic;
    if (!clock)
        return NULL;
    pthread_mutex_init(&clock->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&clock->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&clock->thread, NULL, run, clock) == 0)
        return clock;
    gg_clock_free(clock);
    return NULL;
}

void gg_clock_stop(gg_clock *clock)
{
    if (!clock)
        return;
    pthread_mutex_lock(&clock->lock);
    clock->over = true;
    pthread_cond_signal(&clock->changed);
    pthread_mutex_unlock(&clock->lock);
    pthread_join(clock->thread, NULL);
}

bool gg_clock_add(gg_clock *clock, gg_alarm *alarm, int64_t time_ms)
{
    alarm->due.place = GG_DUE_NONE;
    pthread_mutex_lock(&clock->lock);
    bool fits = !clock->over && gg_due_reserve(&clock->heap, clock->heap.count + 1);
    if (fits)
        gg_due_put(&clock->heap, &alarm->due, time_ms);
    pthread_cond_signal(&clock->changed);
    pthread_mutex_unlock(&clock->lock);
    return fits;
}
