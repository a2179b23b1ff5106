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
/// the thread; for the synchronous ``evict(maxBytes:dryRun:)`` it is ``evict(_:dryRun:)``.
public final class ResponseStore: Sendable {
    /// The directory of the store, free of symbolic links.
    public let directory: URL

    /// The configuration that the store was opened with.
    public let configuration: Configuration

    let place: StoreDirectory
    let blobs: BlobDirectory
    let deletion: BlobDeletion
    package let writer: IndexWriter
    let readers: ReaderPool
    let limits: LimitEnforcer
    let openLock: OpenLock
    let keyLocks: KeyLocks
    /// Follows the path if the directory was deleted or replaced.
    let reopenReplacedDirectory: @Sendable () throws(StoreError) -> Void
    let queries = InterruptibleQueries()
    let verified = VerifiedBlobs()
    package let observation: StoreObservation
    let options: IndexOptions
    /// Changed under ``transition`` only.
    let phase = Atomic(Phase.open)
    /// Held while the store is closed, suspended or resumed: one after the other, each of them whole.
    let transition = Mutex(())
    private let maintenance: BlockingLane
    let background: BackgroundWork

    /// Opens the store in `directory`, or starts one there. Takes constant time, whatever the store holds.
    ///
    /// An index that is damaged beyond use, or was written by a newer version of this package, is set aside under a dated
    /// name, which the logger is told, and a fresh one begun.
    ///
    /// - Throws: ``StoreError/unusableDirectory(path:reason:)``, ``StoreError/busy(path:)``, ``StoreError/index(_:)``;
    ///   ``StoreError/notAnIndex(path:reason:)`` when `index.sqlite` belongs to another program. A store that is only read
    ///   has to be there, and to be of the present schema: ``StoreError/olderSchema(path:found:supported:)``,
    ///   ``StoreError/newerSchema(path:found:supported:)``.
    public init(
        directory: URL = ResponseStore.defaultDirectory(), configuration: Configuration = Configuration()
    ) throws(StoreError) {
        let isReadOnly = configuration.isReadOnly
        let observation = StoreObservation(configuration)
        let options = configuration.indexOptions(observation.log)
        let place =
            isReadOnly ? try StoreDirectory(opening: directory) : try StoreDirectory(creating: directory)
        openLock = try OpenLock(place, isReadOnly: isReadOnly, timeout: options.busyTimeout)
        let opened = isReadOnly ? nil : try Self.open(place, openLock, options)
        if isReadOnly { try place.checkIndex(options) }
        let work = opened?.index.work
        let usedBallast = opened?.usedBallast ?? false
        do {
            blobs = try BlobDirectory(
                root: place.root, createsDirectory: !isReadOnly, isDurable: configuration.durability == .durable)
        } catch {
            throw .unusableDirectory(path: place.path, reason: error.description)
        }
        let reopenReplacedDirectory: @Sendable () throws(StoreError) -> Void = {
            [blobs, openLock] () throws(StoreError) in
            try place.reopenIfReplaced(createsDirectory: !isReadOnly)
            try wrappingErrors { () throws(SystemError) in try blobs.reopenIfReplaced() }
            try openLock.reopenIfReplaced()
        }
        let openReader: @Sendable () throws(StoreError) -> sending Connection = { () throws(StoreError) in
            try reopenReplacedDirectory()
            return try place.openReader(isReadOnly: isReadOnly, options)
        }
        let readers = ReaderPool(count: max(1, configuration.readerCount), open: openReader)
        let limits = LimitEnforcer(configuration.limits)
        let maintenance = BlockingLane(label: "CacheStore.maintenance")
        let background = BackgroundWork(maintenance)
        deletion = BlobDeletion(blobs)
        writer = IndexWriter(
            opened?.index.connection,
            IndexWriter.Dependencies(
                directory: place, blobs: blobs, deletion: deletion, options: options, observation: observation,
                accessInterval: configuration.accessInterval,
                reopenReplacedDirectory: reopenReplacedDirectory,
                indexWasReplaced: {
                    readers.reset()
                    background.submit { store in
                        store.place.makeBallast()
                        _ = try? store.sweep()
                        store.reorderEntries()
                    }
                },
                hasEvicted: {
                    if limits.requestPass() { background.submit { store in store.keepLimits() } }
                }))
        self.directory = URL(filePath: place.path)
        self.configuration = configuration
        self.options = options
        self.place = place
        self.readers = readers
        self.limits = limits
        self.reopenReplacedDirectory = reopenReplacedDirectory
        self.observation = observation
        keyLocks = KeyLocks(root: place.root, isReadOnly: isReadOnly)
        self.maintenance = maintenance
        self.background = background
        background.attach(self)
        if let work { schedule(work, usedBallast: usedBallast) }
    }

