/* A temporary folder for a test, removed with all it holds. */
#ifndef GG_TESTS_FOLDER_H
#define GG_TESTS_FOLDER_H

#include <stddef.h>

#define FOLDER_PATH 512

/* Makes a fresh folder under $TMPDIR or /tmp; fails the test when it cannot. */
void folder_make(char path[FOLDER_PATH]);
void folder_remove(const char *path);
/* "FOLDER/name" in storage that the next four calls leave alone. */
const char *folder_path(const char *folder, const char *name);
/* A whole file, written and read without the code under test. The caller frees what it read. */
void folder_write(const char *folder, const char *name, const char *bytes, size_t len);
char *folder_read(const char *folder, const char *name, size_t *len);

#endif
