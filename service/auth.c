/* Who sends a request. Signatures and bearer tokens are not verified yet: everybody is let in; the
 * region is read from the credential's scope, since ARNs carry it. */
#include <string.h>

#include "service/inside.h"

/* "AWS4-HMAC-SHA256 Credential=KEY/20261130/us-west-2/sagemaker/aws4_request, ..." */
static bool scope_region(const char *authorization, char *out, size_t room)
{
    const char *at = authorization ? strstr(authorization, "Credential=") : NULL;
    for (int slash = 0; slash < 2 && at; slash++) {
        at = strchr(at, '/');
        at = at ? at + 1 : NULL;
    }
    size_t len = at ? strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
    if (len == 0 || len >= room || at[len] != '/')
        return false;
    memcpy(out, at, len);
    out[len] = '\0';
    return true;
}

bool gg_request_admit(gg_request *request)
{
    const char *authorization = gg_exchange_header(request->exchange, "Authorization");
    request->region_given = scope_region(authorization, request->region, sizeof request->region);
    if (!request->region_given)
        memcpy(request->region, GG_SERVICE_REGION, sizeof GG_SERVICE_REGION);
    return true;
}
