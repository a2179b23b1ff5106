#include "cbaseline.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "statements.h"

struct baseline_index {
    sqlite3 *database;
    sqlite3_stmt *select, *insert, *freshen, *victims, *delete, *count;
    uint64_t staged; // files created so far
};

// Prevents the compiler from removing reads.
static _Thread_local uint64_t sink;

void baseline_keep(int64_t value) { sink += (uint64_t)value; }

static int prepare(baseline_index *index, const char *sql, sqlite3_stmt **statement) {
    return sqlite3_prepare_v3(index->database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

static int run(baseline_index *index, const char *sql) {
    return sqlite3_exec(index->database, sql, NULL, NULL, NULL);
}

static int configure(baseline_index *index, baseline_use use) {
    sqlite3_busy_timeout(index->database, 5000);
    if (run(index, "PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY")) return -1;
    if (use == baseline_reads) {
        return run(index, "PRAGMA query_only = ON") || prepare(index, lookup_sql, &index->select);
    }
    if (run(index, "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF; PRAGMA journal_size_limit = 20480000")) return -1;
    if (use == baseline_bare) return run(index, bare_sql) || prepare(index, insert_sql, &index->insert);
    return prepare(index, insert_sql, &index->insert) || prepare(index, freshen_sql, &index->freshen)
        || prepare(index, victims_sql, &index->victims) || prepare(index, delete_sql, &index->delete)
        || prepare(index, count_sql, &index->count);
}

baseline_index *baseline_open(const char *path, baseline_use use) {
    baseline_index *index = calloc(1, sizeof *index);
    if (!index) return NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (use == baseline_bare ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(path, &index->database, flags, NULL) != SQLITE_OK || configure(index, use)) {
        fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(index->database));
        baseline_close(index);
        return NULL;
    }
    return index;
}

void baseline_close(baseline_index *index) {
    sqlite3_stmt *all[] = {
        index->select, index->insert, index->freshen, index->victims,
        index->delete, index->count,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sqlite3_finalize(all[i]);
    sqlite3_close_v2(index->database);
    free(index);
}

int baseline_repage(const char *path, int page_bytes) {
    sqlite3 *database;
    char sql[160];
    snprintf(
        sql, sizeof sql, "PRAGMA journal_mode = DELETE; PRAGMA page_size = %d; VACUUM; PRAGMA journal_mode = WAL",
        page_bytes);
    int result = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) || sqlite3_exec(database, sql, NULL, NULL, NULL);
    sqlite3_close_v2(database);
    return result ? -1 : 0;
}

// MARK: Reading

// Reads a column like a program that keeps it: its length and its bytes.
static void keep(sqlite3_stmt *row, int column) {
    const void *bytes = sqlite3_column_text(row, column);
    int length = sqlite3_column_bytes(row, column);
    char copy[4096];
    if (bytes && length <= (int)sizeof copy) {
        memcpy(copy, bytes, (size_t)length);
        sink += (uint64_t)copy[0];
    }
}

// Reads every column of a row.
static void read_row(sqlite3_stmt *row, baseline_row *found) {
    static const int texts[] = {2, 3, 5, 6, 7, 15, 18, 22, 23};
    static const int integers[] = {1, 4, 8, 9, 10, 11, 12, 16, 17, 19, 20, 21};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) keep(row, texts[i]);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        sink += (uint64_t)sqlite3_column_int64(row, integers[i]);
    found->id = sqlite3_column_int64(row, 0);
    found->byte_count = sqlite3_column_int64(row, 13);
    const void *digest = sqlite3_column_blob(row, 14);
    if (digest && sqlite3_column_bytes(row, 14) == 32) memcpy(found->digest, digest, 32);
}

baseline_row baseline_lookup(baseline_index *index, const char *key, int key_length) {
    sqlite3_stmt *row = index->select;
    sqlite3_bind_text(row, 1, "", 0, SQLITE_STATIC);
    sqlite3_bind_text(row, 2, key, key_length, SQLITE_STATIC);
    baseline_row found = {.byte_count = -1};
    while (sqlite3_step(row) == SQLITE_ROW) read_row(row, &found);
    sqlite3_reset(row);
    return found;
}

// ab/cdef…, 65 characters and a zero.
static void blob_path(const uint8_t *digest, char *path) {
    static const char digits[] = "0123456789abcdef";
    int length = 0;
    for (int i = 0; i < 32; i++) {
        path[length++] = digits[digest[i] >> 4];
        path[length++] = digits[digest[i] & 15];
        if (i == 0) path[length++] = '/';
    }
    path[length] = 0;
}

