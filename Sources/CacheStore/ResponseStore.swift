#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
internal import Logging
internal import Synchronization

/// A persistent cache of HTTP responses: an SQLite index, and the bodies in files named by their content.
///
/// ```swift
/// let store = try ResponseStore(directory: caches.appending(path: "feeds"))
/// try store.evict(maxBytes: 200 << 20)
/// ```
///
/// Any number of tasks, threads and processes may use one directory at once. Lookups run on the caller's thread and never
/// wait for a writer; writes that come together share a transaction. An entry is visible only with its whole body, and a
/// kill at any moment leaves every entry whole: the old one or the new one.
///
/// Calls that write wait for their transaction, which takes a fraction of a millisecond, or for another process's lock, for
/// at most ``Configuration/busyTimeout``. They have an asynchronous form of the same name, which waits without blocking
/// the thread; for the synchronous ``evict(maxBytes:)`` it is ``evict(_:)``.
public final class ResponseStore: Sendable {
    /// The directory of the store, free of symbolic links.
    public let directory: URL

    /// The configuration that the store was opened with.
    public let configuration: Configuration

    let indexPath: String
    let blobs: BlobDirectory
    let writer: IndexWriter
    let readers: ReaderPool
    private let verified = VerifiedBlobs()
    private let isClosed = Atomic(false)
    private let maintenance = BlockingLane(label: "CacheStore.maintenance")

    /// Opens the store in `directory`, or starts one there. Takes constant time, whatever the store holds.
    ///
    /// - Throws: ``StoreError/unusableDirectory(path:reason:)``, ``StoreError/notAnIndex(path:reason:)``,
    ///   ``StoreError/newerSchema(path:found:supported:)``, ``StoreError/busy(path:)``, ``StoreError/index(_:)``.
    public init(directory: URL, configuration: Configuration = Configuration()) throws(StoreError) {
        let place = try StoreDirectory(creating: directory)
        let (indexPath, timeout) = (place.indexPath, configuration.busyTimeout)
        let wasShutDown = place.wasShutDown
        let connection = try place.openIndex(busyTimeout: timeout)
        do {
            blobs = try BlobDirectory(root: place.root)
        } catch {
            throw .unusableDirectory(path: place.path, reason: error.description)
        }
        self.directory = URL(filePath: place.path)
        self.configuration = configuration
        self.indexPath = indexPath
        writer = IndexWriter(
            connection, path: indexPath, blobs: blobs, lane: BlockingLane(label: "CacheStore.writer"),
            touchInterval: configuration.touchInterval)
        readers = ReaderPool(count: max(1, configuration.readerCount)) { () throws(StoreError) in
            try mapping(indexPath) { () throws(SQLiteError) in
                try Connection(path: indexPath, role: .reader, busyTimeout: timeout)
            }
        }
        if !wasShutDown { sweepInBackground() }
    }

    deinit {
        close()
    }

    var now: Int64 { configuration.clock().milliseconds }

    // MARK: Looking up

    /// The content stored for `key`, the most recently received if `Vary` makes for several; `nil` on a miss.
    ///
    /// Counts as a use of the entry. Runs on the calling thread, some microseconds.
    public func lookup(_ key: CacheKey) throws(StoreError) -> StoredEntry? {
        guard let entry = try peek(key) else { return nil }
        touch(entry)
        return entry
    }

    /// As ``lookup(_:)``, but no use of the entry: it neither moves it up in the order of eviction nor counts as a hit.
    public func peek(_ key: CacheKey) throws(StoreError) -> StoredEntry? {
        try responses(for: key)
            .filter { $0.metadata.kind == .content }
            .max { $0.metadata.receivedAt < $1.metadata.receivedAt }
    }

    /// Everything stored for `key`: each variant, content and error response, in no order. No use of any.
    public func responses(for key: CacheKey) throws(StoreError) -> [StoredEntry] {
        try read { (connection) throws(SQLiteError) in try connection.entries(for: key) }
    }

    /// Whether content is stored for `key`. No use of it.
    public func contains(_ key: CacheKey) throws(StoreError) -> Bool {
        try peek(key) != nil
    }

