// Functions that replace libc's. Each asks for a verdict, calls the kernel, and records the change.

#define _GNU_SOURCE
#include "faults.h"

#ifdef CFAULTS_INTERPOSES

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORWARD(number, a, b, c, d) faults_forward(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

// MARK: Opening

static int open_file(int directory, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    if (!faults_watches_path(directory, path, full)) return (int)FORWARD(SYS_openat, directory, path, flags, mode);
    int is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    int may_change = is_unnamed || (flags & (O_CREAT | O_TRUNC));
    verdict verdict = faults_judge(CFAULTS_OPEN | (may_change ? CFAULTS_NAME : 0));
    if (verdict == REFUSE) return -1;
    int was_there = faults_records() && faults_inode_of_path(full) != 0;
    int file = (int)FORWARD(SYS_openat, directory, path, flags, mode);
    if (file >= 0 && faults_records()) {
        uint64_t inode = faults_inode_of_descriptor(file);
        const char *name;
        uint64_t folder = faults_split(full, &name);
        if (is_unnamed) {
            faults_record(CFAULTS_DID_STAGE, inode, 0, 0, NULL, NULL, 0);
        } else if ((flags & O_CREAT) && !was_there) {
            faults_record(CFAULTS_DID_CREATE, inode, folder, 0, name, NULL, 0);
        } else if (flags & O_TRUNC) {
            faults_record(CFAULTS_DID_RESIZE, inode, 0, 0, NULL, NULL, 0);
        }
    }
    return (int)faults_finish(verdict, file);
}

#define OPEN_MODE(flags)                                                                                                \
    mode_t mode = 0;                                                                                                    \
    if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) {                                                    \
        va_list arguments;                                                                                              \
        va_start(arguments, flags);                                                                                     \
        mode = va_arg(arguments, mode_t);                                                                               \
        va_end(arguments);                                                                                              \
    }

