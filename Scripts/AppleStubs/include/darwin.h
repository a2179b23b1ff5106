// The part of Darwin's C headers that CPlatform and CSQLiteVFS use. Replaces each of their headers; the check creates a
// file of each name. Headers: https://github.com/apple-oss-distributions/xnu, below bsd/sys, unless another is named.
#ifndef APPLE_STUBS_DARWIN_H
#define APPLE_STUBS_DARWIN_H

#include <stddef.h>
#include <stdint.h>

// bsd/arm/_types.h, _types.h, _types/*.h
typedef int32_t dev_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef int64_t off_t;
typedef int32_t pid_t;
typedef long ssize_t;

// errno.h; https://github.com/apple-oss-distributions/Libc, include/errno.h
extern int *__error(void);
#define errno (*__error())
#define EINTR 4
#define EACCES 13
#define EINVAL 22
#define EAGAIN 35
#define ENOTSUP 45
#define ENOSYS 78

// stat.h, _types/_s_ifmt.h
#define S_IFMT 0170000
#define S_IFDIR 0040000
#define S_IFREG 0100000

// mman.h
#define MAP_FAILED ((void *)-1)

// fcntl.h
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x00000004
#define O_NOFOLLOW 0x00000100
#define O_CREAT 0x00000200
#define O_EXCL 0x00000800
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define O_NOFOLLOW_ANY 0x20000000
#define F_SETFD 2
#define F_FULLFSYNC 51
#define F_OFD_SETLK 90
#define F_OFD_GETLK 92
#define FD_CLOEXEC 1
#define F_RDLCK 1
#define F_UNLCK 2
#define F_WRLCK 3
struct flock {
    off_t l_start;
    off_t l_len;
    pid_t l_pid;
    short l_type;
    short l_whence;
};
int openat(int, const char *, int, ...);
int fcntl(int, int, ...);

// clonefile.h
int fclonefileat(int, int, const char *, uint32_t) __attribute__((availability(macos, introduced = 10.12)));

// https://github.com/apple-oss-distributions/Libc, include/unistd.h, include/string.h
#define SEEK_SET 0
int close(int);
int dup2(int, int);
int linkat(int, const char *, int, const char *, int);
int unlinkat(int, const char *, int);
ssize_t pread(int, void *, size_t, off_t);
ssize_t pwrite(int, const void *, size_t, off_t);
ssize_t write(int, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
size_t strlen(const char *);
char *strchr(const char *, int);

// https://github.com/apple-oss-distributions/libpthread, include/pthread/pthread.h
typedef struct {
    long __sig;
    char __opaque[8];
} pthread_once_t;
#define PTHREAD_ONCE_INIT {0x30B1BCBA, {0}}
int pthread_once(pthread_once_t *, void (*)(void));

// Libc, include/time.h, and bsd/sys/_types/_timespec.h
struct timespec { long tv_sec; long tv_nsec; };
typedef enum { _CLOCK_MONOTONIC = 6, _CLOCK_MONOTONIC_RAW_APPROX = 5 } clockid_t;
#define CLOCK_MONOTONIC _CLOCK_MONOTONIC
#define CLOCK_MONOTONIC_RAW_APPROX _CLOCK_MONOTONIC_RAW_APPROX
int clock_gettime(clockid_t, struct timespec *);

#endif
