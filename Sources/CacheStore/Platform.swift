internal import CPlatform

// CPlatform re-exports the headers of the C library: Glibc, Musl, Bionic or Darwin's. Swift imports neither `errno` nor macros with
// casts from a header. The Swift module of each C library adds them, but has a name of its own. This file adds them for all.

/// The error of the call on this thread that failed last.
var errno: Int32 { cplatform_errno() }

/// The result of mmap(2) when it fails.
var MAP_FAILED: UnsafeMutableRawPointer? { cplatform_map_failed() }

var S_IFMT: mode_t { cplatform_file_type_mask() }
var S_IFREG: mode_t { cplatform_regular_file_type() }
var S_IFDIR: mode_t { cplatform_directory_type() }
var S_IFLNK: mode_t { cplatform_symbolic_link_type() }
