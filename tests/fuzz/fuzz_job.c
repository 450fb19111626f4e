/* The configuration document of a job, and a trajectory's id. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "service/job_config.h"
#include "service/trajectory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), name[96];
    gg_trajectory_place place;
    for (gg_job_category category = 0; category < GG_JOB_CATEGORIES; category++) {
        gg_job_config config;
        gg_error error = {0};
        gg_status status = gg_job_config_read(category, text, &config, NULL, NULL, &error);
        must(status == GG_OK ? config.data_uri && config.output_path && *config.base_id
                             : status == GG_E_ARGUMENT && *error.text);
        gg_job_config_free(&config);
    }
    if (gg_trajectory_parse(text, &place)) {
        gg_trajectory_name(&place, name);
        must(strcmp(name, text) == 0);
    }
    free(text);
    return 0;
}
