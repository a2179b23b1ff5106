// The functions of Darwin's headers that the sources call, as Swift imports them: every result may be ignored, and a
// pointer without nullability is implicitly unwrapped. The types are in a separate module, because Swift allows no
// function `stat` and type `stat` in one module.
@_exported public import DarwinTypes

public typealias Text = UnsafePointer<CChar>

// https://github.com/apple-oss-distributions/Libc, include/unistd.h
@discardableResult public func access(_: Text!, _: Int32) -> Int32 { 0 }
@discardableResult public func close(_: Int32) -> Int32 { 0 }
@discardableResult public func fsync(_: Int32) -> Int32 { 0 }
@discardableResult public func ftruncate(_: Int32, _: off_t) -> Int32 { 0 }
@discardableResult public func getpid() -> pid_t { 0 }
@discardableResult public func isatty(_: Int32) -> Int32 { 0 }
@discardableResult public func linkat(_: Int32, _: Text!, _: Int32, _: Text!, _: Int32) -> Int32 { 0 }
@discardableResult public func lseek(_: Int32, _: off_t, _: Int32) -> off_t { 0 }
@discardableResult public func pread(_: Int32, _: UnsafeMutableRawPointer!, _: Int, _: off_t) -> Int { 0 }
@discardableResult public func pwrite(_: Int32, _: UnsafeRawPointer!, _: Int, _: off_t) -> Int { 0 }
@discardableResult public func read(_: Int32, _: UnsafeMutableRawPointer!, _: Int) -> Int { 0 }
@discardableResult public func rmdir(_: Text!) -> Int32 { 0 }
@discardableResult public func unlink(_: Text!) -> Int32 { 0 }
@discardableResult public func unlinkat(_: Int32, _: Text!, _: Int32) -> Int32 { 0 }
@discardableResult public func usleep(_: useconds_t) -> Int32 { 0 }
@discardableResult public func write(_: Int32, _: UnsafeRawPointer!, _: Int) -> Int { 0 }
public func _exit(_: Int32) -> Never { fatalError() }

// https://github.com/apple-oss-distributions/Libc, include/stdlib.h, include/string.h, include/stdio.h
public func free(_: UnsafeMutableRawPointer!) {}
public func exit(_: Int32) -> Never { fatalError() }
@discardableResult public func mkstemp(_: UnsafeMutablePointer<CChar>!) -> Int32 { 0 }
@discardableResult public func strerror(_: Int32) -> UnsafeMutablePointer<CChar>! { nil }
@discardableResult public func realpath(
    _: Text!, _: UnsafeMutablePointer<CChar>!
) -> UnsafeMutablePointer<CChar>! { nil }
@discardableResult public func rename(_: Text!, _: Text!) -> Int32 { 0 }
@discardableResult public func renameat(_: Int32, _: Text!, _: Int32, _: Text!) -> Int32 { 0 }

// https://github.com/apple-oss-distributions/Libc, include/dirent.h
@discardableResult public func fdopendir(_: Int32) -> UnsafeMutablePointer<DIR>! { nil }
@discardableResult public func readdir(_: UnsafeMutablePointer<DIR>!) -> UnsafeMutablePointer<dirent>! { nil }
@discardableResult public func closedir(_: UnsafeMutablePointer<DIR>!) -> Int32 { 0 }

// https://github.com/apple-oss-distributions/xnu, bsd/sys/stat.h, bsd/sys/file.h, bsd/sys/mman.h
@discardableResult public func stat(_: Text!, _: UnsafeMutablePointer<stat>!) -> Int32 { 0 }
@discardableResult public func lstat(_: Text!, _: UnsafeMutablePointer<stat>!) -> Int32 { 0 }
public func geteuid() -> uid_t { 0 }
public func getegid() -> gid_t { 0 }
@discardableResult public func fstat(_: Int32, _: UnsafeMutablePointer<stat>!) -> Int32 { 0 }
@discardableResult public func fstatat(_: Int32, _: Text!, _: UnsafeMutablePointer<stat>!, _: Int32) -> Int32 { 0 }
@discardableResult public func fchmod(_: Int32, _: mode_t) -> Int32 { 0 }
@discardableResult public func mkdirat(_: Int32, _: Text!, _: mode_t) -> Int32 { 0 }
@discardableResult public func mkdir(_: Text!, _: mode_t) -> Int32 { 0 }
@discardableResult public func flock(_: Int32, _: Int32) -> Int32 { 0 }
@discardableResult public func munmap(_: UnsafeMutableRawPointer!, _: Int) -> Int32 { 0 }
@discardableResult public func mmap(
    _: UnsafeMutableRawPointer!, _: Int, _: Int32, _: Int32, _: Int32, _: off_t
) -> UnsafeMutableRawPointer! { nil }

// https://github.com/apple-oss-distributions/Libc, include/sys/statvfs.h
@discardableResult public func fstatvfs(_: Int32, _: UnsafeMutablePointer<statvfs>!) -> Int32 { 0 }
@discardableResult public func statvfs(
    _: UnsafePointer<CChar>!, _: UnsafeMutablePointer<statvfs>!
) -> Int32 { 0 }

// https://github.com/apple-oss-distributions/xnu, bsd/sys/poll.h, bsd/sys/socket.h, bsd/sys/signal.h
@discardableResult public func poll(_: UnsafeMutablePointer<pollfd>!, _: nfds_t, _: Int32) -> Int32 { 0 }
@discardableResult public func socket(_: Int32, _: Int32, _: Int32) -> Int32 { 0 }
@discardableResult public func bind(_: Int32, _: UnsafePointer<sockaddr>!, _: socklen_t) -> Int32 { 0 }
@discardableResult public func getsockname(
    _: Int32, _: UnsafeMutablePointer<sockaddr>!, _: UnsafeMutablePointer<socklen_t>!
) -> Int32 { 0 }
@discardableResult public func signal(
    _: Int32, _: (@convention(c) (Int32) -> Void)!
) -> (@convention(c) (Int32) -> Void)! { nil }
@discardableResult public func kill(_: pid_t, _: Int32) -> Int32 { 0 }

// The Swift part of the module: https://github.com/swiftlang/swift, stdlib/public/Platform/Platform.swift and
// TiocConstants.swift.
public typealias sig_t = @convention(c) (Int32) -> Void
public var SIG_DFL: sig_t? { nil }
public var SIG_IGN: sig_t { unsafeBitCast(1, to: sig_t.self) }
public var S_IFMT: mode_t { 0xf000 }
public var S_IFREG: mode_t { 0x8000 }
public var S_IXUSR: mode_t { 0x40 }
public var S_IFDIR: mode_t { 0x4000 }
public var TIOCGWINSZ: UInt { 0x4008_7468 }
public var errno: Int32 {
    get { 0 }
    set {}
}
public func open(_ path: Text, _ oflag: Int32) -> Int32 { 0 }
public func open(_ path: Text, _ oflag: Int32, _ mode: mode_t) -> Int32 { 0 }
public func ioctl(_ fd: CInt, _ request: UInt, _ value: UnsafeMutableRawPointer) -> CInt { 0 }
