// Wraps system calls that Swift cannot call directly. openat2(2) has no C function; fcntl(2) and ioctl(2) are variadic.

#ifndef CPLATFORM_H
#define CPLATFORM_H

// Swift files also import this module for these headers.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// Wraps macros and variadic functions, which Swift does not import.
static inline int cplatform_errno(void) { return errno; }
static inline void *cplatform_map_failed(void) { return MAP_FAILED; }
static inline mode_t cplatform_file_type_mask(void) { return S_IFMT; }
static inline mode_t cplatform_regular_file_type(void) { return S_IFREG; }
static inline mode_t cplatform_directory_type(void) { return S_IFDIR; }
// Returns the milliseconds of a monotonic clock that is cheap to read and accurate to some ten milliseconds.
static inline int64_t cplatform_coarse_milliseconds(void) {
    struct timespec time;
#if defined(CLOCK_MONOTONIC_COARSE)
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
#elif defined(CLOCK_MONOTONIC_RAW_APPROX)
    clock_gettime(CLOCK_MONOTONIC_RAW_APPROX, &time);
#else
    clock_gettime(CLOCK_MONOTONIC, &time);
#endif
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// openat(2).
int cplatform_open(int directory, const char *path, int flags, mode_t mode);

// Removes a name with unlinkat(2). Refuses a directory with EPERM or EISDIR.
int cplatform_unlink(int directory, const char *name);

// write(2), pwrite(2) and pread(2). Darwin refuses more than INT_MAX bytes with EINVAL.
ssize_t cplatform_write(int file, const void *bytes, size_t count);
ssize_t cplatform_pwrite(int file, const void *bytes, size_t count, int64_t offset);
ssize_t cplatform_pread(int file, void *bytes, size_t count, int64_t offset);

// Flushes `file` and the cache of its drive to the medium. Returns 0, or -1 with errno set: ENOTSUP where fsync(2)
// already flushes the drive, or where the file system cannot.
int cplatform_full_sync(int file);

// Opens the file at `path` below `directory` for reading. `path` has one directory and one name. Follows no symbolic
// link in any component, and does not wait for the writer of a FIFO. Returns a descriptor, or -1 with errno set.
int cplatform_open_beneath(int directory, const char *path);

// Opens an unnamed new file in the file system of `directory`, for reading and writing. Returns a descriptor, or -1
// with errno set: ENOTSUP where the system has no unnamed files.
int cplatform_open_unnamed(int directory);

// Links the open file `file` as `name` in `directory`. Returns 0, or -1 with errno set: ENOTSUP where the system cannot
// link by descriptor, ENOENT where this process may not.
int cplatform_link_descriptor(int file, int directory, const char *name);

// Makes the descriptor `replaced` refer to the open file of `file`, close-on-exec. Returns `replaced`, or -1 with errno
// set.
int cplatform_replace(int file, int replaced);

// Locks all `count` bytes from `offset` for this open file description, or none of them. The second function unlocks
// the byte at `offset`. POSIX locks would not do: they belong to the process, and any close(2) of the file releases
// them. Never blocks. Returns 0, or -1 with errno set: EAGAIN where another description has a lock, ENOTSUP where the
// system has no such locks.
int cplatform_lock_bytes(int file, int64_t offset, int64_t count);
int cplatform_unlock_byte(int file, int64_t offset);

// Tests whether another open file description has locked the byte. Returns 1 or 0, or -1 with errno set.
int cplatform_is_byte_locked(int file, int64_t offset);

// Searches `*count` bytes from `*offset` for bytes that another open file description has locked. Stores the found
// range in `*offset` and `*count` and returns 1. Returns 0 without such bytes, or -1 with errno set.
int cplatform_find_locked_bytes(int file, int64_t *offset, int64_t *count);

// Clones `source` to the new file `name` in `directory`: both share their blocks until one is written. Returns 0, or -1
// with errno set and no file created. Most file systems cannot share blocks.
int cplatform_clone_file(int source, int directory, const char *name);

// Clones `source` into the empty open file `file`. Returns 0, or -1 with errno set: ENOSYS where only a new file can
// share blocks.
int cplatform_clone_into(int source, int file);

// Appends up to `count` bytes of `source` from `offset` to `file` within the kernel. Returns the number of copied
// bytes, 0 at the end of `source`, or -1 with errno set: ENOTSUP where the system has no such call.
int64_t cplatform_copy_range(int source, int64_t offset, int file, int64_t count);

// Calls that exist only on Darwin or behave differently there. Tests imitate them.
struct cplatform_darwin {
    int (*open)(int directory, const char *path, int flags, mode_t mode);
    int (*unlink)(int directory, const char *name);
    ssize_t (*write)(int file, const void *bytes, size_t count);
    ssize_t (*pwrite)(int file, const void *bytes, size_t count, int64_t offset);
    ssize_t (*pread)(int file, void *bytes, size_t count, int64_t offset);
    int (*clone_file)(int source, int directory, const char *name);
    int (*full_sync)(int file);
};

#if !defined(__APPLE__)
// Makes the functions above take their Darwin paths, with `calls`. `calls` must stay valid. For tests only, before any
// other call of this library.
void cplatform_take_paths_of_darwin(const struct cplatform_darwin *calls);
#endif

#endif
