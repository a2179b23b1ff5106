#include "csqlitevfs.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

// https://sqlite.org/fileformat2.html, section 4.1: a frame is a header of 24 bytes and a page. The second number of
// the header is zero except in a commit frame.
#define FRAME_HEADER 24
#define PAGE_LEAST 512
#define PAGE_MOST 65536
// SQLite's VFS for Unix cuts the length of a write to 17 bits, because SQLite never writes more than one page in a
// call.
#define CAPACITY 0x1ffff
// https://sqlite.org/walformat.html, section 2.3.1: a connection that writes to the WAL holds the first lock.
#define WRITE_LOCK 0

// A database, its WAL, or another file. The file of the system's VFS follows in memory and does the work.
typedef struct gathering_file {
    sqlite3_file base;
    sqlite3_file *real;
    // For a database, its WAL while it is open. For a WAL, its database while it is open.
    struct gathering_file *other;

    // For a WAL, the gathered bytes that are not written yet, and their offset in the file.
    uint8_t *bytes;
    int count;
    sqlite3_int64 offset;
    // Whether the last gathered bytes are a header whose page is still missing, and whether that frame is a commit.
    int has_header;
    int is_commit;
    // The end of the frames written under the current lock. A header before this offset overwrites a frame and adds
    // none.
    sqlite3_int64 end;
    // The error of the first write of gathered bytes that failed.
    int error;
} gathering_file;

static sqlite3_vfs *system_vfs;
static sqlite3_vfs gathering_vfs;

static gathering_file *gathering(sqlite3_file *file) { return (gathering_file *)file; }

static sqlite3_file *real(sqlite3_file *file) { return gathering(file)->real; }

// Repeats a sync that a signal interrupts. SQLite repeats its other system calls, but an interrupted sync would fail
// the commit.
static int sync_uninterrupted(sqlite3_file *real, int flags) {
    for (;;) {
        int result = real->pMethods->xSync(real, flags);
        int error = 0;
        if (result != SQLITE_IOERR_FSYNC) return result;
        if (real->pMethods->xFileControl(real, SQLITE_FCNTL_LAST_ERRNO, &error) != SQLITE_OK || error != EINTR) return result;
    }
}

// Writes the gathered bytes. After a failure, every later write of this transaction fails, too, because it must not
// commit without these bytes.
static int write_gathered(gathering_file *log) {
    if (log->error != SQLITE_OK || !log->count) return log->error;
    int count = log->count;
    log->count = 0;
    log->has_header = 0;
    log->error = log->real->pMethods->xWrite(log->real, log->bytes, count, log->offset);
    return log->error;
}

// Discards the gathered bytes. Called when the connection locks or unlocks the write lock, because the next transaction
// may belong to another process. With locking_mode = EXCLUSIVE, the connection never unlocks it, so an error would
// last.
static void end_transaction(gathering_file *log) {
    log->count = 0;
    log->has_header = 0;
    log->end = 0;
    log->error = SQLITE_OK;
}

// Whether exactly these bytes come next in the WAL and fit into the buffer.
static int is_next(const gathering_file *log, int count, sqlite3_int64 offset) {
    if (log->count && offset != log->offset + log->count) return 0;
    if (log->error != SQLITE_OK || log->count + count > CAPACITY) return 0;
    if (log->has_header) return count >= PAGE_LEAST && count <= PAGE_MOST && (count & (count - 1)) == 0;
    return count == FRAME_HEADER && offset >= log->end;
}

static int gather(gathering_file *log, const void *bytes, int count, sqlite3_int64 offset) {
    if (!log->count) log->offset = offset;
    memcpy(log->bytes + log->count, bytes, (size_t)count);
    log->count += count;
    log->end = offset + count;
    log->has_header = !log->has_header;
    if (log->has_header) {
        static const uint8_t zero[4];
        log->is_commit = memcmp((const uint8_t *)bytes + 4, zero, sizeof zero) != 0;
        return SQLITE_OK;
    }
    // Write the commit frame now, because SQLite must learn of an error before the commit counts.
    return log->is_commit ? write_gathered(log) : SQLITE_OK;
}

static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    gathering_file *log = gathering(file);
    if (!log->bytes) log->bytes = sqlite3_malloc(CAPACITY);
    if (log->bytes && log->other && is_next(log, count, offset)) return gather(log, bytes, count, offset);
    int result = write_gathered(log);
    if (result != SQLITE_OK) return result;
    if (offset + count > log->end) log->end = offset + count;
    return log->real->pMethods->xWrite(log->real, bytes, count, offset);
}

static int log_close(sqlite3_file *file) {
    gathering_file *log = gathering(file);
    if (log->other) log->other->other = NULL;
    sqlite3_free(log->bytes);
    return log->real->pMethods->xClose(log->real);
}

static int log_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int result = write_gathered(gathering(file));
    return result == SQLITE_OK ? real(file)->pMethods->xRead(real(file), bytes, count, offset) : result;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int result = write_gathered(gathering(file));
    return result == SQLITE_OK ? real(file)->pMethods->xTruncate(real(file), size) : result;
}

