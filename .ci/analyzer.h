/* Read before every file by clang-tidy alone: it does not see across files, and would follow paths
 * on which gg_fail answers GG_OK. */
#include <guessgym/error.h>

#define gg_fail(error, status, ...) ((void)(gg_fail)((error), (status), __VA_ARGS__), (status))
#define gg_fail_prefix(error, ...)  ((void)(gg_fail_prefix)((error), __VA_ARGS__), GG_E_STATE)
