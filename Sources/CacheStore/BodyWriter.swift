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
        var isOpen = true
    }

    private let store: ResponseStore
    /// Guards the file being written.
    private let state = Mutex(State())

    init(store: ResponseStore) {
        self.store = store
    }

    /// The bytes written so far.
    public var byteCount: Int64 { state.withLock { $0.byteCount } }

    /// Appends bytes. Copies them to the page cache of the system on the calling thread: some 10 µs for 16 KiB.
    ///
    /// - Throws: ``StoreError/file(_:)``, after which the writer is closed; ``StoreError/closed``.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        guard !bytes.isEmpty else { return }
        try state.withLock { (state) throws(StoreError) in
            guard state.isOpen else { throw .closed }
            do throws(SystemError) {
                if state.file == nil { state.file = try store.blobs.stage() }
                try state.file?.descriptor.write(bytes)
            } catch {
                state.isOpen = false
                // A full disk takes a part of the bytes before it refuses the rest.
                _ = try? state.file?.descriptor.truncate(to: state.byteCount)
                throw .file(error)
            }
            state.hasher.update(bufferPointer: bytes)
            state.byteCount += Int64(bytes.count)
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
    /// - Throws: ``StoreError``; then nothing of the body is left and the old entry is as it was.
    @discardableResult
    public func commit(_ metadata: EntryMetadata, for key: CacheKey) throws(StoreError) -> StoredEntry {
        let change = try finish(metadata, key)
        return try store.writer.write(undo: change.undo, change.run)
    }

    /// As the synchronous `commit(_:for:)`, without blocking the caller's thread.
    @discardableResult
    public func commit(_ metadata: EntryMetadata, for key: CacheKey) async throws(StoreError) -> StoredEntry {
        let change = try finish(metadata, key)
        return try await store.writer.write(undo: change.undo, change.run)
    }

    /// Lets go of the bytes. An entry that they became is left alone.
    public func discard() {
        state.withLock { state in
            state.isOpen = false
            state.file = nil
        }
    }

    private struct Change {
        let run: @Sendable (Connection) throws(StoreError) -> StoredEntry
        let undo: @Sendable (Connection) -> Void
    }

    /// Ends the body and says what its transaction has to do.
    private func finish(_ metadata: EntryMetadata, _ key: CacheKey) throws(StoreError) -> Change {
        try metadata.checkLengths()
        let (digest, byteCount) = try state.withLock { (state) throws(StoreError) in
            guard state.isOpen else { throw .closed }
            state.isOpen = false
            return (state.byteCount == 0 ? nil : ContentDigest(state.hasher.finalize()), state.byteCount)
        }
        let now = store.now
        return Change(
            run: { [self] (connection) throws(StoreError) in
                // The body before the row: who sees the row finds the file.
                if let digest { try link(digest, byteCount) }
                return try mapping(store.indexPath) { () throws(SQLiteError) in
                    if metadata.kind == .content { try connection.removeFailure(for: key) }
                    return try connection.store(metadata, for: key, digest: digest, byteCount: byteCount, at: now)
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
            switch state.file {
            case let file?:
                try mapping { () throws(SystemError) in
                    try store.blobs.link(file, as: digest, byteCount: byteCount)
                }
            case nil:
                // Discarded while the commit waited.
                throw .closed
            }
        }
    }
}
