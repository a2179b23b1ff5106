// Two VFSes of SQLite (https://sqlite.org/vfs.html, "VFS shims"): the first writes the frames of a commit to the WAL with
// one call, the second gives queries the time of a store's clock. Also reads the header that connections share.

#ifndef CSQLITEVFS_H
#define CSQLITEVFS_H

#include <stdint.h>

struct sqlite3;

// Returns the name with which a writing connection opens the index, or NULL if the default VFS must do. Any thread may
// call this function. The first call registers the VFS, but not as the default.
//
// SQLite writes each frame of the WAL with two calls. A stored response takes some 26 calls, which take a fifth of its
// time on ext4. This VFS gathers the frames in memory, up to the commit frame or 128 KiB, and writes them with one
// call. It changes neither the bytes of the file nor their order. SQLite still learns of errors before a commit counts.
const char *csqlitevfs_gathering(void);

// Returns the name with which a query opens the index, or NULL if the default VFS must do. Any thread may call this
// function. The first call registers the VFS, but not as the default.
//
// The VFS is the system's with another time: SQLite asks the VFS of a connection for the time that `'now'` means in its
// date functions, also inside views. SQLite passes no connection, so the time belongs to the thread.
const char *csqlitevfs_query(void);

// Sets the time of the queries that this thread runs, in milliseconds since 1970. Limits the time to those that
// SQLite's date functions accept.
void csqlitevfs_set_query_time(int64_t milliseconds);

// Returns to the time of the system.
void csqlitevfs_reset_query_time(void);

// A state of the database of a connection in WAL mode. Each commit of any process makes another one.
typedef struct csqlitevfs_version {
    // The salts of the WAL. SQLite chooses new ones when it restarts the WAL.
    uint64_t salts;
    // The checksum over all frames, which includes the last commit.
    uint64_t checksum;
    // The number of commits, modulo 2^32.
    uint32_t commits;
    // The number of frames in the WAL.
    uint32_t frames;
} csqlitevfs_version;

// Returns the memory with the state, which SQLite shares with all connections to the database; NULL without a WAL. Stays valid
// while the connection is open. Only the thread that uses the connection may call this function, after the connection has
// read something.
const volatile void *csqlitevfs_header(struct sqlite3 *connection);

// Reads the state, on any thread. Costs no system call.
//
// Returns 0 if the state is unknown: before the first frame of the WAL, or while another connection commits.
int csqlitevfs_read_version(const volatile void *header, csqlitevfs_version *version);

#endif
