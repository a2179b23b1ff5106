// The files of the inspector's page, embedded in the program.

#ifndef CINSPECTORPAGE_H
#define CINSPECTORPAGE_H

#include <stddef.h>

typedef struct {
    const char *_Nonnull name;
    /// UTF-8 text, which ends before a byte 0.
    const unsigned char *_Nonnull text;
} cinspectorpage_file;

/// Returns the files. Stores their number in `count`.
const cinspectorpage_file *_Nonnull cinspectorpage_files(size_t *_Nonnull count);

#endif
