#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file being written that has no name in the store yet.
///
/// On Linux it has no name at all, so that a killed process leaves nothing behind. Elsewhere, and on file systems that
/// cannot do that, it has a unique name below `staging/` and is locked for as long as its writer lives.
package struct StagedFile: ~Copyable {
    package let descriptor: FileDescriptor
    /// The name below `staging/`; `nil` for a file without one.
    private let staging: (directory: FileDescriptor, name: String)?

    /// Whether the file has a name of its own, and a lock.
    var isLocked: Bool { staging != nil }

    /// Stages a file for a blob below `blobs`, a directory of the store at `root`.
    init(blobs: FileDescriptor, root: FileDescriptor) throws(SystemError) {
        #if os(Linux)
        // O_TMPFILE is a macro that Swift does not import; the number is that of every architecture Swift runs on.
        let unnamedTemporary: Int32 = 0o20000000 | O_DIRECTORY
        do throws(SystemError) {
            self.init(descriptor: try blobs.open(".", unnamedTemporary | O_RDWR), staging: nil)
            return
        } catch let error where [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(error.errno) {
            // This file system or kernel has no unnamed files.
        }
        #endif
        try self.init(namedBelow: root)
    }

    /// Stages a file with a name of its own below `staging/`, a directory of the store at `root`.
    package init(namedBelow root: FileDescriptor) throws(SystemError) {
        try root.makeDirectory("staging")
        let directory = try root.open("staging", O_RDONLY | O_DIRECTORY)
        let name = String(UInt64.random(in: .min ... .max), radix: 36) + "-" + String(getpid())
        // Created under a shared lock of the folder: who sweeps it takes the exclusive one, and so never meets a file
        // between its creation and its own lock.
        try FileDescriptor.retrying("flock", directory.path) { flock(directory.number, LOCK_SH) }
        defer { flock(directory.number, LOCK_UN) }
        let descriptor = try directory.open(name, O_RDWR | O_CREAT | O_EXCL)
        try FileDescriptor.retrying("flock", descriptor.path) { flock(descriptor.number, LOCK_EX | LOCK_NB) }
        self.init(descriptor: descriptor, staging: (directory, name))
    }

    private init(descriptor: FileDescriptor, staging: (directory: FileDescriptor, name: String)?) {
        self.descriptor = descriptor
        self.staging = staging
    }

    /// Gives the file a name in `shard`; `false` if something has that name already.
    borrowing func link(into shard: FileDescriptor, as name: String) throws(SystemError) -> Bool {
        let target = shard.path + "/" + name
        do {
            if let staging {
                try FileDescriptor.retrying("linkat", target) {
                    linkat(staging.directory.number, staging.name, shard.number, name, 0)
                }
            } else {
                // The kernel's documented way to name an unnamed file without privileges, open(2).
                try FileDescriptor.retrying("linkat", target) {
                    linkat(AT_FDCWD, "/proc/self/fd/\(descriptor.number)", shard.number, name, AT_SYMLINK_FOLLOW)
                }
            }
            return true
        } catch let error where error.errno == EEXIST {
            return false
        }
    }

    /// Deletes the files below `staging/` that no living process is writing; returns how many there were.
    static func sweep(_ root: FileDescriptor) throws(SystemError) -> Int {
        guard try root.status(of: "staging")?.isDirectory == true else { return 0 }
        let directory = try root.open("staging", O_RDONLY | O_DIRECTORY)
        try FileDescriptor.retrying("flock", directory.path) { flock(directory.number, LOCK_EX) }
        defer { flock(directory.number, LOCK_UN) }
        var count = 0
        for name in try directory.names() where isStagingName(name) {
            guard let file = try? directory.open(name, O_RDONLY | O_NONBLOCK), try file.status().isRegular,
                flock(file.number, LOCK_EX | LOCK_NB) == 0
            else { continue }
            if try directory.unlink(name) { count += 1 }
        }
        return count
    }

    /// Whether a name is one that ``init(namedBelow:)`` gives.
    private static func isStagingName(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && UInt64(parts[0], radix: 36) != nil && pid_t(parts[1]) != nil
    }

    deinit {
        if let staging { _ = try? staging.directory.unlink(staging.name) }
    }
}
