#include "cbaseline.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct baseline_index {
    sqlite3 *database;
    sqlite3_stmt *select;
};

static const char lookup_sql[] =
    "SELECT id, kind, variant, url, status, etag, last_modified, content_type, requested_at, received_at,"
    " expires_at, created_at, is_body_decoded, byte_count, body, head, session, is_pinned, tags, key_checksum"
    " FROM entry WHERE partition = ?1 AND key = ?2 AND (session IS NULL OR session = (SELECT session FROM state))";

baseline_index *baseline_open(const char *path) {
    baseline_index *index = calloc(1, sizeof *index);
    if (!index) return NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &index->database, flags, NULL) != SQLITE_OK
        || sqlite3_exec(index->database, "PRAGMA cache_size = -8192; PRAGMA query_only = ON", NULL, NULL, NULL) != SQLITE_OK
        || sqlite3_prepare_v3(index->database, lookup_sql, -1, SQLITE_PREPARE_PERSISTENT, &index->select, NULL) != SQLITE_OK) {
        baseline_close(index);
        return NULL;
    }
    return index;
}

void baseline_close(baseline_index *index) {
    sqlite3_finalize(index->select);
    sqlite3_close_v2(index->database);
    free(index);
}

// Touches a column as a program that keeps it would: its length and its bytes.
static uint64_t sink;

static void keep(sqlite3_stmt *row, int column) {
    const void *bytes = sqlite3_column_text(row, column);
    int length = sqlite3_column_bytes(row, column);
    char copy[4096];
    if (bytes && length <= (int)sizeof copy) {
        memcpy(copy, bytes, (size_t)length);
        sink += (uint64_t)copy[0];
    }
}

int64_t baseline_lookup(baseline_index *index, const char *key, int key_length, uint8_t *digest) {
    sqlite3_stmt *row = index->select;
    sqlite3_bind_text(row, 1, "", 0, SQLITE_STATIC);
    sqlite3_bind_text(row, 2, key, key_length, SQLITE_STATIC);
    int64_t byte_count = -1;
    while (sqlite3_step(row) == SQLITE_ROW) {
        static const int texts[] = {2, 3, 5, 6, 7, 15, 18};
        static const int integers[] = {0, 1, 4, 8, 9, 10, 11, 12, 16, 17, 19};
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) keep(row, texts[i]);
        for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
            sink += (uint64_t)sqlite3_column_int64(row, integers[i]);
        byte_count = sqlite3_column_int64(row, 13);
        const void *body = sqlite3_column_blob(row, 14);
        if (body && sqlite3_column_bytes(row, 14) == 32) memcpy(digest, body, 32);
    }
    sqlite3_reset(row);
    return byte_count;
}

int64_t baseline_read_blob(int blobs, const uint8_t *digest, uint8_t *buffer, int64_t capacity) {
    static const char digits[] = "0123456789abcdef";
    char path[66];
    int length = 0;
    for (int i = 0; i < 32; i++) {
        path[length++] = digits[digest[i] >> 4];
        path[length++] = digits[digest[i] & 15];
        if (i == 0) path[length++] = '/';
    }
    path[length] = 0;
    int file = openat(blobs, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    struct stat status;
    int64_t count = -1;
    if (fstat(file, &status) == 0 && status.st_size <= capacity) count = read(file, buffer, (size_t)status.st_size);
    close(file);
    return count;
}