    /// Does the deferred work of the opening in the background.
    private func schedule(_ work: StoreDirectory.DeferredWork, usedBallast: Bool) {
        if usedBallast {
            background.submit { store in _ = store.makeRoomOnDisk(for: 0) }
        } else {
            maintenance.submit { [place] in place.makeBallast() }
        }
        if work.hasLeftovers { background.submit { store in _ = try? store.sweep() } }
        if work.hasUnordered { background.submit { store in store.reorderEntries() } }
        if work.hasLapsed { background.submit { store in try? store.removeLapsed() } }
        // Other processes may have filled the store without limits.
        if limits.isExceeded(by: work.size) { background.submit { store in store.keepLimits() } }
    }

    /// Opens the index for writing; on a full disk with the room of the ballast.
    private static func open(
        _ place: StoreDirectory, _ openLock: OpenLock, _ options: IndexOptions
    ) throws(StoreError) -> sending (index: StoreDirectory.OpenedIndex, usedBallast: Bool) {
        let isOnlyOpener = openLock.isOnlyOpener
        let opened = try place.withBallast { () throws(StoreError) in
            try place.openIndex(options, isOnlyOpener: isOnlyOpener)
        }
        try openLock.share()
        return (opened.0, opened.usedBallast)
    }

    deinit {
        close()
    }

    var now: Int64 { configuration.clock().milliseconds }
    var indexPath: String { place.indexPath }

    // MARK: Looking up

    /// The content stored for `key`, the most recently received if `Vary` makes for several; `nil` on a miss.
    ///
    /// Counts as a use of the entry, or as a miss of its host. Runs on the calling thread, some microseconds.
    public func lookup(_ key: CacheKey) throws(StoreError) -> StoredEntry? {
        guard let entry = try peek(key) else {
            countMiss(for: key)
            return nil
        }
        touch(entry)
        return entry
    }

    /// As ``lookup(_:)``, but reading does not count as an access: the order of eviction and the hit count stay as they are.
    public func peek(_ key: CacheKey) throws(StoreError) -> StoredEntry? {
        try responses(for: key)
            .filter { $0.metadata.kind == .content && $0.metadata.part == nil }
            .max { $0.metadata.receivedAt < $1.metadata.receivedAt }
    }

    /// Everything stored for `key`: each variant, content, part and error response, in no order. No use of any.
    public func responses(for key: CacheKey) throws(StoreError) -> [StoredEntry] {
        try read { (connection) throws(SQLiteError) in try connection.entries(for: key) }
    }

    /// Whether content is stored for `key`. No use of it.
    public func contains(_ key: CacheKey) throws(StoreError) -> Bool {
        try peek(key) != nil
    }

    // MARK: Noting

    /// Notes that an entry answered a request. Costs no I/O: the note reaches the index with the next write, after
    /// ``Configuration/accessInterval``, or with `flush()`.
    public func touch(_ entry: StoredEntry, as use: EntryUse = .hit) {
        guard isWritable else { return }
        writer.noteAccess(to: entry.id, use, key: entry.key, at: now)
    }

    /// As ``touch(_:as:)``, for a caller that has only the ``StoredEntry/id`` of the entry.
    package func touchEntry(_ id: Int64, as use: EntryUse) {
        guard isWritable else { return }
        writer.noteAccess(to: id, use, key: nil, at: now)
    }

    /// Notes that the origin had to answer a request for `key`. Costs as little as ``touch(_:as:)``.
    package func countMiss(for key: CacheKey) {
        var counts = RequestCounts()
        counts.misses = 1
        note(counts, key)
    }

    /// Notes that a request for `key` was not answered, or with an error. Costs as little as ``touch(_:as:)``.
    package func countError(for key: CacheKey) {
        var counts = RequestCounts()
        counts.errors = 1
        note(counts, key)
    }

    private func note(_ counts: RequestCounts, _ key: CacheKey) {
        guard isWritable else { return }
        writer.noteRequest(counts, host: key.host ?? "", at: now)
    }

    private var isWritable: Bool { !configuration.isReadOnly && phase.load(ordering: .relaxed) == .open }

    // MARK: Reading, and working in the background

    /// Answers a question with a connection of the pool. If the index turns out to be damaged, it is set aside first.
    func read<Value: Sendable>(
        _ body: (Connection) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        try writer.recoveringFromDamage { () throws(StoreError) in try readAsIs(body) }
    }

    /// Answers a question with a connection of the pool, and leaves a damaged index as it is.
    func readAsIs<Value: Sendable>(
        _ body: (Connection) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        try readers.read { (connection) throws(StoreError) in
            try wrappingErrors(indexPath) { () throws(SQLiteError) in try body(connection) }
        }
    }

    /// For what would write a file before it comes to the index.
    func checkWritable() throws(StoreError) {
        guard !configuration.isReadOnly else { throw .readOnly(path: place.path) }
        try checkOpen()
    }

    /// Runs `work`, which blocks, without blocking the caller's executor.
    func onMaintenanceLane<Value: Sendable>(
        _ work: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await maintenance.run(work)
    }
}