int64_t baseline_read_blob(int blobs, const uint8_t *digest, uint8_t *buffer, int64_t capacity) {
    char path[66];
    blob_path(digest, path);
    int file = openat(blobs, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    struct stat status;
    int64_t count = -1;
    if (fstat(file, &status) == 0 && status.st_size <= capacity) count = read(file, buffer, (size_t)status.st_size);
    close(file);
    return count;
}

// MARK: Writing

static int create_file(baseline_index *index, int blobs, const uint8_t *digest, const uint8_t *bytes, int64_t count) {
    char staged[64], path[66];
    snprintf(staged, sizeof staged, "staged-%d-%p-%llu", (int)getpid(), (void *)index, (unsigned long long)index->staged++);
    blob_path(digest, path);
    int file = openat(blobs, staged, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    int64_t written = write(file, bytes, (size_t)count);
    close(file);
    if (written != count) return -1;
    if (renameat(blobs, staged, blobs, path) == 0) return 0;
    if (errno != ENOENT) return -1;
    char shard[3] = {path[0], path[1], 0};
    if (mkdirat(blobs, shard, 0700) != 0 && errno != EEXIST) return -1;
    return renameat(blobs, staged, blobs, path);
}

static int finish(sqlite3_stmt *statement) {
    int result = sqlite3_step(statement);
    while (result == SQLITE_ROW) result = sqlite3_step(statement);
    sqlite3_reset(statement);
    return result == SQLITE_DONE ? 0 : -1;
}

int baseline_put(
    baseline_index *index, int blobs, const char *key, int key_length, const uint8_t *digest, const uint8_t *bytes,
    int64_t byte_count, int64_t now
) {
    if (create_file(index, blobs, digest, bytes, byte_count) != 0) return -1;
    sqlite3_stmt *insert = index->insert;
    sqlite3_bind_text(insert, 1, key, key_length, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 2, now);
    sqlite3_bind_int64(insert, 3, byte_count);
    sqlite3_bind_blob(insert, 4, digest, 32, SQLITE_STATIC);
    sqlite3_bind_text(insert, 5, head_text, sizeof head_text - 1, SQLITE_STATIC);
    return finish(insert);
}

int baseline_unlink(int blobs, const uint8_t *digest) {
    char path[66];
    blob_path(digest, path);
    return unlinkat(blobs, path, 0);
}

int baseline_freshen(baseline_index *index, const char *key, int key_length, const baseline_row *row, int64_t now) {
    sqlite3_stmt *freshen = index->freshen;
    sqlite3_bind_int64(freshen, 1, row->id);
    sqlite3_bind_text(freshen, 2, "", 0, SQLITE_STATIC);
    sqlite3_bind_text(freshen, 3, key, key_length, SQLITE_STATIC);
    sqlite3_bind_blob(freshen, 4, row->digest, 32, SQLITE_STATIC);
    sqlite3_bind_int64(freshen, 5, now);
    sqlite3_bind_text(freshen, 6, head_text, sizeof head_text - 1, SQLITE_STATIC);
    return finish(freshen) != 0 || sqlite3_changes(index->database) != 1 ? -1 : 0;
}

// MARK: Evicting

enum { batch = 256 };

// Deletes up to `limit` entries and collects the digests of their bodies. Each body has exactly one entry.
static int64_t delete_entries(baseline_index *index, int64_t limit, uint8_t digests[batch][32]) {
    int64_t ids[batch];
    int count = 0;
    sqlite3_bind_int64(index->victims, 1, limit < batch ? limit : batch);
    while (sqlite3_step(index->victims) == SQLITE_ROW) {
        ids[count] = sqlite3_column_int64(index->victims, 0);
        memcpy(digests[count++], sqlite3_column_blob(index->victims, 1), 32);
    }
    sqlite3_reset(index->victims);
    for (int i = 0; i < count; i++) {
        sqlite3_bind_int64(index->delete, 1, ids[i]);
        if (finish(index->delete) != 0) return -1;
    }
    return count;
}

int64_t baseline_evict(baseline_index *index, int blobs, int64_t kept) {
    if (sqlite3_step(index->count) != SQLITE_ROW) return -1;
    int64_t excess = sqlite3_column_int64(index->count, 0) - kept;
    sqlite3_reset(index->count);
    int64_t deleted = 0;
    // Deletes the files of each transaction after its commit.
    while (deleted < excess) {
        uint8_t digests[batch][32];
        if (run(index, "BEGIN IMMEDIATE")) return -1;
        int64_t count = delete_entries(index, excess - deleted, digests);
        if (count <= 0 || run(index, "COMMIT")) return -1;
        for (int i = 0; i < count; i++)
            if (baseline_unlink(blobs, digests[i]) != 0) return -1;
        deleted += count;
    }
    return deleted;
}
