#include "tests/corpus_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "env/search/index.h"

static const char *const known[][2] = {
    {"Quicksort", "A sorting algorithm that picks a pivot and partitions around it."},
    {"Ethernet", "A family of local network technologies with collision detection."},
    {"Semaphore", "A counter that guards a shared resource between processes."},
    {"Hash table", "A structure that maps keys to buckets by a hash function."},
    {"Compiler", "A program that translates source code into machine code."},
    {"Caf\u00e9 bench", "A \"quoted\" title, a back\\slash and a tab\there."},
    {"Packet", "A unit of data that is routed between two machines of a network."},
    {"Pointer", "A variable that holds the address of another variable."},
    {"Garbage collector", "It frees memory that nothing refers to any more."},
    {"Spanning tree", "A protocol that keeps loops out of a bridged Ethernet network."},
};
#define KNOWN (sizeof known / sizeof *known)

static void add(gg_buf *out, const char *id, const char *title, const char *text)
{
    gg_buf_str(out, "{\"_id\":");
    gg_buf_json_str(out, id);
    gg_buf_str(out, ",\"title\":");
    gg_buf_json_str(out, title);
    gg_buf_str(out, ",\"text\":");
    gg_buf_json_str(out, text);
    gg_buf_str(out, ",\"metadata\":{}}\n");
}

void corpus_write(const char *folder)
{
    gg_buf out, text;
    gg_rng rng;
    char id[16];
    gg_rng_seed(&rng, 11);
    gg_buf_init(&out, 1u << 20);
    gg_buf_init(&text, 1u << 16);
    for (size_t i = 0; i < KNOWN; i++) {
        (void)snprintf(id, sizeof id, "a%02zu", i);
        add(&out, id, known[i][0], known[i][1]);
    }
    for (size_t i = KNOWN; i < CORPUS_DOCUMENTS; i++) {
        gg_buf_reset(&text);
        gg_buf_str(&text, "A thing of the");
        for (int w = 0; w < 12; w++) {
            gg_buf_char(&text, ' ');
            for (int c = 0; c < 5; c++)
                gg_buf_char(&text, (char)('a' + gg_rng_below(&rng, 26)));
        }
        (void)snprintf(id, sizeof id, "x%03zu", i);
        add(&out, id, "", gg_buf_cstr(&text));
    }
    folder_write(folder, "corpus.jsonl", gg_buf_cstr(&out), out.len);
    gg_buf_free(&text);
    gg_buf_free(&out);
}

void corpus_index(const char *folder)
{
    gg_error error = {0};
    gg_index_built built;
    corpus_write(folder);
    const char *path = folder_path(folder, "corpus.jsonl");
    const gg_index_plan plan = {
        .corpus = &path, .corpus_count = 1, .dir = folder_path(folder, "index")};
    if (gg_index_build(&plan, &built, &error) != GG_OK)
        fail_msg("%s", error.text);
}
