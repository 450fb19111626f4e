/* What the network benches share: clocks, memory, bodies to send. */
#ifndef GG_TESTS_BENCH_H
#define GG_TESTS_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static inline double bench_wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* User and system time of the process, in microseconds. */
static inline double bench_cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return 1e6 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Resident memory now, in kilobytes. */
static inline long bench_rss_kb(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static inline void bench_stop_unless(int fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "bench: %s failed\n", what);
    exit(1);
}

#define BENCH_BODIES_MAX 100000

/* The request of a third turn: its system prompt is a row of zeros of the usual length. */
#define BENCH_TURN                                                                                 \
    "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"call00001\",\"type\":"     \
    "\"function\",\"function\":{\"name\":\"guess_word\",\"arguments\":\"{\\\"guess\\\":"           \
    "\\\"crane\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"call00001\",\"content\":\"C-, "    \
    "R?, A-, N-, E+. Known so far: the fifth letter is E; R is somewhere else; C, A and N are "    \
    "used up. Five guesses are left.\"}"
#define BENCH_REQUEST                                                                              \
    "{\"model\":\"m\",\"temperature\":1,\"max_tokens\":4096,\"seed\":42,\"messages\":["            \
    "{\"role\":\"system\",\"content\":\"%0900d\"},{\"role\":\"user\",\"content\":\"Begin.\"}"      \
    "," BENCH_TURN "," BENCH_TURN "],\"tools\":[{\"type\":\"function\",\"function\":"              \
    "{\"name\":\"guess_word\",\"parameters\":{\"type\":\"object\"}}}]}"

/* The bodies of chat requests, one a line of a file; without a file, the one above. They are kept
 * for ever. */
static inline char **bench_bodies(const char *path, size_t *count)
{
    static char *bodies[BENCH_BODIES_MAX], only[8192];
    char *line = NULL;
    size_t room = 0, n = 0;
    FILE *f = path ? fopen(path, "r") : NULL;
    bench_stop_unless(!path || f, "opening the bodies");
    for (ssize_t len; f && (len = getline(&line, &room, f)) > 0; line = NULL, room = 0) {
        bench_stop_unless(n < BENCH_BODIES_MAX, "keeping so many bodies");
        line[len - 1] = '\0';
        bodies[n++] = line;
    }
    free(line);
    if (f)
        fclose(f);
    if (n == 0) {
        snprintf(only, sizeof only, BENCH_REQUEST, 0);
        bodies[n++] = only;
    }
    *count = n;
    return bodies;
}

#endif
