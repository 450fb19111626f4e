/* A fault script, and what it then decides of a few requests: the same when it is read again. */
#include "tests/fuzz/fuzz.h"

#include "service/faults.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const bodies[] = {"a", "b", "a", "a"};
    gg_faults *script, *again;
    gg_error error = {0};
    char *text = fuzz_text(data, size);
    if (gg_faults_parse(text, size, "script", &script, &error) != GG_OK) {
        must(!script && error.text[0]);
        free(text);
        return 0;
    }
    must(gg_faults_parse(text, size, "script", &again, &error) == GG_OK);
    for (int turn = 1; turn <= 8; turn++) {
        gg_verdict a = gg_faults_decide(script, bodies[turn % 4], 1, turn);
        gg_verdict b = gg_faults_decide(again, bodies[turn % 4], 1, turn);
        must(!a.wire == !b.wire && !a.model == !b.model && a.request == b.request);
    }
    must(gg_faults_requests(script) == 8);
    gg_faults_free(script);
    gg_faults_free(again);
    free(text);
    return 0;
}
