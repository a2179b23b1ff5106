// Darwin's code paths on other systems: CACHESTORE_PATHS=darwin selects them in every program that links this file. The
// functions return Darwin's results, as far as the store can observe them.

#if !defined(__APPLE__)
#include "cplatform.h"

#include <stdio.h>

// XNU answers EOPNOTSUPP for a socket, Linux ENXIO.
static int open_as_darwin(int directory, const char *path, int flags, mode_t mode) {
    int file = openat(directory, path, flags, mode);
    if (file >= 0 || errno != ENXIO) return file;
    struct stat status;
    int is_socket = fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(status.st_mode);
    errno = is_socket ? EOPNOTSUPP : ENXIO;
    return -1;
}

// POSIX and XNU answer EPERM for a directory, Linux EISDIR.
static int unlink_as_darwin(int directory, const char *name) {
    int result = unlinkat(directory, name, 0);
    if (result != 0 && errno == EISDIR) errno = EPERM;
    return result;
}

// XNU refuses more than INT_MAX bytes in a call. Here the limit is lower, so that a test does not need 2 GiB.
#define MAX_COUNT ((size_t)16 << 20)

static int is_refused(size_t count) {
    if (count <= MAX_COUNT) return 0;
    errno = EINVAL;
    return 1;
}

static ssize_t write_as_darwin(int file, const void *bytes, size_t count) {
    return is_refused(count) ? -1 : write(file, bytes, count);
}

static ssize_t pwrite_as_darwin(int file, const void *bytes, size_t count, int64_t offset) {
    return is_refused(count) ? -1 : pwrite(file, bytes, count, (off_t)offset);
}

static ssize_t pread_as_darwin(int file, void *bytes, size_t count, int64_t offset) {
    return is_refused(count) ? -1 : pread(file, bytes, count, (off_t)offset);
}

static int copy_bytes(int source, int file) {
    char bytes[65536];
    off_t offset = 0;
    for (;;) {
        ssize_t count = pread(source, bytes, sizeof bytes, offset);
        if (count <= 0) return (int)count;
        for (ssize_t written = 0; written < count;) {
            ssize_t result = write(file, bytes + written, (size_t)(count - written));
            if (result < 0) return -1;
            written += result;
        }
        offset += count;
    }
}

// fclonefileat(2) clones bytes and permissions and shares the blocks. This copy shares no blocks.
static int clone_as_darwin(int source, int directory, const char *name) {
    struct stat status;
    if (fstat(source, &status) != 0) return -1;
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    int result = fchmod(file, status.st_mode & 07777) == 0 ? copy_bytes(source, file) : -1;
    int error = errno;
    if (result != 0) unlinkat(directory, name, 0);
    close(file);
    errno = error;
    return result;
}

// F_FULLFSYNC does the work of fsync(2) and also flushes the drive's cache.
static int full_sync_as_darwin(int file) { return fsync(file); }

__attribute__((constructor)) static void take_paths(void) {
    static const struct cplatform_darwin calls = {
        .open = open_as_darwin, .unlink = unlink_as_darwin, .write = write_as_darwin,
        .pwrite = pwrite_as_darwin, .pread = pread_as_darwin, .clone_file = clone_as_darwin,
        .full_sync = full_sync_as_darwin};
    const char *paths = getenv("CACHESTORE_PATHS");
    if (!paths) return;
    if (strcmp(paths, "darwin") != 0) {
        fprintf(stderr, "CACHESTORE_PATHS is neither unset nor darwin\n");
        exit(2);
    }
    cplatform_take_paths_of_darwin(&calls);
}
#endif