    /// Notes that an entry answered a request. Costs no I/O: the note reaches the index with the next write, after
    /// ``Configuration/touchInterval``, or with `flush()`.
    public func touch(_ entry: StoredEntry) {
        writer.touch(entry.id, at: now)
    }

    /// Opens the body of an entry; `nil` if it is gone, in which case look the key up again.
    ///
    /// A body whose file is missing, has another length or, as far as ``Configuration/verification`` looks, other bytes is
    /// gone for good: its entries are removed, so that they are loaded anew.
    ///
    /// - Throws: ``StoreError/file(_:)`` when the file may be sound but cannot be read now, as with too many open files.
    public func openBody(of entry: StoredEntry) throws(StoreError) -> StoredBody? {
        try checkOpen()
        guard let digest = entry.digest else { return StoredBody() }
        if let body = try openIntact(digest, byteCount: entry.byteCount) { return body }
        do throws(StoreError) {
            // None where an eviction was faster than the reader: nothing was damaged then.
            let removed = try removeDamaged(digest, byteCount: entry.byteCount)
            guard removed > 0 else { return nil }
            configuration.logger.warning(
                "removed entries whose body was missing or damaged",
                metadata: ["sha256": "\(digest)", "entries": "\(removed)"])
        } catch {
            // Found again by the next reader. For this one it is a miss all the same.
            configuration.logger.warning(
                "cannot remove entries whose body is missing or damaged",
                metadata: ["sha256": "\(digest)", "error": "\(error)"])
        }
        return nil
    }

    private func openIntact(_ digest: ContentDigest, byteCount: Int64) throws(StoreError) -> StoredBody? {
        try mapping { () throws(SystemError) in
            guard let (descriptor, status) = try blobs.open(digest, byteCount: byteCount) else { return nil }
            switch configuration.verification {
            case .never: break
            case .firstRead where verified.contains(digest, status): break
            case .firstRead, .everyRead:
                guard try BlobDigester.digest(of: descriptor, byteCount: byteCount) == digest else { return nil }
                verified.insert(digest, status)
            }
            return StoredBody(descriptor: descriptor, digest: digest, byteCount: byteCount)
        }
    }

    /// Removes the entries of a body that is not what it should be, unless it has been stored anew in the meantime.
    private func removeDamaged(_ digest: ContentDigest, byteCount: Int64) throws(StoreError) -> Int {
        try writer.write { [self] (connection) throws(StoreError) in
            // Under the write lock nobody deletes or stores this file.
            guard try openIntact(digest, byteCount: byteCount) == nil else { return 0 }
            return try removeEntries(withBody: digest, connection)
        }
    }

    /// Removes the entries of a body that is damaged, and its file; how many there were.
    func removeEntries(withBody digest: ContentDigest, _ connection: Connection) throws(StoreError) -> Int {
        let removed = try mapping(indexPath) { () throws(SQLiteError) in
            try connection.removeEntries(withBody: digest)
        }
        // At once, and not with the unneeded files: if their count were wrong, it would stay for ever.
        try mapping { () throws(SystemError) in _ = try blobs.unlink(digest) }
        return removed
    }

    func read<Value: Sendable>(
        _ body: (Connection) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        try readers.read { (connection) throws(StoreError) in
            try mapping(indexPath) { () throws(SQLiteError) in try body(connection) }
        }
    }

    /// Runs `work` in the background, unless the store is gone by then.
    func submitMaintenance(_ work: @escaping @Sendable (ResponseStore) -> Void) {
        maintenance.submit { [weak self] in
            if let self { work(self) }
        }
    }

    /// Runs `work`, which blocks, without blocking the caller's executor.
    func onMaintenanceLane<Value: Sendable>(
        _ work: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await maintenance.run(work)
    }

    // MARK: Closing

    /// For what would work on a closed store too.
    func checkOpen() throws(StoreError) {
        guard !isClosed.load(ordering: .acquiring) else { throw .closed }
    }

    /// Writes what is only noted in memory and closes the index. Bodies that are open stay readable; every other call
    /// throws ``StoreError/closed`` from now on.
    public func close() {
        isClosed.store(true, ordering: .releasing)
        writer.close()
        readers.close()
    }
}
