internal import CPlatform

// CPlatform re-exports the headers of the C library: Glibc, Musl, Bionic or Darwin's. Swift imports neither `errno` nor
// macros with casts from a header. The Swift module of each C library adds these names, but each module has another
// name. This file adds the names for every C library.

/// The error number of the last failed call on this thread.
var errno: Int32 { cplatform_errno() }

/// The result of a failed mmap(2).
var MAP_FAILED: UnsafeMutableRawPointer? { cplatform_map_failed() }

var S_IFMT: mode_t { cplatform_file_type_mask() }
var S_IFREG: mode_t { cplatform_regular_file_type() }
var S_IFDIR: mode_t { cplatform_directory_type() }
