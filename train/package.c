#include "train/package.h"

#include "train/call.h"

#define BODY_MAX 4096

gg_status gg_package_location(uv_loop_t *loop, gg_endpoint *control, const char *arn,
                              const bool *given_up, gg_buf *uri, gg_error *error)
{
    cJSON *reply = NULL;
    gg_buf body;
    gg_buf_init(&body, BODY_MAX);
    gg_buf_str(&body, "{\"ModelPackageName\":");
    gg_buf_json_str(&body, arn);
    gg_buf_char(&body, '}');
    gg_status status =
        gg_control_wait(loop, control, "DescribeModelPackage", &body, given_up, &reply, error);
    gg_buf_free(&body);
    if (status != GG_OK)
        return status;
    const cJSON *source =
        gg_json_path(reply, "InferenceSpecification.Containers.0.ModelDataSource.S3DataSource");
    const char *text = gg_json_text(source, "S3Uri");
    if (text)
        gg_buf_str(uri, text);
    else
        status = gg_fail(error, GG_E_PROTOCOL, "model package %s has no S3 location", arn);
    cJSON_Delete(reply);
    return status;
}
