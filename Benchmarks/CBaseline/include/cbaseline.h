// What the machine can do: the work of a benchmark in C, without anything around it.
//
// A handle is used by one thread at a time. Functions that return int return 0 on success; those that return int64_t
// return -1 on failure.

#ifndef CBASELINE_H
#define CBASELINE_H

#include <stdint.h>

typedef struct baseline_index baseline_index;

// What an index is opened for.
typedef enum {
    baseline_reads,  // lookups in the index of a store, as the store's readers open it
    baseline_writes, // changes to the index of a store, with the pragmas of the store's writer; SQLite moves the log
    baseline_bare    // changes to an index of one table with the store's columns and one key, without triggers; made if need be
} baseline_use;

// NULL on failure.
baseline_index *baseline_open(const char *path, baseline_use use);
void baseline_close(baseline_index *index);

// One row, as far as the other functions need it.
typedef struct {
    int64_t id;
    int64_t byte_count; // of the body; -1 if there is no row
    uint8_t digest[32]; // of the body, if it is not empty
} baseline_row;

// The store's lookup: the same prepared SELECT, every column read.
baseline_row baseline_lookup(baseline_index *index, const char *key, int key_length);

// open, fstat, read and close of a blob below the directory `blobs`; returns the bytes read.
int64_t baseline_read_blob(int blobs, const uint8_t *digest, uint8_t *buffer, int64_t capacity);

// A file created, written and renamed to the name of `digest`, then one row in a transaction of its own: one upsert, where the
// store asks first. The digest is the caller's; nothing is hashed.
int baseline_put(
    baseline_index *index, int blobs, const char *key, int key_length, const uint8_t *digest, const uint8_t *bytes,
    int64_t byte_count, int64_t now);

// Gives the index of a closed store pages of another size.
int baseline_repage(const char *path, int page_bytes);

// Deletes the file of a blob.
int baseline_unlink(int blobs, const uint8_t *digest);

// The store's UPDATE after a 304, in a transaction of its own.
int baseline_freshen(baseline_index *index, const char *key, int key_length, const baseline_row *row, int64_t now);

// The store's DELETE of the entries used least recently, 256 in a transaction, and unlink of their files, until `kept`
// entries are left; returns how many were deleted.
int64_t baseline_evict(baseline_index *index, int blobs, int64_t kept);

// Does nothing with a number, which the caller's compiler cannot know.
void baseline_keep(int64_t value);

#endif
