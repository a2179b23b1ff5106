public import CacheFoundation
package import Crypto
internal import Synchronization

/// A body that is being written to the store.
///
/// Writes the bytes to a file without a name and hashes them. `commit(_:for:)` names the file and makes the entry
/// visible in one transaction. Releasing the writer without a commit leaves nothing behind. One caller writes, in the
/// order of the bytes.
public final class BodyWriter: Sendable {
    private struct State: ~Copyable {
        /// Created by the first write, because an empty body needs no file.
        var file: StagedFile?
        var hasher = SHA256()
        var byteCount: Int64 = 0
        var isOpen = true
        /// Whether the file has had a name.
        var wasLinked = false
        /// Whether the file is a copy of a file that could no longer be named.
        var isCopy = false

        borrowing func hasLostName() throws(StoreError) -> Bool {
            try file?.hasLostName(wasLinked: wasLinked) ?? false
        }

        var mayHaveLostName: Bool { file?.mayHaveLostName(wasLinked: wasLinked) ?? false }

        /// Whether the body may be copied while it grows, after its file has lost its name. A file below `staging/`
        /// loses its name only in a suspension. An unnamed file may lose its names repeatedly, to other loads of the
        /// key, so it is copied only once.
        var mayCopyGrowing: Bool {
            switch file {
            case let file?: !isCopy || file.isNamed
            case nil: true
            }
        }
    }

    let store: ResponseStore
    /// Guards the state of the body.
    private let state: Mutex<State>

    init(store: ResponseStore) {
        self.store = store
        state = Mutex(State())
    }

    /// The bytes written so far.
    public var byteCount: Int64 { state.withLock { $0.byteCount } }

    /// The hash of the bytes written so far. A copy can hash later bytes that the store does not take.
    package var hasher: SHA256 { state.withLock { $0.hasher } }

