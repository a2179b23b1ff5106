#define _GNU_SOURCE
// Lock offsets need more than 32 bits on every system.
#define _FILE_OFFSET_BITS 64
#include "cplatform.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <sys/clonefile.h>
#endif

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/fs.h>)
#include <linux/fs.h>
#include <sys/ioctl.h>
#endif
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif
#include <sys/syscall.h>
#endif

// Set if the functions below take Darwin's paths on another system. NULL on Darwin, which then uses its real calls.
#if defined(__APPLE__)
#define darwin ((const struct cplatform_darwin *)NULL)
#else
static const struct cplatform_darwin *darwin;

void cplatform_take_paths_of_darwin(const struct cplatform_darwin *calls) { darwin = calls; }
#endif

static int fail(int error) {
    errno = error;
    return -1;
}

int cplatform_open(int directory, const char *path, int flags, mode_t mode) {
    return darwin ? darwin->open(directory, path, flags, mode) : openat(directory, path, flags, mode);
}

int cplatform_unlink(int directory, const char *name) {
    return darwin ? darwin->unlink(directory, name) : unlinkat(directory, name, 0);
}

ssize_t cplatform_write(int file, const void *bytes, size_t count) {
    return darwin ? darwin->write(file, bytes, count) : write(file, bytes, count);
}

ssize_t cplatform_pwrite(int file, const void *bytes, size_t count, int64_t offset) {
    return darwin ? darwin->pwrite(file, bytes, count, offset) : pwrite(file, bytes, count, (off_t)offset);
}

ssize_t cplatform_pread(int file, void *bytes, size_t count, int64_t offset) {
    return darwin ? darwin->pread(file, bytes, count, offset) : pread(file, bytes, count, (off_t)offset);
}

int cplatform_full_sync(int file) {
#if defined(F_FULLFSYNC)
    return fcntl(file, F_FULLFSYNC);
#else
    return darwin ? darwin->full_sync(file) : fail(ENOTSUP);
#endif
}

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_CLOEXEC)

// Opens each component in turn, for systems without a call that refuses all links in a path.
static int open_stepwise(int directory, const char *path) {
    const char *slash = strchr(path, '/');
    char folder[16];
    if (!slash || (size_t)(slash - path) >= sizeof folder) return fail(EINVAL);
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = 0;
    int parent = cplatform_open(directory, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (parent < 0) return -1;
    int file = cplatform_open(parent, slash + 1, OPEN_FLAGS | O_NOFOLLOW, 0);
    int error = errno;
    close(parent);
    errno = error;
    return file;
}

int cplatform_open_beneath(int directory, const char *path) {
#if defined(SYS_openat2) && defined(RESOLVE_NO_SYMLINKS)
    if (darwin) return open_stepwise(directory, path);
    struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int file = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
    // Kernels before 5.6 lack the call, and some sandboxes forbid it. A concurrent rename may make it ask for a retry.
    if (file >= 0 || (errno != ENOSYS && errno != EPERM && errno != EAGAIN)) return file;
#elif defined(O_NOFOLLOW_ANY)
    return openat(directory, path, OPEN_FLAGS | O_NOFOLLOW_ANY);
#endif
    return open_stepwise(directory, path);
}

int cplatform_replace(int file, int replaced) {
#if defined(__linux__)
    if (!darwin) return dup3(file, replaced, O_CLOEXEC);
#endif
    int result = dup2(file, replaced);
    if (result >= 0) fcntl(result, F_SETFD, FD_CLOEXEC);
    return result;
}

int cplatform_open_unnamed(int directory) {
#ifdef O_TMPFILE
    if (!darwin) return openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    return fail(ENOTSUP);
}

int cplatform_link_descriptor(int file, int directory, const char *name) {
#ifdef AT_EMPTY_PATH
    if (!darwin) return linkat(file, "", directory, name, AT_EMPTY_PATH);
#endif
    return fail(ENOTSUP);
}

#if defined(__APPLE__) && !defined(F_OFD_SETLK)
// The headers of some SDKs lack these constants. The kernel has supported them since Darwin 17.
#define F_OFD_SETLK 90
#define F_OFD_GETLK 92
#endif

#ifdef F_OFD_SETLK
static int byte_lock(int file, int command, short type, int64_t offset, int64_t count, short *found) {
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)offset, .l_len = (off_t)count};
    int result = fcntl(file, command, &lock);
    // POSIX allows either error.
    if (result == -1 && errno == EACCES) errno = EAGAIN;
    *found = lock.l_type;
    return result;
}

int cplatform_lock_bytes(int file, int64_t offset, int64_t count) {
    short found;
    return byte_lock(file, F_OFD_SETLK, F_WRLCK, offset, count, &found);
}

int cplatform_unlock_byte(int file, int64_t offset) {
    short found;
    return byte_lock(file, F_OFD_SETLK, F_UNLCK, offset, 1, &found);
}

int cplatform_is_byte_locked(int file, int64_t offset) {
    short found;
    if (byte_lock(file, F_OFD_GETLK, F_WRLCK, offset, 1, &found) == -1) return -1;
    return found != F_UNLCK;
}

int cplatform_find_locked_bytes(int file, int64_t *offset, int64_t *count) {
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)*offset, .l_len = (off_t)*count};
    if (fcntl(file, F_OFD_GETLK, &lock) == -1) return -1;
    *offset = lock.l_start;
    *count = lock.l_len;
    return lock.l_type != F_UNLCK;
}
#else
int cplatform_lock_bytes(int file, int64_t offset, int64_t count) { return fail(ENOTSUP); }
int cplatform_unlock_byte(int file, int64_t offset) { return fail(ENOTSUP); }
int cplatform_is_byte_locked(int file, int64_t offset) { return fail(ENOTSUP); }
int cplatform_find_locked_bytes(int file, int64_t *offset, int64_t *count) { return fail(ENOTSUP); }
#endif

int cplatform_clone_into(int source, int file) {
#if defined(FICLONE)
    if (!darwin) return ioctl(file, FICLONE, source);
#endif
    return fail(ENOSYS);
}

int64_t cplatform_copy_range(int source, int64_t offset, int file, int64_t count) {
#if defined(SYS_copy_file_range)
    loff_t position = offset;
    if (!darwin) return syscall(SYS_copy_file_range, source, &position, file, NULL, (size_t)count, 0);
#endif
    return fail(ENOTSUP);
}

int cplatform_clone_file(int source, int directory, const char *name) {
#if defined(__APPLE__)
    return fclonefileat(source, directory, name, 0);
#else
    if (darwin) return darwin->clone_file(source, directory, name);
#if defined(FICLONE)
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    int result = cplatform_clone_into(source, file);
    int error = errno;
    if (result != 0) unlinkat(directory, name, 0);
    close(file);
    errno = error;
    return result;
#else
    return fail(ENOTSUP);
#endif
#endif
}
