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
        let folder = try Self.openFolder(root)
        // A sweep may find the file before it is locked, and delete it. The name and the link count show that.
        for _ in 0..<Self.maxTries {
            let name = Self.makeName()
            let descriptor = try folder.open(name, O_RDWR | O_CREAT | O_EXCL)
            if try descriptor.tryLock(), try descriptor.status().linkCount > 0 {
                self.init(descriptor: descriptor, staging: (folder, name))
                return
            }
            try folder.unlink(name)
        }
        throw SystemError(call: "flock", path: folder.path, errno: EWOULDBLOCK)
    }

    /// Files in a row that sweeps may take between their creation and their lock, some microseconds each.
    private static let maxTries = 100

    private static func openFolder(_ root: FileDescriptor) throws(SystemError) -> FileDescriptor {
        try root.makeDirectory("staging")
        return try root.open("staging", O_RDONLY | O_DIRECTORY)
    }

    private static func makeName() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36) + "-" + String(getpid())
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

    /// Deletes the files below `staging/` that no living process is writing; returns their number.
    ///
    /// Locks one file at a time, for as long as its deletion takes.
    ///
    /// - Parameter mayDelete: Runs each deletion that it is given, or returns `false` to end the sweep.
    static func sweep(
        _ root: FileDescriptor, mayDelete: (() throws(SystemError) -> Void) throws(SystemError) -> Bool
    ) throws(SystemError) -> Int {
        guard try root.status(of: "staging")?.isDirectory == true else { return 0 }
        let folder = try root.open("staging", O_RDONLY | O_DIRECTORY)
        var count = 0
        for name in try folder.names() where isStagingName(name) {
            let mayGoOn = try mayDelete { () throws(SystemError) in
                guard let file = try? folder.open(name, O_RDONLY | O_NONBLOCK), try file.status().isRegular,
                    try file.tryLock()
                else { return }
                if try folder.unlink(name) { count += 1 }
            }
            guard mayGoOn else { break }
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