int open(const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return open_file(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return open_file(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return open_file(directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return open_file(directory, path, flags, mode);
}

// glibc has no wrapper for openat2. Programs use it only for reading.
long syscall(long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
    va_end(arguments);
    verdict verdict = CARRY_OUT;
#ifdef SYS_openat2
    char full[PATH_MAX];
    if (number == SYS_openat2 && faults_watches_path((int)a[0], (const char *)a[1], full)) {
        verdict = faults_judge(CFAULTS_OPEN);
        if (verdict == REFUSE) return -1;
    }
#endif
    return faults_finish(verdict, faults_forward(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

// MARK: Reading

ssize_t read(int file, void *bytes, size_t count) {
    verdict verdict = faults_watches_descriptor(file) ? faults_judge(CFAULTS_READ) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    return faults_finish(verdict, FORWARD(SYS_read, file, bytes, count, 0));
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
    verdict verdict = faults_watches_descriptor(file) ? faults_judge(CFAULTS_READ) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    return faults_finish(verdict, FORWARD(SYS_pread64, file, bytes, count, offset));
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) { return pread64(file, bytes, count, offset); }

// MARK: Writing

// A negative `offset` means the position of the file.
static ssize_t write_bytes(int file, const void *bytes, size_t count, off64_t offset) {
    int is_watched = faults_watches_descriptor(file);
    verdict verdict = is_watched ? faults_judge(CFAULTS_WRITE) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    if (verdict == HALVE || verdict == HALVE_AND_DIE) count = (count + 1) / 2;
    long written = offset < 0 ? FORWARD(SYS_write, file, bytes, count, 0)
                              : FORWARD(SYS_pwrite64, file, bytes, count, offset);
    if (is_watched && written > 0 && faults_records()) {
        // The bytes end at the current position, also for a file opened with O_APPEND.
        off64_t at = offset < 0 ? lseek(file, 0, SEEK_CUR) - written : offset;
        faults_record(CFAULTS_DID_WRITE, faults_inode_of_descriptor(file), 0, (uint64_t)at, NULL, bytes, (size_t)written);
    }
    return faults_finish(verdict, written);
}

ssize_t write(int file, const void *bytes, size_t count) { return write_bytes(file, bytes, count, -1); }

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    return write_bytes(file, bytes, count, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return write_bytes(file, bytes, count, offset);
}

// MARK: Sizes

static void record_size(int file) {
    struct stat status;
    if (!faults_records() || fstat(file, &status) != 0) return;
    faults_record(CFAULTS_DID_RESIZE, status.st_ino, 0, (uint64_t)status.st_size, NULL, NULL, 0);
}

int ftruncate64(int file, off64_t size) {
    int is_watched = faults_watches_descriptor(file);
    verdict verdict = is_watched ? faults_judge(CFAULTS_RESIZE) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    long result = FORWARD(SYS_ftruncate, file, size, 0, 0);
    if (is_watched && result == 0) record_size(file);
    return (int)faults_finish(verdict, result);
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int fallocate64(int file, int mode, off64_t offset, off64_t length) {
    int is_watched = faults_watches_descriptor(file);
    verdict verdict = is_watched ? faults_judge(CFAULTS_RESIZE) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    long result = FORWARD(SYS_fallocate, file, mode, offset, length);
    if (is_watched && result == 0) record_size(file);
    return (int)faults_finish(verdict, result);
}

int fallocate(int file, int mode, off_t offset, off_t length) { return fallocate64(file, mode, offset, length); }

// Returns the error instead of setting it.
int posix_fallocate64(int file, off64_t offset, off64_t length) {
    int error = errno;
    int result = fallocate64(file, 0, offset, length) == 0 ? 0 : errno;
    errno = error;
    return result;
}

int posix_fallocate(int file, off_t offset, off_t length) { return posix_fallocate64(file, offset, length); }

// MARK: Syncing

static int sync_file(long number, int file) {
    int is_watched = faults_watches_descriptor(file);
    verdict verdict = is_watched ? faults_judge(CFAULTS_SYNC) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    // Only records a watched sync: the tests compute the file system after a power cut from the records.
    long result = is_watched ? 0 : FORWARD(number, file, 0, 0, 0);
    if (is_watched) faults_record(CFAULTS_DID_SYNC, faults_inode_of_descriptor(file), 0, 0, NULL, NULL, 0);
    return (int)faults_finish(verdict, result);
}

int fsync(int file) { return sync_file(SYS_fsync, file); }
int fdatasync(int file) { return sync_file(SYS_fdatasync, file); }

// MARK: Names

int linkat(int from, const char *old_path, int to, const char *new_path, int flags) {
    char full[PATH_MAX];
    int is_watched = faults_watches_path(to, new_path, full);
    verdict verdict = is_watched ? faults_judge(CFAULTS_NAME) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    long result = faults_forward(SYS_linkat, from, (long)old_path, to, (long)new_path, flags, 0);
    if (is_watched && result == 0 && faults_records()) {
        const char *name;
        uint64_t folder = faults_split(full, &name);
        faults_record(CFAULTS_DID_LINK, faults_inode_of_path(full), folder, 0, name, NULL, 0);
    }
    return (int)faults_finish(verdict, result);
}

int link(const char *old_path, const char *new_path) { return linkat(AT_FDCWD, old_path, AT_FDCWD, new_path, 0); }

int unlinkat(int directory, const char *path, int flags) {
    char full[PATH_MAX];
    int is_watched = faults_watches_path(directory, path, full);
    verdict verdict = is_watched ? faults_judge(CFAULTS_NAME) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    long result = FORWARD(SYS_unlinkat, directory, path, flags, 0);
    if (is_watched && result == 0 && faults_records()) {
        const char *name;
        uint64_t folder = faults_split(full, &name);
        faults_record(CFAULTS_DID_UNLINK, 0, folder, 0, name, NULL, 0);
    }
    return (int)faults_finish(verdict, result);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int renameat2(int from, const char *old_path, int to, const char *new_path, unsigned flags) {
    char old_full[PATH_MAX], new_full[PATH_MAX];
    int is_watched = faults_watches_path(from, old_path, old_full) && faults_watches_path(to, new_path, new_full);
    verdict verdict = is_watched ? faults_judge(CFAULTS_NAME) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    long result = faults_forward(SYS_renameat2, from, (long)old_path, to, (long)new_path, (long)flags, 0);
    if (is_watched && result == 0 && faults_records()) {
        const char *old_name, *new_name;
        uint64_t old_folder = faults_split(old_full, &old_name), new_folder = faults_split(new_full, &new_name);
        faults_record(CFAULTS_DID_RENAME, 0, old_folder, new_folder, old_name, new_name, strlen(new_name));
    }
    return (int)faults_finish(verdict, result);
}

int renameat(int from, const char *old_path, int to, const char *new_path) {
    return renameat2(from, old_path, to, new_path, 0);
}

int rename(const char *old_path, const char *new_path) {
    return renameat2(AT_FDCWD, old_path, AT_FDCWD, new_path, 0);
}

int mkdirat(int directory, const char *path, mode_t mode) {
    char full[PATH_MAX];
    int is_watched = faults_watches_path(directory, path, full);
    verdict verdict = is_watched ? faults_judge(CFAULTS_NAME) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    long result = FORWARD(SYS_mkdirat, directory, path, mode, 0);
    if (is_watched && result == 0 && faults_records()) {
        const char *name;
        uint64_t folder = faults_split(full, &name);
        faults_record(CFAULTS_DID_MKDIR, faults_inode_of_path(full), folder, 0, name, NULL, 0);
    }
    return (int)faults_finish(verdict, result);
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

// MARK: Owner and permissions

int fchmod(int file, mode_t mode) {
    verdict verdict = faults_watches_descriptor(file) ? faults_judge(CFAULTS_MODE) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    return (int)faults_finish(verdict, FORWARD(SYS_fchmod, file, mode, 0, 0));
}

int fchown(int file, uid_t owner, gid_t group) {
    verdict verdict = faults_watches_descriptor(file) ? faults_judge(CFAULTS_MODE) : CARRY_OUT;
    if (verdict == REFUSE) return -1;
    return (int)faults_finish(verdict, FORWARD(SYS_fchown, file, owner, group, 0));
}

#endif
