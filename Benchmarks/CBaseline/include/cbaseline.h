// The work of a benchmark in plain C, as a measure of what the machine can do.
//
// A handle is used by one thread at a time. Functions that return int return 0 on success. Functions that return
// int64_t return -1 on failure.

#ifndef CBASELINE_H
#define CBASELINE_H

#include <stdint.h>

typedef struct baseline_index baseline_index;

// The use of an open index.
typedef enum {
    baseline_reads,  // lookups in the index of a store, opened like the store's readers
    baseline_writes, // changes to the index of a store, with the store writer's pragmas; SQLite checkpoints the WAL
    baseline_bare    // changes to one table with the store's columns and one key, without triggers; created if missing
} baseline_use;

// Returns NULL on failure.
baseline_index *baseline_open(const char *path, baseline_use use);
void baseline_close(baseline_index *index);

// The part of a row that the other functions need.
typedef struct {
    int64_t id;
    int64_t byte_count; // of the body; -1 without a row
    uint8_t digest[32]; // of a non-empty body
} baseline_row;

// The store's lookup: the same prepared SELECT, every column read.
baseline_row baseline_lookup(baseline_index *index, const char *key, int key_length);

// Opens, stats, reads and closes a blob below the directory `blobs`. Returns the bytes read.
int64_t baseline_read_blob(int blobs, const uint8_t *digest, uint8_t *buffer, int64_t capacity);

// Creates and writes a file, renames it to the name of `digest`, and upserts one row in a separate transaction. The
// store looks the row up first. The caller supplies the digest; nothing is hashed.
int baseline_put(
    baseline_index *index, int blobs, const char *key, int key_length, const uint8_t *digest, const uint8_t *bytes,
    int64_t byte_count, int64_t now);

// Changes the page size of a closed store's index.
int baseline_repage(const char *path, int page_bytes);

// Deletes the file of a blob.
int baseline_unlink(int blobs, const uint8_t *digest);

// Runs the store's UPDATE after a 304, in a separate transaction.
int baseline_freshen(baseline_index *index, const char *key, int key_length, const baseline_row *row, int64_t now);

// Deletes the least recently used entries with the store's DELETE, 256 in each transaction, and unlinks their files,
// until `kept` entries are left. Returns the number of deleted entries.
int64_t baseline_evict(baseline_index *index, int blobs, int64_t kept);

// Uses a number without effect, so that the caller's compiler cannot remove its computation.
void baseline_keep(int64_t value);

#endif