static int log_sync(sqlite3_file *file, int flags) {
    int result = write_gathered(gathering(file));
    return result == SQLITE_OK ? sync_uninterrupted(real(file), flags) : result;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size) {
    int result = write_gathered(gathering(file));
    return result == SQLITE_OK ? real(file)->pMethods->xFileSize(real(file), size) : result;
}

static int database_close(sqlite3_file *file) {
    gathering_file *database = gathering(file);
    if (database->other) database->other->other = NULL;
    return database->real->pMethods->xClose(database->real);
}

static int database_shm_lock(sqlite3_file *file, int first, int count, int flags) {
    gathering_file *log = gathering(file)->other;
    if (log && first == WRITE_LOCK) end_transaction(log);
    return real(file)->pMethods->xShmLock(real(file), first, count, flags);
}

// The remaining methods forward to the system's VFS.

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return real(file)->pMethods->xTruncate(real(file), size);
}

static int file_sync(sqlite3_file *file, int flags) { return sync_uninterrupted(real(file), flags); }

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int file_lock(sqlite3_file *file, int lock) { return real(file)->pMethods->xLock(real(file), lock); }

static int file_unlock(sqlite3_file *file, int lock) { return real(file)->pMethods->xUnlock(real(file), lock); }

static int file_check_lock(sqlite3_file *file, int *is_reserved) {
    return real(file)->pMethods->xCheckReservedLock(real(file), is_reserved);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int file_characteristics(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }

static int file_shm_map(sqlite3_file *file, int region, int size, int extends, void volatile **address) {
    return real(file)->pMethods->xShmMap(real(file), region, size, extends, address);
}

static void file_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int file_shm_unmap(sqlite3_file *file, int deletes) { return real(file)->pMethods->xShmUnmap(real(file), deletes); }

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **address) {
    return real(file)->pMethods->xFetch(real(file), offset, count, address);
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *address) {
    return real(file)->pMethods->xUnfetch(real(file), offset, address);
}

#define LOCKS file_lock, file_unlock, file_check_lock, file_control, file_sector_size, file_characteristics

static const sqlite3_io_methods log_methods = {
    1, log_close, log_read, log_write, log_truncate, log_sync, log_size, LOCKS,
};

static const sqlite3_io_methods database_methods = {
    3, database_close, file_read, file_write, file_truncate, file_sync, file_size, LOCKS,
    file_shm_map, database_shm_lock, file_shm_barrier, file_shm_unmap, file_fetch, file_unfetch,
};

// For rollback journals and temporary files. Also for databases on systems without shared memory, where SQLite uses no
// WAL.
static const sqlite3_io_methods plain_methods = {
    1, database_close, file_read, file_write, file_truncate, file_sync, file_size, LOCKS,
};

// Gathers frames only where a torn write leaves the neighbouring bytes intact. Elsewhere SQLite pads the WAL to whole
// sectors.
static int is_gathered(const gathering_file *database) {
    const int safe = SQLITE_IOCAP_POWERSAFE_OVERWRITE;
    return database->base.pMethods == &database_methods && !database->other
        && (database->real->pMethods->xDeviceCharacteristics(database->real) & safe);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *opened, int flags, int *used) {
    (void)vfs;
    gathering_file *file = gathering(opened);
    memset(file, 0, sizeof *file);
    file->real = (sqlite3_file *)(file + 1);
    int result = system_vfs->xOpen(system_vfs, name, file->real, flags, used);
    const sqlite3_io_methods *methods = file->real->pMethods;
    if (!methods) return result;
    if (flags & SQLITE_OPEN_WAL) {
        file->base.pMethods = &log_methods;
        gathering_file *database = gathering(sqlite3_database_file_object(name));
        if (is_gathered(database)) {
            file->other = database;
            database->other = file;
        }
    } else if ((flags & SQLITE_OPEN_MAIN_DB) && methods->iVersion >= 3 && methods->xShmMap) {
        file->base.pMethods = &database_methods;
    } else {
        file->base.pMethods = &plain_methods;
    }
    return result;
}

static void register_vfs(void) {
    // Another default VFS, for example one that the program has registered, may keep more in its structures than this
    // code copies.
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    if (!found || strncmp(found->zName, "unix", 4) != 0) return;
    gathering_vfs = *found;
    gathering_vfs.pNext = NULL;
    gathering_vfs.zName = "cachestore-gathering";
    gathering_vfs.szOsFile = (int)sizeof(gathering_file) + found->szOsFile;
    gathering_vfs.xOpen = open_file;
    system_vfs = found;
    if (sqlite3_vfs_register(&gathering_vfs, 0) != SQLITE_OK) system_vfs = NULL;
}

const char *csqlitevfs_gathering(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_vfs);
    return system_vfs ? gathering_vfs.zName : NULL;
}
