#define _GNU_SOURCE
#include "cplatform.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif
#endif

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_CLOEXEC)

// Step by step, where one call cannot promise that no component is followed.
static int open_stepwise(int directory, const char *path) {
    const char *slash = strchr(path, '/');
    char folder[16];
    if (!slash || (size_t)(slash - path) >= sizeof folder) {
        errno = EINVAL;
        return -1;
    }
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = 0;
    int parent = openat(directory, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (parent < 0) return -1;
    int file = openat(parent, slash + 1, OPEN_FLAGS | O_NOFOLLOW);
    int error = errno;
    close(parent);
    errno = error;
    return file;
}

int cplatform_open_beneath(int directory, const char *path) {
#if defined(SYS_openat2) && defined(RESOLVE_NO_SYMLINKS)
    struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int file = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
    // Kernels before 5.6 do not know the call, some sandboxes forbid it, and a rename nearby may make it ask for a retry.
    if (file >= 0 || (errno != ENOSYS && errno != EPERM && errno != EAGAIN)) return file;
#elif defined(O_NOFOLLOW_ANY)
    return openat(directory, path, OPEN_FLAGS | O_NOFOLLOW_ANY);
#endif
    return open_stepwise(directory, path);
}
