internal import CPlatform

/// A file that is being written and has no name in the store yet. On Linux, the file has no name at all, so a killed
/// process leaves nothing behind. It has a unique name below `staging/` on other systems, on file systems without
/// unnamed files, and in processes that cannot name unnamed files. Such a file is locked while its writer lives and the
/// store is not suspended.
package struct StagedFile: ~Copyable {
    package let descriptor: FileDescriptor

    /// How the file gets its name in the store.
    private enum Source {
        case unnamed(UnnamedFileLinker)
        /// The file has the name `name` in `folder`, which is `staging/`.
        case named(folder: FileDescriptor, name: String)
    }

    private let source: Source
    private let root: FileDescriptor

    /// Whether the file has a name below `staging/`.
    var isNamed: Bool {
        if case .named = source { true } else { false }
    }

    /// Stages an unnamed file for a blob below `blobs`, in the store at `root`. Returns `nil` if the file system or
    /// kernel has no unnamed files, or this process cannot name them.
    init?(unnamedIn blobs: FileDescriptor, root: FileDescriptor, linker: UnnamedFileLinker) throws(StoreError) {
        guard linker.shouldBeUsed else { return nil }
        do throws(StoreError) {
            self.init(descriptor: try blobs.openUnnamed(), source: .unnamed(linker), root: root)
        } catch let error where [EOPNOTSUPP, ENOTSUP, EISDIR, EINVAL, ENOENT].contains(error.errno) {
            // open(2): EOPNOTSUPP comes from a file system without O_TMPFILE. EISDIR and ENOENT come from a kernel
            // without it.
            return nil
        }
    }

    /// Stages a file with a unique name below `staging/`. With `isLocked`, its lock keeps sweeps from deleting it.
    package init(namedBelow root: FileDescriptor, isLocked: Bool = true) throws(StoreError) {
        let folder = try Self.openFolder(root)
        // A sweep may lock and delete the file first. Then the lock fails, or the file has no link left.
        for _ in 0..<Self.maxTries {
            let name = Self.makeName()
            let descriptor = try folder.open(name, O_RDWR | O_CREAT | O_EXCL)
            let isTaken = isLocked ? try !descriptor.tryLock() : false
            if !isTaken, try descriptor.status().linkCount > 0 {
                self.init(descriptor: descriptor, source: .named(folder: folder, name: name), root: root)
                return
            }
            try folder.unlink(name)
        }
        throw .file(SystemError(call: "flock", path: folder.path, errno: EWOULDBLOCK))
    }

    /// Stages a copy of the first `byteCount` bytes of `file`, as a file with a name.
    static func copy(
        of file: FileDescriptor, byteCount: Int64, below root: FileDescriptor
    ) throws(StoreError) -> StagedFile {
        let copy = try StagedFile(namedBelow: root)
        guard try copy.descriptor.write(file, byteCount: byteCount) else {
            throw .file(SystemError(call: "pread", path: file.path, errno: EIO))
        }
        return copy
    }

    private init(descriptor: FileDescriptor, source: Source, root: FileDescriptor) {
        self.descriptor = descriptor
        self.source = source
        self.root = root
    }

    /// The number of attempts. A sweep can take the file only in the microseconds between its creation and its lock.
    private static let maxTries = 100

    private static func openFolder(_ root: FileDescriptor) throws(StoreError) -> FileDescriptor {
        try root.makeDirectory("staging")
        return try root.open("staging", O_RDONLY | O_DIRECTORY)
    }

    private static func makeName() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36) + "-" + String(getpid())
    }

    // MARK: Naming

    /// Whether the file can no longer be named, so that its bytes must be copied. A sweep may delete the name below
    /// `staging/` while the store is suspended. The kernel never names a file that has lost its last name (open(2),
    /// `O_TMPFILE`). `wasLinked` says whether ``link(into:as:)`` has named the file.
    package borrowing func hasLostName(wasLinked: Bool) throws(StoreError) -> Bool {
        switch source {
        case .unnamed: wasLinked ? try descriptor.status().linkCount == 0 : false
        case .named(let folder, let name): try folder.status(of: name) == nil
        }
    }

    /// Whether naming the file may fail because it has lost its name.
    borrowing func mayHaveLostName(wasLinked: Bool) -> Bool { wasLinked || isNamed }

    /// Gives the file a name in `shard`, unless another file has it.
    borrowing func link(into shard: FileDescriptor, as name: String) throws(StoreError) -> UnnamedFileLinker.Outcome {
        switch source {
        case .unnamed(let linker): return try linker.link(descriptor, into: shard, as: name)
        case .named(let folder, let staged):
            do throws(StoreError) {
                try FileDescriptor.retrying("linkat", shard.path + "/" + name) {
                    linkat(folder.number, staged, shard.number, name, 0)
                }
                return .linked
            } catch let error where error.errno == EEXIST {
                return .exists
            }
        }
    }

    /// Gives the file the name `name` in `shard` and replaces an existing file atomically. rename(2) needs a temporary
    /// second name. It is below `staging/`, so that a sweep finds it after a kill.
    borrowing func replace(_ name: String, in shard: FileDescriptor) throws(StoreError) -> UnnamedFileLinker.Outcome {
        let folder = try Self.openFolder(root)
        let second = Self.makeName()
        // The lock protects the second name from sweeps. A named file is already locked, except after a suspension.
        guard try descriptor.tryLock() else {
            throw .file(SystemError(call: "flock", path: descriptor.path, errno: EWOULDBLOCK))
        }
        defer { if !isNamed { descriptor.unlock() } }
        let outcome = try link(into: folder, as: second)
        guard outcome == .linked else { return outcome }
        // If both names already belong to this file, rename(2) does nothing and leaves the second name.
        defer { _ = try? folder.unlink(second) }
        try folder.rename(second, to: name, in: shard)
        return .linked
    }

    deinit {
        if case .named(let folder, let name) = source { _ = try? folder.unlink(name) }
    }

    // MARK: Sweeping

    /// Deletes the files below `staging/` that no living process is writing; returns their number. Locks one file at a
    /// time, only for its deletion. `mayDelete` runs the deletion, or returns `false` to end the sweep.
    static func sweep(
        _ root: FileDescriptor, mayDelete: (() throws(StoreError) -> Void) throws(StoreError) -> Bool
    ) throws(StoreError) -> Int {
        guard try root.status(of: "staging")?.isDirectory == true else { return 0 }
        let folder = try root.open("staging", O_RDONLY | O_DIRECTORY)
        var count = 0
        for name in try folder.names() where isStagingName(name) {
            let mayGoOn = try mayDelete { () throws(StoreError) in
                // A FIFO must not block. A living writer holds the lock of its file. The kernel releases it at a kill.
                guard let file = try? folder.open(name, O_RDONLY | O_NONBLOCK), try file.status().isRegular,
                    try file.tryLock()
                else { return }
                if try folder.unlink(name) { count += 1 }
            }
            guard mayGoOn else { break }
        }
        return count
    }

    /// Whether this type creates files with such names.
    private static func isStagingName(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && UInt64(parts[0], radix: 36) != nil && pid_t(parts[1]) != nil
    }
}
