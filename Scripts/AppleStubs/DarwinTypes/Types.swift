// The types of Darwin's headers that the sources use, as Swift imports them. Only with the used fields.
// Headers: https://github.com/apple-oss-distributions/xnu, below bsd/sys and bsd/arm/_types.h, unless another is named.

// bsd/arm/_types.h, bsd/sys/_types.h, bsd/sys/_types/*.h
public typealias dev_t = Int32
public typealias ino_t = UInt64
public typealias mode_t = UInt16
public typealias nlink_t = UInt16
public typealias off_t = Int64
public typealias pid_t = Int32
public typealias uid_t = UInt32
public typealias gid_t = UInt32
public typealias time_t = Int
public typealias fsblkcnt_t = UInt32
public typealias socklen_t = UInt32
public typealias sa_family_t = UInt8
public typealias in_port_t = UInt16
public typealias in_addr_t = UInt32
public typealias useconds_t = UInt32

// bsd/sys/_types/_timespec.h
public struct timespec {
    public var tv_sec: time_t = 0
    public var tv_nsec: Int = 0
    public init() {}
}

// bsd/sys/stat.h: __DARWIN_STRUCT_STAT64
public struct stat {
    public var st_dev: dev_t = 0
    public var st_mode: mode_t = 0
    public var st_nlink: nlink_t = 0
    public var st_ino: ino_t = 0
    public var st_uid: uid_t = 0
    public var st_gid: gid_t = 0
    public var st_atimespec = timespec()
    public var st_mtimespec = timespec()
    public var st_ctimespec = timespec()
    public var st_birthtimespec = timespec()
    public var st_size: off_t = 0
    public init() {}
}

// https://github.com/apple-oss-distributions/Libc, include/sys/statvfs.h
public struct statvfs {
    public var f_bsize: UInt = 0
    public var f_frsize: UInt = 0
    public var f_blocks: fsblkcnt_t = 0
    public var f_bfree: fsblkcnt_t = 0
    public var f_bavail: fsblkcnt_t = 0
    public init() {}
}

// bsd/sys/dirent.h. The header has 1,024 characters in the name; the sources only use it as a tuple of characters.
public struct dirent {
    public var d_ino: UInt64 = 0
    public var d_reclen: UInt16 = 0
    public var d_namlen: UInt16 = 0
    public var d_type: UInt8 = 0
    public var d_name: (CChar, CChar, CChar, CChar) = (0, 0, 0, 0)
    public init() {}
}

// https://github.com/apple-oss-distributions/Libc, include/dirent.h. A complete structure, so no OpaquePointer.
public struct DIR {
    public init() {}
}

// bsd/sys/ttycom.h
public struct winsize {
    public var ws_row: UInt16 = 0
    public var ws_col: UInt16 = 0
    public init() {}
}

// bsd/sys/poll.h
public typealias nfds_t = UInt32
public struct pollfd {
    public var fd: Int32 = 0
    public var events: Int16 = 0
    public var revents: Int16 = 0
    public init() {}
    public init(fd: Int32, events: Int16, revents: Int16) {}
}

// bsd/netinet/in.h
public struct in_addr {
    public var s_addr: in_addr_t = 0
    public init() {}
}
public struct sockaddr_in {
    public var sin_len: UInt8 = 0
    public var sin_family: sa_family_t = 0
    public var sin_port: in_port_t = 0
    public var sin_addr = in_addr()
    public init() {}
}

// bsd/sys/socket.h
public struct sockaddr {
    public var sa_len: UInt8 = 0
    public var sa_family: sa_family_t = 0
    public init() {}
}

// bsd/sys/socket.h: `linger` has two fields of Int32 there and on Linux. The SwiftNIO module takes Linux's type, so
// this stub re-exports that type.
@_exported public import struct Glibc.linger
