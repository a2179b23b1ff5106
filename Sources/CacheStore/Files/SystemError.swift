internal import CPlatform

/// A system call that failed.
public struct SystemError: Error, Hashable, Sendable {
    /// The name of the call, such as `openat`.
    public let call: String
    /// The path or file of the call.
    public let path: String
    /// The error number, such as 28 for `ENOSPC`.
    public let errno: Int32

    /// Whether the disk was full, or the quota of this user used up.
    var isFull: Bool { errno == ENOSPC || errno == EDQUOT }

    /// Whether the path cannot lead to a blob: it is missing, or a link, socket or directory has the name, or a file
    /// replaces a directory. Too many open files, an I/O error and a missing permission say nothing about the blob.
    /// Linux returns ENXIO for a socket, Darwin EOPNOTSUPP.
    var meansMissing: Bool {
        [ENOENT, ENOTDIR, ELOOP, ENXIO, EOPNOTSUPP, EISDIR].contains(errno)
    }
}

extension SystemError: CustomStringConvertible {
    /// The call, the path and the system's message.
    public var description: String {
        "\(call) \(path): \(String(cString: strerror(errno)))"
    }
}
