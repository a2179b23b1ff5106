// Two VFS shims (https://sqlite.org/vfs.html). The first writes the frames of a commit to the WAL in one call. The
// second gives queries the time of a store's clock. Also reads the WAL-index header, which all connections share.

#ifndef CSQLITEVFS_H
#define CSQLITEVFS_H

#include <stdint.h>

struct sqlite3;

// Returns the name of the VFS with which a writing connection opens the index, or NULL for the default VFS. Any thread
// may call this function. The first call registers the VFS, but not as the default.
//
// SQLite writes each frame of the WAL with two calls. Storing a response takes some 26 calls, which take a fifth of its
// time on ext4. This VFS gathers the frames in memory, up to the commit frame or 128 KiB, and writes them with one
// call. It changes neither the bytes of the file nor their order. SQLite still learns of errors before a commit counts.
const char *csqlitevfs_gathering(void);

// Returns the name of the VFS with which a query opens the index, or NULL for the default VFS. Any thread may call this
// function. The first call registers the VFS, but not as the default.
//
// Only the time differs from the system's VFS. SQLite asks the VFS of a connection for the time that `'now'` means in
// its date functions, also inside views. SQLite passes no connection, so the time belongs to the thread.
const char *csqlitevfs_query(void);

// Sets the time of the queries that this thread runs, in milliseconds since 1970. Clamps it to the range of SQLite's
// date functions.
void csqlitevfs_set_query_time(int64_t milliseconds);

// Returns to the system's time.
void csqlitevfs_reset_query_time(void);

// A version of the database of a connection in WAL mode. Each commit of any process changes it.
typedef struct csqlitevfs_version {
    // The salts of the WAL. SQLite chooses new salts when it restarts the WAL.
    uint64_t salts;
    // The checksum over all frames up to the last commit.
    uint64_t checksum;
    // The number of commits, modulo 2^32.
    uint32_t commits;
    // The number of frames in the WAL.
    uint32_t frames;
} csqlitevfs_version;

// Returns the memory with the version, which SQLite shares between all connections to the database, or NULL without a
// WAL. Stays valid while the connection is open. Only the thread that uses the connection may call this function, and
// only after the connection has read something.
const volatile void *csqlitevfs_header(struct sqlite3 *connection);

// Reads the version, on any thread. Costs no system call.
//
// Returns 0 for an unknown version: before the first frame of the WAL, or while another connection commits.
int csqlitevfs_read_version(const volatile void *header, csqlitevfs_version *version);

#endif
