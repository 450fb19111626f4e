/* What one search costs: by words and by vectors on an index, every question of its lists; and
 * the scan over a million rows. Prints one JSON object.
 */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "core/file.h"
#include "core/json.h"
#include "env/search/embed.h"
#include "env/search/index.h"
#include "tests/bench/bench.h"

#define QUESTIONS_MAX 4000
#define SHOWN         20
#define ROWS          1000000
#define ROUNDS        3
#define SCANS         5
#define FILLED        997 /* every so many rows hold something */

static double took[QUESTIONS_MAX];

static double seconds(void)
{
    return 1e-6 * bench_cpu_us();
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double share(size_t count, double part)
{
    bench_stop_unless(count > 0, "having questions");
    qsort(took, count, sizeof *took, by_value);
    return 1e3 * took[(size_t)((double)(count - 1) * part)];
}

/* The questions of one list; returns how many there are now. */
static size_t read_questions(const char *path, char **out, size_t count)
{
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    bench_stop_unless(f != NULL, "opening a list");
    while (count < QUESTIONS_MAX && getline(&line, &room, f) > 0) {
        cJSON *row = NULL, *inner = NULL;
        gg_json_parse(line, strlen(line), &row, NULL);
        const char *prompt = gg_json_text(row, "prompt");
        bench_stop_unless(prompt != NULL, "reading a list");
        gg_json_parse(prompt, strlen(prompt), &inner, NULL);
        const char *text = gg_json_text(inner, "prompt");
        bench_stop_unless(text != NULL, "reading a question");
        out[count++] = strdup(text);
        cJSON_Delete(row);
        cJSON_Delete(inner);
    }
    free(line);
    fclose(f);
    return count;
}

/* The best of some rounds: what the search costs, and not what the machine's neighbours do. A blank
 * more a round makes it another query, so that nothing comes from what is kept. */
static double best_of_rounds(gg_index *index, gg_search_kind kind, const char *question)
{
    gg_hit hits[SHOWN];
    gg_error error = {0};
    size_t found, len = strlen(question);
    double best = INFINITY;
    char *query = malloc(len + ROUNDS);
    bench_stop_unless(query != NULL, "keeping a question");
    memcpy(query, question, len);
    memset(query + len, ' ', ROUNDS);
    for (size_t round = 0; round < ROUNDS; round++) {
        double start = seconds();
        bench_stop_unless(
            gg_index_search(index, kind, query, len + round, SHOWN, hits, &found, &error) == GG_OK,
            "a search");
        best = fmin(best, seconds() - start);
    }
    free(query);
    return best;
}

static void searches(gg_index *index, gg_search_kind kind, char **questions, size_t count,
                     const char *name)
{
    for (size_t i = 0; i < count; i++)
        took[i] = best_of_rounds(index, kind, questions[i]);
    printf("\"%s_ms\":%.3f", name, share(count, 0.5));
    printf(",\"%s_p95_ms\":%.3f,", name, share(count, 0.95));
}

/* A file with holes: reading a hole costs memory and time as reading a row does. */
static void scan(const char *path, size_t rows, const char *name)
{
    float row[GG_EMBED_DIMS], query[GG_EMBED_DIMS];
    gg_vectors vectors;
    gg_error error = {0};
    gg_hit hits[SHOWN];
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    bench_stop_unless(fd >= 0 && ftruncate(fd, (off_t)(rows * sizeof row)) == 0, "making a file");
    for (size_t i = 0; i < GG_EMBED_DIMS; i++)
        query[i] = row[i] = 0.04f;
    for (size_t i = 0; i < rows; i += FILLED)
        bench_stop_unless(pwrite(fd, row, sizeof row, (off_t)(i * sizeof row)) ==
                              (ssize_t)sizeof row,
                          "writing a row");
    close(fd);
    bench_stop_unless(gg_vectors_open(path, rows, GG_EMBED_DIMS, &vectors, &error) == GG_OK,
                      "opening the rows");
    gg_vectors_nearest(&vectors, query, SHOWN, hits); /* brings the file into memory */
    for (size_t i = 0; i < SCANS; i++) {
        double start = seconds();
        size_t found = gg_vectors_nearest(&vectors, query, SHOWN, hits);
        took[i] = seconds() - start;
        bench_stop_unless(found == SHOWN, "finding rows");
    }
    gg_vectors_close(&vectors);
    remove(path);
    printf("\"%s_s\":%.3f", name, share(SCANS, 0.5) / 1e3);
}

int main(int argc, char **argv)
{
    static char *questions[QUESTIONS_MAX];
    gg_index *index;
    gg_error error = {0};
    size_t count = 0;
    bench_stop_unless(argc >= 4, "reading the arguments (INDEX SCRATCH LIST...)");
    bench_stop_unless(gg_index_open(argv[1], &index, &error) == GG_OK, "opening the index");
    for (int i = 3; i < argc; i++)
        count = read_questions(argv[i], questions, count);
    printf("{\"questions\":%zu,\"documents\":%zu,", count, gg_index_documents(index));
    searches(index, GG_SEARCH_WORDS, questions, count, "words");
    searches(index, GG_SEARCH_VECTORS, questions, count, "vectors");
    gg_index_close(index);
    scan(argv[2], ROWS / 10, "scan_tenth");
    printf(",");
    scan(argv[2], ROWS, "scan");
    printf("}\n");
    for (size_t i = 0; i < count; i++)
        free(questions[i]);
    return 0;
}
