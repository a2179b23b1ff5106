// Faults in the system calls of the linked program.
//
// On Linux with glibc, the functions of interpose.c replace libc's, also for shared libraries such as libsqlite3. Calls
// below the watched directory are counted, killed, failed, cut short or recorded. All other calls pass. On other
// systems every call passes.

#ifndef CFAULTS_H
#define CFAULTS_H

#include <stdint.h>

// Kinds of calls, for sets. A call may have several kinds: an open(2) that may create a file is OPEN and NAME.
enum {
    CFAULTS_OPEN = 1,    // takes a descriptor
    CFAULTS_READ = 2,    // reads bytes
    CFAULTS_WRITE = 4,   // writes bytes
    CFAULTS_NAME = 8,    // creates, renames or removes a name, or creates an unnamed file
    CFAULTS_RESIZE = 16, // truncates or allocates
    CFAULTS_SYNC = 32,   // fsync, fdatasync
    CFAULTS_MODE = 64,   // owner or permissions
};

// The action at the chosen call. The calls before and after it run unchanged.
enum {
    CFAULTS_COUNT,       // nothing: the calls are only counted
    CFAULTS_KILL_BEFORE, // SIGKILL instead of the call
    CFAULTS_KILL_WITHIN, // SIGKILL after half of the bytes have been written
    CFAULTS_KILL_AFTER,  // SIGKILL after the call
    CFAULTS_FAIL,        // this call and the next fail, `length` calls in all
    CFAULTS_SHORTEN,     // this call writes half of the bytes, and the next `length - 1` calls fail
};

struct cfaults_plan {
    const char *root;   // the watched directory: absolute, without symbolic links; copied
    const char *record; // the file that receives the changes; NULL records nothing
    unsigned kinds;     // the calls that count
    int action;
    uint64_t first;     // the number of the chosen call; the first is 1
    uint64_t length;    // calls that fail
    int error;          // the errno of the failing calls
};

// Whether this system's calls can be watched.
int cfaults_available(void);

// Watches from now on. Called once, before the directory is used.
void cfaults_start(const struct cfaults_plan *plan);

// Lets every later call pass. Counting and recording continue.
void cfaults_relent(void);

// Calls of the plan's kinds so far.
uint64_t cfaults_count(void);

// Writes a separator line between the recorded changes.
void cfaults_note(const char *line);

// The kinds of records. Each begins with a `struct cfaults_record`; name and data follow it.
enum {
    CFAULTS_DID_NOTE = 0,     // name: the text of the separator
    CFAULTS_DID_CREATE = 1,   // file, directory, name: a new empty file
    CFAULTS_DID_STAGE = 2,    // file: a new empty unnamed file
    CFAULTS_DID_MKDIR = 3,    // file, directory, name; for the watched directory: file only
    CFAULTS_DID_WRITE = 4,    // file, at, data
    CFAULTS_DID_RESIZE = 5,   // file, at: the new size
    CFAULTS_DID_SYNC = 6,     // file
    CFAULTS_DID_LINK = 7,     // file, directory, name
    CFAULTS_DID_UNLINK = 8,   // directory, name
    CFAULTS_DID_RENAME = 9,   // directory, name, at: the new directory; data: the new name
};

struct cfaults_record {
    uint64_t kind;
    uint64_t file;      // inode; the system may reuse the inode of a deleted file
    uint64_t directory; // inode
    uint64_t at;
    uint64_t name_length;
    uint64_t data_length;
};

#endif
