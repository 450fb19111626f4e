/* Lets a request in, or answers it. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "service/inside.h"

static void refuse(gg_request *request, const gg_auth_result *look)
{
    if (strcmp(request->http->path, "/") == 0)
        gg_control_refuse(request, 403, look->exception, look->message);
    else
        gg_refuse(request, 403, look->exception, look->message);
}

bool gg_request_admit(gg_request *request)
{
    gg_auth_result look;
    gg_auth_look(request->service->auth, request->exchange, request->http, (int64_t)time(NULL),
                 &look);
    request->region_given = look.region_given;
    request->shown = look.kind;
    snprintf(request->region, sizeof request->region, "%s",
             look.region_given ? look.region : GG_SERVICE_REGION);
    /* Whoever waits for the service to come up has no keys. */
    bool open = look.good || strcmp(request->http->path, "/health") == 0;
    if (!open)
        refuse(request, &look);
    return open;
}
