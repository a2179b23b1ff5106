// What the machine can do: the work of a benchmark in C, without anything around it.

#ifndef CBASELINE_H
#define CBASELINE_H

#include <stdint.h>

typedef struct baseline_index baseline_index;

// Opens the index of a store for lookups, as the store's readers open it; NULL on failure.
baseline_index *baseline_open(const char *path);
void baseline_close(baseline_index *index);

// The store's lookup: the same prepared SELECT, every column read. Returns the length of the body, -1 if there is no row.
// `digest` receives 32 bytes when the body is not empty.
int64_t baseline_lookup(baseline_index *index, const char *key, int key_length, uint8_t *digest);

// open, fstat, read and close of a blob below the directory `blobs`; returns the bytes read, -1 on failure.
int64_t baseline_read_blob(int blobs, const uint8_t *digest, uint8_t *buffer, int64_t capacity);

#endif
