#include "csqlitevfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

// The Julian days of 1970-01-01T00:00:00Z and of the last time that SQLite's date functions accept, in milliseconds.
#define UNIX_EPOCH INT64_C(210866760000000)
#define LAST_TIME INT64_C(464269060799999)

static sqlite3_vfs *system_vfs;
static sqlite3_vfs query_vfs;

// The time of the queries on this thread, as a Julian day in milliseconds, or 0 for the system's time.
static _Thread_local sqlite3_int64 query_time;

static int current_time(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    (void)vfs;
    if (query_time == 0) return system_vfs->xCurrentTimeInt64(system_vfs, time);
    *time = query_time;
    return SQLITE_OK;
}

static void register_vfs(void) {
    // As in csqlitevfs.c: another default VFS may keep more in its structures than this code copies.
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    if (!found || strncmp(found->zName, "unix", 4) != 0 || found->iVersion < 2 || !found->xCurrentTimeInt64) return;
    query_vfs = *found;
    query_vfs.pNext = NULL;
    query_vfs.zName = "cachestore-query";
    query_vfs.xCurrentTimeInt64 = current_time;
    system_vfs = found;
    if (sqlite3_vfs_register(&query_vfs, 0) != SQLITE_OK) system_vfs = NULL;
}

const char *csqlitevfs_query(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_vfs);
    return system_vfs ? query_vfs.zName : NULL;
}

void csqlitevfs_set_query_time(int64_t milliseconds) {
    const sqlite3_int64 last = LAST_TIME - UNIX_EPOCH;
    if (milliseconds > last) milliseconds = last;
    if (milliseconds <= -UNIX_EPOCH) milliseconds = 1 - UNIX_EPOCH;
    query_time = UNIX_EPOCH + milliseconds;
}

void csqlitevfs_reset_query_time(void) { query_time = 0; }
