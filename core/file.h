/* Files and the places they are looked for. */
#ifndef GG_CORE_FILE_H
#define GG_CORE_FILE_H

#include <guessgym/buf.h>

#define GG_FILE_MAX (256u << 20) /* largest file read whole */

/* Appends a whole file. Names path and reason on failure. */
gg_status gg_file_read(const char *path, gg_buf *out, gg_error *error);
/* Writes whole: temporary file beside it, fsync, rename. */
gg_status gg_file_write(const char *path, const char *bytes, size_t len, gg_error *error);
/* mkdir -p. */
gg_status gg_dir_make(const char *path, gg_error *error);

/* Shipped data ("wordlists/answers.txt"): $GUESSGYM_DATA, else beside the source tree of an
 * uninstalled program (its folder's parent), else the installed data folder. Appends the path of an
 * existing file. */
gg_status gg_data_path(const char *name, gg_buf *path, gg_error *error);

#endif
