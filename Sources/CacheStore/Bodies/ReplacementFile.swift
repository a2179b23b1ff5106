internal import CPlatform
package import CacheFoundation

/// Writes a file outside the store under a temporary name, and renames it over the target when it is complete. Until
/// ``commit()`` the file has a hidden name in the same directory. Releasing the object without a commit removes the
/// file; a killed process leaves it behind. One caller writes, in the order of the bytes. The file is never a hard link
/// to a body: a program that writes to the link would change the stored bytes.
package final class ReplacementFile: Sendable {
    /// The number of bytes copied between two checks for cancellation.
    private static let copyByteCount: Int64 = 8_388_608

    private let folder: FileDescriptor
    private let name: String
    private let stagedName: String
    private let descriptor: FileDescriptor
    private let lane = BlockingLane(label: "cachestore.replacement")

    /// Creates the temporary file in the directory of `path`. With `isPrivate`, only the user may read the file.
    /// Otherwise the file gets the permissions of any new file of this process.
    package init(replacing path: String, isPrivate: Bool = false) throws(StoreError) {
        guard let slash = path.lastIndex(of: "/"), path.index(after: slash) != path.endIndex, !path.utf8.contains(0)
        else {
            throw .file(SystemError(call: "open", path: path, errno: path.hasSuffix("/") ? EISDIR : EINVAL))
        }
        name = String(path[path.index(after: slash)...])
        stagedName = ".cachestore-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        folder = try FileDescriptor.openDirectory(atPath: directory)
        descriptor = try folder.open(stagedName, O_RDWR | O_CREAT | O_EXCL, mode: isPrivate ? 0o600 : 0o666)
    }

    deinit {
        // After a commit, no file has this name.
        _ = try? folder.unlink(stagedName)
    }

    /// Appends bytes without blocking the caller's thread.
    package func write(_ data: Data) async throws(StoreError) {
        try await lane.run { [descriptor] () throws(StoreError) in
            // `withUnsafeBytes` rethrows, and would lose the type of the error.
            try data.withUnsafeBytes { bytes in
                Result { () throws(StoreError) in try descriptor.write(bytes) }
            }.get()
        }
    }

    /// Appends a body without blocking the caller's thread. Shares blocks with `body` if this file is empty and the
    /// file system supports it. Otherwise copies the bytes. Returns `false` if the calling task was cancelled.
    package func append(_ body: StoredBody) async throws(StoreError) -> Bool {
        guard let source = body.descriptor else { return true }
        let cancellation = InterruptFlag()
        // `withTaskCancellationHandler` would lose the type of the error.
        let result = await withTaskCancellationHandler {
            await lane.run {
                Result { () throws(StoreError) in try self.append(source, body.byteCount) { cancellation.isSet } }
            }
        } onCancel: {
            cancellation.set(true)
        }
        return try result.get()
    }

    private func append(
        _ source: FileDescriptor, _ byteCount: Int64, isCancelled: () -> Bool
    ) throws(StoreError) -> Bool {
        let isCloned = try clone(source, byteCount)
        return isCloned ? true : try copy(source, byteCount, isCancelled: isCancelled)
    }

    /// Renames the file to its target and replaces any existing file. Replaces a link itself, not its target.
    package func commit() throws(StoreError) {
        try folder.rename(stagedName, to: name, in: folder)
    }

    // MARK: Copying

    /// Shares the blocks of `source`. Returns `false` without writing if this file has bytes or cannot share blocks.
    private func clone(_ source: FileDescriptor, _ byteCount: Int64) throws(StoreError) -> Bool {
        guard try descriptor.status().size == 0, try source.status().size >= byteCount else { return false }
        if cplatform_clone_into(source.number, descriptor.number) != 0 {
            guard errno == ENOSYS, try replaceByClone(of: source) else { return false }
        }
        // The file of a part may be longer than the part.
        try descriptor.truncate(to: byteCount)
        return true
    }

    /// Replaces this empty file with a clone of `source`. clonefile(2) creates a new file with the permissions of the
    /// source. Returns `false` if the file system cannot share blocks.
    private func replaceByClone(of source: FileDescriptor) throws(StoreError) -> Bool {
        var status = stat()
        let cloneName = stagedName + "c"
        guard fstat(descriptor.number, &status) == 0,
            cplatform_clone_file(source.number, folder.number, cloneName) == 0
        else { return false }
        defer { _ = try? folder.unlink(cloneName) }
        let clone = try folder.open(cloneName, O_RDWR)
        try FileDescriptor.retrying("fchmod", clone.path) { fchmod(clone.number, status.st_mode & 0o777) }
        try folder.rename(cloneName, to: stagedName, in: folder)
        _ = try descriptor.follow(clone)
        return true
    }

    private func copy(
        _ source: FileDescriptor, _ byteCount: Int64, isCancelled: () -> Bool
    ) throws(StoreError) -> Bool {
        var offset: Int64 = 0
        while offset < byteCount {
            if isCancelled() { return false }
            let count = cplatform_copy_range(
                source.number, offset, descriptor.number, min(Self.copyByteCount, byteCount - offset))
            if count > 0 {
                offset += count
                continue
            }
            let code = errno
            if count == 0 { throw .truncatedBody(path: source.path) }
            if code == EINTR { continue }
            guard [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, ENOTSUP, EPERM, EBADF].contains(code) else {
                throw .file(SystemError(call: "copy_file_range", path: descriptor.path, errno: code))
            }
            // copy_file_range(2) does not work here, between these file systems or on this system.
            let isWhole = try descriptor.write(source, from: offset, byteCount: byteCount, isCancelled: isCancelled)
            if !isWhole, !isCancelled() { throw .truncatedBody(path: source.path) }
            return isWhole
        }
        return true
    }
}
