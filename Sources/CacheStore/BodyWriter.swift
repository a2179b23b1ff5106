#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
internal import Crypto
internal import Synchronization

/// A body on its way into the store.
///
/// Its bytes go to a file without a name while they are hashed; `commit(_:for:)` names the file and makes the entry
/// visible, both at once. A writer that is let go without a commit leaves nothing behind. One caller writes; the order of
/// the calls is the order of the bytes.
public final class BodyWriter: Sendable {
    private struct State: ~Copyable {
        /// Created with the first byte: an empty body needs no file.
        var file: StagedFile?
        var hasher = SHA256()
        var byteCount: Int64 = 0
        /// Of these, the bytes that count as being on their way.
        var inFlight: Int64 = 0
        var isOpen = true
        /// Whether the file has had a name.
        var wasLinked = false
    }

    private let store: ResponseStore
    /// Guards the file being written.
    private let state = Mutex(State())

    init(store: ResponseStore) {
        self.store = store
    }

    /// The bytes written so far.
    public var byteCount: Int64 { state.withLock { $0.byteCount } }

    deinit {
        let inFlight = state.withLock { $0.inFlight }
        store.limits.add(-inFlight)
    }

    /// Appends bytes. Copies them to the page cache of the system on the calling thread: some 10 µs for 16 KiB.
    ///
    /// On a full disk entries are evicted, and the write tried once more.
    ///
    /// - Throws: ``StoreError/bodyTooLarge(limit:)``, ``StoreError/file(_:)``, after which the writer is closed;
    ///   ``StoreError/readOnly(path:)``, ``StoreError/suspended``, ``StoreError/closed``.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        guard !bytes.isEmpty else { return }
        try store.checkWritable()
        try state.withLock { (state) throws(StoreError) in
            guard state.isOpen else { throw .closed }
            do throws(StoreError) {
                try checkSize(state.byteCount, adding: Int64(bytes.count))
                do throws(StoreError) {
                    try append(bytes, &state)
                } catch {
                    guard error.isFullDisk, store.makeRoomOnDisk(for: Int64(bytes.count)) else { throw error }
                    try append(bytes, &state)
                }
            } catch {
                state.isOpen = false
                throw error
            }
            state.hasher.update(bufferPointer: bytes)
            state.byteCount += Int64(bytes.count)
            state.inFlight += Int64(bytes.count)
            store.limits.add(Int64(bytes.count))
            if store.limits.isExceeded { store.keepLimitsInBackground() }
        }
    }

    private func checkSize(_ present: Int64, adding count: Int64) throws(StoreError) {
        if let limit = store.limits.limits?.maxEntryBytes, present + count > limit { throw .bodyTooLarge(limit: limit) }
        // So many bodies are on their way at once that no eviction could make room for them.
        guard store.limits.hasRoom(for: count) else { throw .bodyTooLarge(limit: store.limits.limits?.maxBytes ?? 0) }
    }

    private func append(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws(StoreError) {
        try mapping { () throws(SystemError) in
            if state.file == nil { state.file = try store.blobs.stage() }
            do throws(SystemError) {
                try state.file?.descriptor.write(bytes)
            } catch {
                // A full disk takes a part of the bytes before it refuses the rest.
                _ = try? state.file?.descriptor.truncate(to: state.byteCount)
                throw error
            }
        }
    }

    /// Appends bytes.
    ///
    /// - Throws: As ``write(_:)-(UnsafeRawBufferPointer)``.
    public func write(_ data: some ContiguousBytes) throws(StoreError) {
        let result: Result<Void, StoreError> = data.withUnsafeBytes { bytes in
            do throws(StoreError) {
                return .success(try write(bytes))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Appends a copy of some bytes of a stored body, in pieces.
    ///
    /// - Throws: As ``write(_:)-(UnsafeRawBufferPointer)``, and what reading a ``StoredBody`` throws.
    package func append(_ body: StoredBody, _ range: Range<Int64>) throws(StoreError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let chunk = try body.bytes(at: offset, count: Int(min(Self.copyByteCount, range.upperBound - offset)))
            guard !chunk.isEmpty else { return }
            try write(chunk)
            offset += Int64(chunk.count)
        }
    }

    /// As the synchronous form, without blocking the caller's thread.
    package func append(_ body: StoredBody, _ range: Range<Int64>) async throws(StoreError) {
        try await store.onMaintenanceLane { () throws(StoreError) in try self.append(body, range) }
    }

    private static let copyByteCount: Int64 = 262_144

    /// The bytes of all successful writes, to read back: for a caller that wants the body as a whole, or whose body could
    /// not be stored. They stay readable after a commit and after a failure, until ``discard()``.
    ///
    /// - Throws: ``StoreError/closed`` after ``discard()``.
    public func written() throws(StoreError) -> StoredBody {
        try state.withLock { (state) throws(StoreError) in
            guard state.byteCount > 0 else { return StoredBody() }
            guard let descriptor = state.file?.descriptor else { throw .closed }
            return StoredBody(
                descriptor: descriptor, digest: ContentDigest(state.hasher.finalize()), byteCount: state.byteCount,
                isNamed: false)
        }
    }

    /// Makes the body and its metadata an entry, in place of the one with the same key, kind and variant.
    ///
    /// Waits until the entry is committed. Whoever looks the key up sees the whole old entry until then, and the whole new
    /// one afterwards. A commit of content forgets the failures of the key.
    ///
    /// - Parameters:
    ///   - metadata: What is to be known of the response.
    ///   - key: What it is found by.
    ///   - options: How long it may stay, whether it is pinned, and its tags.
    ///   - generation: Taken from the store when the load of this body began. If the key was removed since then, the body is
    ///     not stored.
    /// - Throws: ``StoreError``, such as ``StoreError/removedMeanwhile(_:)``; then nothing of the body is left and the old
    ///   entry is as it was.
    @discardableResult
    public func commit(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(),
        unlessRemovedSince generation: StoreGeneration? = nil
    ) throws(StoreError) -> StoredEntry {
        let change = try finish(metadata, key, options, generation)
        try store.makeRoom()
        do throws(StoreError) {
            return try store.writer.write(undo: change.undo, change.run)
        } catch {
            guard error.isFullDisk, store.makeRoomOnDisk(for: byteCount) else { throw error }
            return try store.writer.write(undo: change.undo, change.run)
        }
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func commit(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(),
        unlessRemovedSince generation: StoreGeneration? = nil
    ) async throws(StoreError) -> StoredEntry {
        try await commit(metadata, for: key, options: options, replacing: [], unlessRemovedSince: generation)
    }

    /// As ``commit(_:for:options:unlessRemovedSince:)``; entries that this one makes needless go in the same transaction.
    @discardableResult
    package func commit(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(),
        replacing entries: [StoredEntry], unlessRemovedSince generation: StoreGeneration? = nil
    ) async throws(StoreError) -> StoredEntry {
        let change = try finish(metadata, key, options, generation, replacing: entries)
        try await store.makeRoom()
        do throws(StoreError) {
            return try await store.writer.write(undo: change.undo, change.run)
        } catch {
            guard error.isFullDisk else { throw error }
            let byteCount = byteCount
            let hasRoom = try await store.onMaintenanceLane { [store] () throws(StoreError) in
                store.makeRoomOnDisk(for: byteCount)
            }
            guard hasRoom else { throw error }
            return try await store.writer.write(undo: change.undo, change.run)
        }
    }

    /// Lets go of the bytes. An entry that they became is left alone.
    public func discard() {
        state.withLock { state in
            state.isOpen = false
            state.file = nil
            landed(&state)
        }
    }

    /// The bytes are no longer on their way: they are in the store, or gone.
    private func landed(_ state: inout State) {
        store.limits.add(-state.inFlight)
        state.inFlight = 0
    }

    private struct Change {
        let run: @Sendable (Connection) throws(StoreError) -> StoredEntry
        let undo: @Sendable (Connection) -> Void
    }

    /// Ends the body and says what its transaction has to do.
    private func finish(
        _ metadata: EntryMetadata, _ key: CacheKey, _ options: EntryOptions, _ generation: StoreGeneration?,
        replacing entries: [StoredEntry] = []
    ) throws(StoreError) -> Change {
        try metadata.checkLengths()
        try options.check()
        let (digest, byteCount) = try state.withLock { (state) throws(StoreError) in
            guard state.isOpen else { throw .closed }
            state.isOpen = false
            // Before the write lock is asked for: it takes long.
            if store.configuration.durability == .durable, let file = state.file?.descriptor {
                try mapping { () throws(SystemError) in try file.sync() }
            }
            return (state.byteCount == 0 ? nil : ContentDigest(state.hasher.finalize()), state.byteCount)
        }
        let now = store.now
        return Change(
            run: { [self] (connection) throws(StoreError) in
                if let generation {
                    let wasRemoved = try mapping(store.indexPath) { () throws(SQLiteError) in
                        try connection.wasRemoved(key, since: generation)
                    }
                    guard !wasRemoved else { throw .removedMeanwhile(key) }
                }
                // The body before the row: who sees the row finds the file.
                if let digest { try link(digest, byteCount) }
                return try mapping(store.indexPath) { () throws(SQLiteError) in
                    if metadata.kind == .content { try connection.removeFailure(for: key) }
                    for entry in entries where !entry.isReplaced(by: metadata) { _ = try connection.removeEntry(entry) }
                    return try connection.store(
                        metadata, for: key, options: options, digest: digest, byteCount: byteCount, at: now)
                }
            },
            undo: { [store] connection in
                // The row did not come to be. If nobody else needs the file, it goes too.
                guard let digest, (try? connection.containsBlob(digest)) == false else { return }
                _ = try? store.blobs.unlink(digest)
            })
    }

    private func link(_ digest: ContentDigest, _ byteCount: Int64) throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            // Discarded while the commit waited.
            guard state.file != nil else { throw .closed }
            do throws(SystemError) {
                try link(&state, digest, byteCount)
            } catch {
                throw .file(error)
            }
            landed(&state)
        }
    }

    private func link(_ state: inout State, _ digest: ContentDigest, _ byteCount: Int64) throws(SystemError) {
        do throws(SystemError) {
            try name(state, digest, byteCount)
            state.wasLinked = true
        } catch {
            // A commit that is tried again has taken the first name back, and a file without a name that has had one can
            // never have another: open(2) on O_TMPFILE.
            guard error.meansMissing, state.wasLinked else { throw error }
            try restage(&state)
            try name(state, digest, byteCount)
        }
    }

    private func name(_ state: borrowing State, _ digest: ContentDigest, _ byteCount: Int64) throws(SystemError) {
        switch state.file {
        case let file?: try store.blobs.link(file, as: digest, byteCount: byteCount)
        case nil: break
        }
    }

    /// Copies what is written to a new file.
    private func restage(_ state: inout State) throws(SystemError) {
        guard let source = state.file?.descriptor else { return }
        let copy = try store.blobs.stage()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(Self.copyByteCount), alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while offset < state.byteCount {
            let count = try source.read(into: buffer, at: offset)
            guard count > 0 else { break }
            try copy.descriptor.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        if store.configuration.durability == .durable { try copy.descriptor.sync() }
        state.file = consume copy
    }
}
