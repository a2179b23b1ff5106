// The one system call that neither Glibc nor Darwin offer to Swift under a name of its own.

#ifndef CPLATFORM_H
#define CPLATFORM_H

// Opens `path`, two names at most, below `directory`: for reading, and so that no component is a symbolic link and a FIFO
// does not wait for its writer. Returns a descriptor, or -1 with errno set.
int cplatform_open_beneath(int directory, const char *path);

#endif
