internal import CPlatform
internal import Synchronization

/// The files of a store: `blobs/ab/cdef…`, each named by the SHA-256 of its bytes. The index knows which files are
/// needed; this type does not. Names come from digests alone, so no URL or header can lead out of the directory. Each
/// step down starts at an open directory and follows no link. Call ``link(_:as:byteCount:)`` and ``unlink(_:)`` only
/// inside a write transaction of the index. Its lock prevents naming and deleting a file at the same time, in any
/// process.
///
/// The folder `Bodies/` has the files of bodies: staged, named, opened, read and deleted. `ReplacementFile` writes a
/// file outside the store. The folder may use descriptors, digests, serial queues, and the lock of a directory. The
/// folder never opens the index: a caller passes the digest and the length of a body.
package final class BlobDirectory: Sendable {
    /// The directory of the store.
    package let root: FileDescriptor
    private let blobs: FileDescriptor
    private let createsDirectory: Bool
    private let isDurable: Bool

    /// Names files that are staged without a name.
    private let linker: UnnamedFileLinker

    /// Tracks the names that a power cut may still undo. The mutex guards both sets.
    private let shards = Mutex(Shards())

    /// The files below `staging/` that this object writes. Sweeps and file creations lock files only while they hold
    /// the mutex, so a suspension leaves no file locked.
    private let staging = Mutex(Staging())

    private struct Staging {
        var files: [WeakDescriptor] = []
        var isSuspended = false
        var suspensionCount = 0
    }

    private struct WeakDescriptor {
        weak var descriptor: FileDescriptor?
    }

    private struct Shards {
        /// Shards with names that are not synced yet.
        var changed: Set<String> = []
        /// Shards whose names this object has synced: a killed process may have created one without syncing its name.
        var synced: Set<String> = []
    }

    /// Creates a missing `blobs/` with `createsDirectory`. With `isDurable`, files and their names are on the disk once
    /// ``syncNames()`` has returned. `linksUnnamedFiles` is `false` in tests: files that were staged without a name
    /// cannot be named.
    package init(
        root: FileDescriptor, createsDirectory: Bool = true, isDurable: Bool = false, linksUnnamedFiles: Bool = true
    ) throws(StoreError) {
        self.root = root
        self.createsDirectory = createsDirectory
        self.isDurable = isDurable
        linker = UnnamedFileLinker(isPermitted: linksUnnamedFiles)
        if createsDirectory { try root.makeDirectory("blobs") }
        blobs = try root.open("blobs", O_RDONLY | O_DIRECTORY)
        // The name `blobs` must survive a power cut, too.
        if isDurable { try root.sync() }
    }

    /// Makes this object refer to the `blobs/` that is now in ``root``, and creates it if it is missing.
    func reopenIfReplaced() throws(StoreError) {
        if createsDirectory { try root.makeDirectory("blobs") }
        guard try blobs.follow(root.open("blobs", O_RDONLY | O_DIRECTORY)) else { return }
        shards.withLock { $0 = Shards() }
    }

    /// Returns the lock for evicting and for quarantining an index.
    func lock() throws(StoreError) -> DirectoryLock {
        try DirectoryLock("blobs", below: root)
    }

    // MARK: Staging

    /// Creates a file for the bytes of a body.
    package func stage() throws(StoreError) -> StagedFile {
        if let file = try StagedFile(unnamedIn: blobs, root: root, linker: linker) { return file }
        return try staging.withLock { (staging) throws(StoreError) in
            let file = try StagedFile(namedBelow: root, isLocked: !staging.isSuspended)
            staging.files.removeAll { $0.descriptor == nil }
            staging.files.append(WeakDescriptor(descriptor: file.descriptor))
            return file
        }
    }

    /// Releases the locks of the files below `staging/`, ends sweeps of such files, and locks no file until
    /// ``resumeStaging()``. Until then, another process may delete the names of the files: see
    /// ``StagedFile/hasLostName(wasLinked:)``.
    package func suspendStaging() {
        staging.withLock { staging in
            staging.isSuspended = true
            staging.suspensionCount += 1
            for file in staging.files { file.descriptor?.unlock() }
        }
    }

    /// Locks the files that still have a writer again.
    package func resumeStaging() {
        staging.withLock { staging in
            staging.isSuspended = false
            staging.files.removeAll { $0.descriptor == nil }
            // A sweep that has a lock is about to delete the name.
            for file in staging.files { _ = try? file.descriptor?.tryLock() }
        }
    }

    /// Deletes staged files without a living writer; returns their number. ``suspendStaging()`` ends the sweep early.
    @discardableResult
    package func sweepStagedFiles() throws(StoreError) -> Int {
        let start = staging.withLock { $0.suspensionCount }
        return try StagedFile.sweep(root) { (deletion) throws(StoreError) in
            try staging.withLock { (staging) throws(StoreError) in
                guard !staging.isSuspended, staging.suspensionCount == start else { return false }
                try deletion()
                return true
            }
        }
    }

    // MARK: Naming

    /// Gives a staged file the name of its digest. Keeps an existing file of the right length, with two exceptions: the
    /// file may grow, or a power cut may have removed its bytes. A growing file does not replace an existing file,
    /// whose entries must not gain the bytes that are appended later. With `isGrowing`, the file holds the beginning of
    /// a body, may have more than `byteCount` bytes, now or later, and is never copied. Throws ENOTSUP for a growing
    /// file without a name if this process cannot name it.
    package func link(
        _ staged: borrowing StagedFile, as digest: ContentDigest, byteCount: Int64, isGrowing: Bool = false
    ) throws(StoreError) {
        let path = BlobPath(digest)
        let shard = try openShard(path.shard)
        if isDurable { shards.withLock { _ = $0.changed.insert(path.shard) } }
        if try place(staged, digest, byteCount, isGrowing: isGrowing, in: shard) { return }
        // A copy for each commit of a part would write the bytes of a body many times.
        guard !isGrowing else {
            throw .file(SystemError(call: "linkat", path: shard.path + "/" + path.name, errno: ENOTSUP))
        }
        let copy = try StagedFile.copy(of: staged.descriptor, byteCount: byteCount, below: root)
        if isDurable { try copy.descriptor.sync() }
        guard try place(copy, digest, byteCount, isGrowing: false, in: shard) else {
            throw .file(SystemError(call: "linkat", path: shard.path + "/" + path.name, errno: ENOTSUP))
        }
    }

    /// Gives a staged file the name of its digest. Returns `false` if this process cannot name an unnamed file.
    private func place(
        _ staged: borrowing StagedFile, _ digest: ContentDigest, _ byteCount: Int64, isGrowing: Bool,
        in shard: FileDescriptor
    ) throws(StoreError) -> Bool {
        let name = BlobPath(digest).name
        let outcome = try staged.link(into: shard, as: name)
        if outcome == .linked { return true }
        // A power cut may have left a file of the right length without its bytes. The caller holds the write lock:
        // replacing the file takes constant time, reading it does not.
        if let (_, present) = try open(digest, byteCount: byteCount, isPart: isGrowing),
            isGrowing || !isDurable && !present.mayGrow
        {
            return true
        }
        guard outcome == .exists else { return false }
        // A rename replaces the file, so that the name always has one.
        if try shard.status(of: name)?.isDirectory != true {
            return try staged.replace(name, in: shard) == .linked
        }
        // Another program has planted a directory.
        _ = try shard.remove(name)
        guard try staged.link(into: shard, as: name) == .linked else {
            throw .file(SystemError(call: "linkat", path: shard.path + "/" + name, errno: EEXIST))
        }
        return true
    }

    /// Makes all new names survive a power cut. Call before the commit of their rows.
    func syncNames() throws(StoreError) {
        guard isDurable else { return }
        let (changed, needsParent) = shards.withLock { shards in
            defer { shards.changed = [] }
            return (shards.changed, !shards.changed.isSubset(of: shards.synced))
        }
        var left = changed
        // After an error, the next call syncs the remaining shards together with its own.
        defer { shards.withLock { $0.changed.formUnion(left) } }
        for shard in changed {
            do throws(StoreError) {
                try blobs.open(shard, O_RDONLY | O_DIRECTORY).sync()
            } catch {
                // A missing shard has no names, and would make every later call fail.
                if error.meansMissing { left.remove(shard) }
                throw error
            }
        }
        if needsParent { try blobs.sync() }
        left = []
        shards.withLock { $0.synced.formUnion(changed) }
    }

    /// Removes the file of a digest. Returns `false` if it is missing. Also removes a directory of that name, or
    /// renames it if it is not empty.
    @discardableResult
    package func unlink(_ digest: ContentDigest) throws(StoreError) -> Bool {
        let path = BlobPath(digest)
        do {
            return try blobs.open(path.shard, O_RDONLY | O_DIRECTORY).remove(path.name)
        } catch let error where error.meansMissing {
            return false
        }
    }

    /// Opens the file of a digest. `nil` unless it is a regular file of the right length, or a longer one of a part.
    package func open(
        _ digest: ContentDigest, byteCount: Int64, isPart: Bool = false
    ) throws(StoreError) -> (FileDescriptor, FileStatus)? {
        let path = BlobPath(digest)
        do {
            let descriptor = try blobs.openBeneath(path.text)
            let status = try descriptor.status()
            return status.hasBody(of: byteCount, isPart: isPart) ? (descriptor, status) : nil
        } catch let error where error.meansMissing {
            return nil
        }
    }

    /// Returns the status of the file or directory named by a digest, or `nil`.
    package func status(of digest: ContentDigest) throws(StoreError) -> FileStatus? {
        let path = BlobPath(digest)
        return try blobs.openIfPresent(path.shard, O_RDONLY | O_DIRECTORY)?.status(of: path.name)
    }

    private func openShard(_ name: String) throws(StoreError) -> FileDescriptor {
        do {
            return try blobs.open(name, O_RDONLY | O_DIRECTORY)
        } catch let error where error.meansMissing {
            // All of `blobs/` may be missing.
            try reopenIfReplaced()
            // The shard is missing, or is a file or a link. Unlinking a link leaves its target alone.
            try blobs.unlink(name)
            // Remove the shard from `synced` first: the following calls may fail after creating the directory.
            shards.withLock { _ = $0.synced.remove(name) }
            try blobs.makeDirectory(name)
            return try blobs.open(name, O_RDONLY | O_DIRECTORY)
        }
    }

    /// The error of a call that failed for a body. Names the owner of a folder that this user cannot write.
    func error(_ error: StoreError, of digest: ContentDigest) -> StoreError {
        let shard = BlobPath(digest).shard
        guard [EACCES, EPERM].contains(error.errno), let status = try? blobs.status(of: shard),
            status.owner != geteuid()
        else { return error }
        return .unwritableFolder(path: blobs.path + "/" + shard, owner: status.owner)
    }

    /// Calls `visit` for each folder below `blobs/` that belongs to another user than the directory of the store.
    func forEachForeignFolder(_ visit: (_ path: String, _ owner: UInt32) -> Void) throws(StoreError) {
        let owner = try root.status().owner
        for shard in try blobs.names() where BlobPath.isShard(shard) {
            if let status = try blobs.status(of: shard), status.owner != owner { visit("blobs/" + shard, status.owner) }
        }
    }

    /// Calls `visit` for everything below `blobs/`. Passes `nil` as the digest unless the name is the name of a blob.
    func forEachFile(_ visit: (ContentDigest?, _ path: String) -> Void) throws(StoreError) {
        for shard in try blobs.names() {
            do throws(StoreError) {
                guard BlobPath.isShard(shard) else {
                    throw .file(SystemError(call: "openat", path: shard, errno: ENOTDIR))
                }
                for name in try blobs.open(shard, O_RDONLY | O_DIRECTORY).names() {
                    visit(BlobPath.digest(shard: shard, name: name), "blobs/\(shard)/\(name)")
                }
            } catch let error where error.meansMissing {
                visit(nil, "blobs/" + shard)
            }
        }
    }
}

extension FileStatus {
    /// Whether this is a regular file of `byteCount` bytes, or a longer one of a part, to which a writer has appended.
    func hasBody(of byteCount: Int64, isPart: Bool) -> Bool {
        isRegular && (size == byteCount || isPart && size > byteCount)
    }
}

/// The path of the file of a digest below `blobs/`:
/// `2c/f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824`.
struct BlobPath {
    /// The path below `blobs/`.
    let text: String

    init(_ digest: ContentDigest) {
        text = digest.hexadecimal(separator: UInt8(ascii: "/"), after: 1)
    }

    var shard: String { String(text.prefix(2)) }
    var name: String { String(text.dropFirst(3)) }

    /// The path relative to the directory of the store.
    var relativePath: String { "blobs/" + text }

    static func isShard(_ name: String) -> Bool {
        name.utf8.count == 2 && name.utf8.allSatisfy(isLowercaseDigit)
    }

    static func digest(shard: String, name: String) -> ContentDigest? {
        guard name.utf8.allSatisfy(isLowercaseDigit) else { return nil }
        return ContentDigest(hexadecimal: shard + name)
    }

    private static func isLowercaseDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
