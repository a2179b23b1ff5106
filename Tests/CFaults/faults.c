#define _GNU_SOURCE
#include "faults.h"

#ifndef CFAULTS_INTERPOSES

int cfaults_available(void) { return 0; }
void cfaults_start(const struct cfaults_plan *plan) { (void)plan; }
void cfaults_relent(void) {}
uint64_t cfaults_count(void) { return 0; }
void cfaults_note(const char *line) { (void)line; }

#else

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct cfaults_plan plan;
static char root[PATH_MAX];
static size_t root_length;
static int record_descriptor = -1;
// Set last, so that a thread that sees it sees the plan.
static atomic_int is_watching;
static atomic_int is_relenting;
static _Atomic uint64_t calls;
// Guards the order of records. A spin lock: a record takes microseconds.
static atomic_flag recording = ATOMIC_FLAG_INIT;

long faults_forward(long number, long a, long b, long c, long d, long e, long f) {
    static _Atomic(long (*)(long, ...)) found;
    long (*real)(long, ...) = atomic_load(&found);
    if (!real) {
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
        atomic_store(&found, real);
    }
    return real(number, a, b, c, d, e, f);
}

static void die(void) {
    faults_forward(SYS_kill, getpid(), SIGKILL, 0, 0, 0, 0);
    for (;;) pause();
}

// MARK: Deciding

verdict faults_judge(unsigned kinds) {
    if (!(kinds & plan.kinds)) return CARRY_OUT;
    uint64_t number = atomic_fetch_add(&calls, 1) + 1;
    if (atomic_load(&is_relenting) || number < plan.first) return CARRY_OUT;
    int is_chosen = number == plan.first;
    switch (plan.action) {
    case CFAULTS_KILL_BEFORE:
        if (is_chosen) die();
        return CARRY_OUT;
    case CFAULTS_KILL_WITHIN: return is_chosen ? HALVE_AND_DIE : CARRY_OUT;
    case CFAULTS_KILL_AFTER: return is_chosen ? CARRY_OUT_AND_DIE : CARRY_OUT;
    case CFAULTS_SHORTEN:
        if (is_chosen) return HALVE;
        break;
    case CFAULTS_FAIL: break;
    default: return CARRY_OUT;
    }
    if (number - plan.first >= plan.length) return CARRY_OUT;
    errno = plan.error;
    return REFUSE;
}

long faults_finish(verdict verdict, long result) {
    if (verdict == CARRY_OUT_AND_DIE || verdict == HALVE_AND_DIE) die();
    return result;
}

// MARK: Watching

static int is_below_root(const char *path) {
    return strncmp(path, root, root_length) == 0 && (path[root_length] == 0 || path[root_length] == '/');
}

static ssize_t path_of_descriptor(int descriptor, char *path) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    int error = errno;
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    errno = error;
    path[length < 0 ? 0 : length] = 0;
    return length;
}

int faults_watches_descriptor(int descriptor) {
    char path[PATH_MAX];
    return atomic_load(&is_watching) && path_of_descriptor(descriptor, path) > 0 && is_below_root(path);
}

int faults_watches_path(int directory, const char *path, char *full) {
    if (!atomic_load(&is_watching) || !path) return 0;
    if (path[0] == '/') {
        snprintf(full, PATH_MAX, "%s", path);
        return is_below_root(full);
    }
    // These calls name nothing relative to the working directory.
    char folder[PATH_MAX];
    if (directory == AT_FDCWD || path_of_descriptor(directory, folder) <= 0 || !is_below_root(folder)) return 0;
    // "." names the folder itself.
    int is_folder = strcmp(path, ".") == 0;
    if (snprintf(full, PATH_MAX, is_folder ? "%s" : "%s/%s", folder, path) >= PATH_MAX) return 0;
    return 1;
}

// MARK: Recording

int faults_records(void) { return record_descriptor >= 0; }

static void put(const void *bytes, size_t length) {
    while (length > 0) {
        long written = faults_forward(SYS_write, record_descriptor, (long)bytes, (long)length, 0, 0, 0);
        if (written < 0) abort();
        bytes = (const char *)bytes + written;
        length -= (size_t)written;
    }
}

void faults_record(unsigned kind, uint64_t file, uint64_t directory, uint64_t at, const char *name, const void *data,
                   size_t length) {
    if (!faults_records()) return;
    int error = errno;
    struct cfaults_record record = {kind, file, directory, at, name ? strlen(name) : 0, length};
    while (atomic_flag_test_and_set(&recording)) {}
    put(&record, sizeof record);
    put(name, record.name_length);
    put(data, length);
    atomic_flag_clear(&recording);
    errno = error;
}

uint64_t faults_inode_of_descriptor(int descriptor) {
    struct stat status;
    int error = errno;
    int failed = fstat(descriptor, &status);
    errno = error;
    return failed ? 0 : status.st_ino;
}

uint64_t faults_inode_of_path(const char *full) {
    struct stat status;
    int error = errno;
    int failed = lstat(full, &status);
    errno = error;
    return failed ? 0 : status.st_ino;
}

uint64_t faults_split(const char *full, const char **name) {
    const char *slash = strrchr(full, '/');
    char folder[PATH_MAX];
    *name = slash + 1;
    memcpy(folder, full, (size_t)(slash - full));
    folder[slash - full] = 0;
    return faults_inode_of_path(folder);
}

// MARK: The interface

int cfaults_available(void) { return 1; }

void cfaults_start(const struct cfaults_plan *given) {
    plan = *given;
    snprintf(root, sizeof root, "%s", given->root);
    root_length = strlen(root);
    if (given->record) {
        record_descriptor = open(given->record, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (record_descriptor < 0) abort();
        faults_record(CFAULTS_DID_MKDIR, faults_inode_of_path(root), 0, 0, NULL, NULL, 0);
    }
    atomic_store(&is_watching, 1);
}

void cfaults_relent(void) { atomic_store(&is_relenting, 1); }

uint64_t cfaults_count(void) { return atomic_load(&calls); }

void cfaults_note(const char *line) { faults_record(CFAULTS_DID_NOTE, 0, 0, 0, line, NULL, 0); }

#endif