    /// Appends bytes. Copies them to the page cache of the system on the calling thread: some 10 µs for 16 KiB.
    ///
    /// If the disk is full, evicts entries and tries the write once more.
    ///
    /// - Throws: ``StoreError/bodyTooLarge(limit:)``, ``StoreError/file(_:)``, after which the writer is closed;
    ///   ``StoreError/readOnly(path:)``, ``StoreError/suspended``, ``StoreError/closed``.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        guard !bytes.isEmpty else { return }
        try store.checkWritable()
        do throws(StoreError) {
            do throws(StoreError) {
                try writeOnce(bytes)
            } catch {
                // Outside the lock: the eviction waits for a transaction, which may be naming a prefix of this body.
                guard error.isFullDisk, store.makeRoomOnDisk(for: Int64(bytes.count)) else { throw error }
                try writeOnce(bytes)
            }
        } catch {
            state.withLock { $0.isOpen = false }
            throw error
        }
    }

    private func writeOnce(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            guard state.isOpen else { throw .closed }
            try checkSize(state.byteCount, adding: Int64(bytes.count))
            try append(bytes, &state)
            state.hasher.update(bufferPointer: bytes)
            state.byteCount += Int64(bytes.count)
        }
    }

    private func checkSize(_ present: Int64, adding count: Int64) throws(StoreError) {
        if let limit = store.limits.limits?.largestBody, present + count > limit { throw .bodyTooLarge(limit: limit) }
    }

    private func append(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws(StoreError) {
        if state.file == nil { state.file = try store.stage() }
        do throws(StoreError) {
            try state.file?.descriptor.write(bytes)
        } catch {
            // A full disk accepts a part of the bytes before it refuses the rest.
            _ = try? state.file?.descriptor.truncate(to: state.byteCount)
            throw error
        }
    }

    /// Appends bytes.
    ///
    /// - Throws: The errors of ``write(_:)-(UnsafeRawBufferPointer)``.
    public func write(_ data: some ContiguousBytes) throws(StoreError) {
        // `withUnsafeBytes` rethrows, and would lose the type of the error.
        try data.withUnsafeBytes { bytes in
            Result { () throws(StoreError) in try write(bytes) }
        }.get()
    }

    /// Appends a range of a stored body in chunks, without blocking the caller's thread.
    package func append(_ body: StoredBody, _ range: Range<Int64>) async throws(StoreError) {
        try await store.storingLanes.run { () throws(StoreError) in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let chunk = try body.bytes(at: offset, count: Int(min(Self.copyByteCount, range.upperBound - offset)))
                guard !chunk.isEmpty else { return }
                try self.write(chunk)
                offset += Int64(chunk.count)
            }
        }
    }

    private static let copyByteCount: Int64 = 262_144

    /// Returns all bytes written successfully, for a caller that needs the whole body or could not store it. The bytes
    /// stay readable after a commit and after a failure, until ``discard()``.
    ///
    /// - Throws: ``StoreError/closed`` after ``discard()``.
    public func written() throws(StoreError) -> StoredBody {
        try state.withLock { (state) throws(StoreError) in
            guard state.byteCount > 0 else { return StoredBody() }
            let digest = ContentDigest(state.hasher.finalize())
            guard let descriptor = state.file?.descriptor else { throw .closed }
            return StoredBody(descriptor: descriptor, digest: digest, byteCount: state.byteCount, isNamed: false)
        }
    }

    /// Releases the bytes. An entry that was committed from them stays.
    public func discard() {
        state.withLock { state in
            state.isOpen = false
            state.file = nil
        }
    }

    /// Returns the digest and the length of the bytes written so far, and with `closes` closes the writer. The digest
    /// of an empty body is `nil`.
    func measure(closes: Bool) throws(StoreError) -> (digest: ContentDigest?, byteCount: Int64) {
        let (digest, byteCount, file) = try state.withLock {
            (state) throws(StoreError) -> (ContentDigest?, Int64, FileDescriptor?) in
            guard state.isOpen else { throw .closed }
            state.isOpen = !closes
            // Copy before taking the write lock, because copying takes long.
            if closes || state.mayCopyGrowing, try state.hasLostName() { try restage(&state) }
            let digest = state.byteCount == 0 ? nil : ContentDigest(state.hasher.finalize())
            return (digest, state.byteCount, state.file?.descriptor)
        }
        // Sync outside the lock, so that the next write does not wait.
        try sync(file)
        return (digest, byteCount)
    }

    /// Adds the digest of the first `byteCount` bytes as a name of the file. Called inside the transaction that needs
    /// the name. With `isGrowing`, more bytes may follow.
    func place(_ digest: ContentDigest, _ byteCount: Int64, isGrowing: Bool) throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            // The writer was discarded while the commit waited.
            guard state.file != nil else { throw .closed }
            do throws(StoreError) {
                let wasLinked = state.wasLinked
                try link(&state, digest, byteCount, isGrowing: isGrowing)
                // The name may belong to a file of another writer with the same bytes.
                guard let file = state.file?.descriptor, case let status = try file.status(), status.linkCount > 0
                else { return state.wasLinked = wasLinked }
                if status.mayGrow != isGrowing { file.mark(mayGrow: isGrowing) }
                store.verified.insert(digest, status, isPart: isGrowing)
            } catch {
                throw store.blobs.error(error, of: digest)
            }
        }
    }

    private func link(
        _ state: inout State, _ digest: ContentDigest, _ byteCount: Int64, isGrowing: Bool
    ) throws(StoreError) {
        do throws(StoreError) {
            try name(state, digest, byteCount, isGrowing: isGrowing)
        } catch {
            // A failed commit or an eviction has deleted the last name, or a sweep has deleted the name below
            // `staging/`.
            guard error.meansMissing, state.mayHaveLostName else { throw error }
            if isGrowing, !state.mayCopyGrowing { throw error }
            try restage(&state)
            try name(state, digest, byteCount, isGrowing: isGrowing)
        }
        state.wasLinked = true
    }

    private func name(
        _ state: borrowing State, _ digest: ContentDigest, _ byteCount: Int64, isGrowing: Bool
    ) throws(StoreError) {
        switch state.file {
        case let file?: try store.blobs.link(file, as: digest, byteCount: byteCount, isGrowing: isGrowing)
        case nil: break
        }
    }

    /// Copies the written bytes to a new file.
    private func restage(_ state: inout State) throws(StoreError) {
        guard let source = state.file?.descriptor else { return }
        let copy = try store.blobs.stage()
        _ = try copy.descriptor.write(source, byteCount: state.byteCount)
        try sync(copy.descriptor)
        state.file = consume copy
        (state.wasLinked, state.isCopy) = (false, true)
    }

    /// Syncs the bytes of the file if the store is durable.
    private func sync(_ file: FileDescriptor?) throws(StoreError) {
        if store.configuration.isDurable { try file?.sync() }
    }
}
