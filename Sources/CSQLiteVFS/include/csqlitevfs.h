// A VFS of SQLite (https://sqlite.org/vfs.html, "VFS shims") that writes what a commit adds to the write-ahead log at once.

#ifndef CSQLITEVFS_H
#define CSQLITEVFS_H

// The name to open a connection with that writes, or NULL where the default has to do. Any thread; registered once,
// not as the default.
//
// SQLite writes each frame of the log with two calls, some 26 for a stored response, and on ext4 they took a fifth of its
// time. Here they are gathered in memory up to the frame that commits, or up to 128 KiB, and written with one. What is on the
// file, and in which order, and what is told of errors before a commit counts, is as ever.
const char *csqlitevfs_gathering(void);

#endif
