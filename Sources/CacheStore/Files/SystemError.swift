internal import CPlatform

/// A system call that failed.
public struct SystemError: Error, Hashable, Sendable {
    /// The name of the call, such as `openat`.
    public let call: String
    /// The path or file that the call was about.
    public let path: String
    /// The error number, such as 28 for `ENOSPC`.
    public let errno: Int32

    /// Whether the disk, or the quota of this user, had no room.
    var isFull: Bool { errno == ENOSPC || errno == EDQUOT }

    /// Whether the path leads to nothing that could be a blob. Nothing is there, or a link, a socket or a directory is,
    /// or a file takes the place of a directory. Too many open files, an I/O error and a missing permission say nothing
    /// about the blob. Linux answers ENXIO for a socket, Darwin EOPNOTSUPP.
    var meansMissing: Bool {
        [ENOENT, ENOTDIR, ELOOP, ENXIO, EOPNOTSUPP, EISDIR].contains(errno)
    }
}

extension SystemError: CustomStringConvertible {
    /// The call, the path and the message of the system.
    public var description: String {
        "\(call) \(path): \(String(cString: strerror(errno)))"
    }
}
