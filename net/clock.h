/*
 * Calls functions at their times, from one thread of its own. For the server's replies that are
 * late on purpose.
 *
 * Threads: any may add; the functions run on the clock's thread, one after the other.
 */
#ifndef GG_NET_CLOCK_H
#define GG_NET_CLOCK_H

#include "net/due.h"

typedef struct gg_clock gg_clock;

typedef struct gg_alarm gg_alarm;
struct gg_alarm { /* the first part of whatever waits; the caller's until it rings */
    gg_due due;
    void (*ring)(gg_alarm *alarm);
};

int64_t gg_clock_now(void);   /* milliseconds on the monotonic clock */
gg_clock *gg_clock_new(void); /* NULL when there is no memory or no thread */
/* Lets every alarm ring at once and joins the thread; no more are taken. NULL is fine. */
void gg_clock_stop(gg_clock *clock);
void gg_clock_free(gg_clock *clock); /* after gg_clock_stop; NULL is fine */
/* False when memory is short or the clock has stopped. */
bool gg_clock_add(gg_clock *clock, gg_alarm *alarm, int64_t time_ms);

#endif
