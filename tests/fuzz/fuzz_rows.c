/* Data sets of jobs: the first byte chooses the format. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "service/job_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a.jsonl", "a.json", "a.csv", "a.parquet"};
    gg_rows rows = {0};
    gg_error error = {0};
    if (size == 0)
        return 0;
    char *text = fuzz_text(data + 1, size - 1);
    gg_status status = gg_rows_parse(names[data[0] % 4], text, size - 1, &rows, &error);
    must(status == GG_OK || (status == GG_E_CONFIG && *error.text));
    for (size_t i = 0; i < rows.count; i++)
        must(rows.prompts[i][strspn(rows.prompts[i], " \t\r\n\v\f")] != '\0');
    gg_rows_free(&rows);
    free(text);
    return 0;
}
