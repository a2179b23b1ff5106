#include "csqlitevfs.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

// https://sqlite.org/walformat.html, section 2.1: the header of the WAL-index, at the start of its first region of 32
// KiB. A copy of the header follows.
#define REGION 32768
typedef struct wal_index_header {
    uint32_t version, unused, changes;
    uint8_t is_initialized, is_big_endian;
    uint16_t page_size;
    uint32_t frames, pages, frame_checksum[2], salts[2], checksum[2];
} wal_index_header;

static wal_index_header load(const volatile uint32_t *words) {
    uint32_t loaded[sizeof(wal_index_header) / sizeof(uint32_t)];
    wal_index_header header;
    for (size_t i = 0; i < sizeof loaded / sizeof *loaded; i++) loaded[i] = words[i];
    memcpy(&header, loaded, sizeof header);
    return header;
}

static uint64_t pair(const uint32_t words[2]) { return (uint64_t)words[0] << 32 | words[1]; }

const volatile void *csqlitevfs_header(sqlite3 *connection) {
    sqlite3_file *file = NULL, *log = NULL;
    void volatile *region = NULL;
    // Without a WAL, xShmMap would create the shared-memory file.
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK) return NULL;
    if (!log || !log->pMethods) return NULL;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file) return NULL;
    const sqlite3_io_methods *methods = file->pMethods;
    if (!methods || methods->iVersion < 2 || !methods->xShmMap) return NULL;
    return methods->xShmMap(file, 0, REGION, 0, &region) == SQLITE_OK ? region : NULL;
}

int csqlitevfs_read_version(const volatile void *memory, csqlitevfs_version *version) {
    // SQLite writes the copy first, so two equal headers are complete.
    wal_index_header header = load(memory);
    atomic_thread_fence(memory_order_seq_cst);
    wal_index_header copy = load((const volatile uint32_t *)memory + sizeof header / sizeof(uint32_t));
    if (memcmp(&header, &copy, sizeof header) != 0 || !header.is_initialized) return 0;
    // A WAL that never had a frame has no salts. Later versions without frames could not be distinguished from it.
    if (pair(header.salts) == 0) return 0;
    version->salts = pair(header.salts);
    version->checksum = pair(header.frame_checksum);
    version->commits = header.changes;
    version->frames = header.frames;
    return 1;
}
