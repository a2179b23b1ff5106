#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

#if SQLITE_VERSION_NUMBER < 3037000
#error "CacheStore needs SQLite 3.37 or newer: its tables are STRICT"
#endif

// Sets an on/off option of a connection. Swift cannot call the variadic function.
static inline int csqlite_db_config_flag(sqlite3 *db, int option, int on) {
    return sqlite3_db_config(db, option, on, (int *)0);
}

// Turns SQLite's count of its memory on or off for the whole process. Swift cannot call this variadic function either.
static inline int csqlite_config_memory_statistics(int on) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on); }

// Wraps macros with casts, which Swift does not import.
static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }
static inline sqlite3_destructor_type csqlite_static(void) { return SQLITE_STATIC; }

#endif
