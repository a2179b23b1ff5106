// The functions of faults.c that the interposed functions call.

#ifndef FAULTS_H
#define FAULTS_H

#include "cfaults.h"

#if defined(__linux__) && defined(__GLIBC__)
#define CFAULTS_INTERPOSES 1
#endif

#ifdef CFAULTS_INTERPOSES
#include <stddef.h>
#include <sys/types.h>

// libc's own syscall(2): errno is set, -1 means failure.
long faults_forward(long number, long a, long b, long c, long d, long e, long f);

// The verdict on a call.
typedef enum {
    CARRY_OUT,
    CARRY_OUT_AND_DIE,
    HALVE,
    HALVE_AND_DIE,
    REFUSE, // errno is set
} verdict;

// Counts a watched call and returns the verdict. Does not return if the plan kills the process before the call.
verdict faults_judge(unsigned kinds);

// Ends the call. Returns `result`, unless the plan kills the process after the call.
long faults_finish(verdict verdict, long result);

// Whether the open file is, or was, below the watched directory.
int faults_watches_descriptor(int descriptor);

// Whether `path`, as *at functions take it, lies below the watched directory. If it does, `full` receives the absolute
// path: at most PATH_MAX bytes, dot components unresolved.
int faults_watches_path(int directory, const char *path, char *full);

// Whether changes are recorded.
int faults_records(void);

// Records a change. Keeps errno.
void faults_record(unsigned kind, uint64_t file, uint64_t directory, uint64_t at, const char *name, const void *data,
                   size_t length);

// The inode of an open file or of a path; 0 if the file does not exist. Does not follow a link in the last component.
uint64_t faults_inode_of_descriptor(int descriptor);
uint64_t faults_inode_of_path(const char *full);

// The inode of the folder of a full path, and the name in it.
uint64_t faults_split(const char *full, const char **name);
#endif
#endif
