// Wraps system calls that Swift cannot call directly. openat2(2) has no C function; fcntl(2) and ioctl(2) are variadic.

#ifndef CPLATFORM_H
#define CPLATFORM_H

// Swift files import this module for these headers, too.
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
// Milliseconds of a clock that is cheap to read, exact to some ten milliseconds, and never set back.
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

// Removes the name of a file: unlinkat(2). Refuses a directory with EPERM or EISDIR.
int cplatform_unlink(int directory, const char *name);

// write(2), pwrite(2) and pread(2). Darwin refuses more than INT_MAX bytes with EINVAL.
ssize_t cplatform_write(int file, const void *bytes, size_t count);
ssize_t cplatform_pwrite(int file, const void *bytes, size_t count, int64_t offset);
ssize_t cplatform_pread(int file, void *bytes, size_t count, int64_t offset);

// Makes the drive write the bytes of `file` and of its own cache. Returns 0, or -1 with errno set: ENOTSUP where
// fsync(2) does that, or where the file system cannot.
int cplatform_full_sync(int file);

// Opens the file at `path`, a directory and a name, below `directory` for reading. Follows no symbolic link in any
// component, and does not wait for the writer of a FIFO. Returns a descriptor, or -1 with errno set.
int cplatform_open_beneath(int directory, const char *path);

// Opens a new file without a name in the file system of `directory`, for reading and writing. Returns a descriptor, or
// -1 with errno set: ENOTSUP where the system has no such files.
int cplatform_open_unnamed(int directory);

// Gives the open file `file` the name `name` in `directory`. Returns 0, or -1 with errno set: ENOTSUP where the system
// cannot link by descriptor, ENOENT where this process may not.
int cplatform_link_descriptor(int file, int directory, const char *name);

// Makes the descriptor `replaced` refer to the open file of `file`; a child process does not inherit it. Returns `replaced`, or -1
// with errno set.
int cplatform_replace(int file, int replaced);

// Locks `count` bytes from `offset`, all or none, or unlocks the byte at `offset`, for this open file description.
// POSIX locks belong to the process, and any close(2) of the file would release them. Never blocks. Returns 0, or -1
// with errno set: EAGAIN where another description has a lock, ENOTSUP where the system has no such locks.
int cplatform_lock_bytes(int file, int64_t offset, int64_t count);
int cplatform_unlock_byte(int file, int64_t offset);

// Tests whether another open file description has locked the byte. Returns 1 or 0, or -1 with errno set.
int cplatform_is_byte_locked(int file, int64_t offset);

// Finds bytes in `*count` bytes from `*offset` that another open file description has locked, and puts them into
// `*offset` and `*count`. Returns 1; 0 if there are none; -1 with errno set.
int cplatform_find_locked_bytes(int file, int64_t *offset, int64_t *count);

// Creates `name` in `directory` as a file that shares the blocks of `source` until one of the two is written. Returns
// 0, or -1 with errno set and no file created: most file systems cannot share blocks.
int cplatform_clone_file(int source, int directory, const char *name);

// Makes the empty open file `file` share the blocks of `source`, as above. Returns 0, or -1 with errno set: ENOSYS
// where only a new file can share blocks.
int cplatform_clone_into(int source, int file);

// Appends up to `count` bytes of `source` from `offset` to `file` within the kernel. Returns their number, 0 at the end
// of `source`, or -1 with errno set: ENOTSUP where the system has no such call.
int64_t cplatform_copy_range(int source, int64_t offset, int file, int64_t count);

// Calls that only Darwin has, and calls that Darwin answers in another way. The tests imitate them.
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
// Makes the functions above take the paths that they take on Darwin, with `calls`, which stays in use. Only tests call
// this function, and before any other.
void cplatform_take_paths_of_darwin(const struct cplatform_darwin *calls);
#endif

#endif
