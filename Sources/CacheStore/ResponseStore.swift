public import CacheFoundation
internal import Logging
internal import Synchronization

/// A persistent cache of HTTP responses: an SQLite index, and the bodies in files named by their content.
///
/// ```swift
/// let store = try ResponseStore(directory: caches.appending(path: "feeds"))
/// try store.evict(maxBytes: 200 << 20)
/// ```
///
/// Any number of tasks, threads and processes may use the same directory. Lookups run on the caller's thread and never
/// wait for a writer. Simultaneous writes share a transaction. An entry becomes visible together with its whole body. A
/// kill at any moment leaves every entry whole, the old one or the new one.
///
/// A call that writes returns after its transaction, which takes a fraction of a millisecond. The call waits for a lock
/// of another process for at most ``Configuration/busyTimeout``. Such calls have an asynchronous overload of the same
/// name, which does not block the thread. Only ``evict(maxBytes:dryRun:)`` has none: see its description.
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
    package let hotKeys: HotKeys
    let openBodies: OpenBodies
    private let openReader: @Sendable () throws(StoreError) -> sending Connection
    let limits: LimitEnforcer
    /// Requests a pass in the background that evicts down to the limits.
    let requestPass: @Sendable () -> Void
    let openLock: OpenLock
    package let keyLocks: KeyLocks
    /// Reopens the directory that now has the store's path, after a deleted directory made a file operation fail.
    let reopenReplacedDirectory: @Sendable () throws(StoreError) -> Void
    let longReads = LongReads()
    let verified = VerifiedBlobs()
    package let observation: StoreObservation
    /// Records the requests of this process.
    package let requests: RequestRecorder
    /// Objects that the users of this store share, by type. They live as long as the store.
    private let sharedObjects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])
    /// Changes only while ``transition`` is held.
    let phase = Atomic(Phase.open)
    /// Serialises closing, suspending and resuming. Guards changes of ``phase``.
    let transition = Mutex(())
    /// Creates the ballast while the store is open. Closing and suspending wait for the end.
    let writeBallast: @Sendable () -> Void
    /// Runs removals, evictions, checks and snapshots, without blocking the executors of their callers.
    let maintenanceLane: BlockingLane
    private let readingLanes: LaneGroup
    /// Run long work that stores bodies, off the caller's executor. Storing does not wait for the maintenance.
    let storingLanes: LaneGroup
    let background: BackgroundWork

    /// Opens the store in `directory`, or creates one there. Takes constant time for a store of any size.
    ///
    /// Quarantines an index that is damaged beyond use, or that a newer version of this package wrote. The quarantined
    /// index gets a dated name, the logger receives a report, and the store begins a new index.
    ///
    /// - Throws: ``StoreError/unusableDirectory(path:reason:)``, ``StoreError/foreignDirectory(path:reason:)``,
    ///   ``StoreError/busy(path:)``, ``StoreError/index(_:)``; ``StoreError/notAnIndex(path:reason:)`` when
    ///   `index.sqlite` belongs to another program, or is damaged in a read-only store. A read-only store must exist
    ///   and have the present schema: ``StoreError/olderSchema(path:found:supported:)``,
    ///   ``StoreError/newerSchema(path:found:supported:)``.
    public init(
        directory: URL = ResponseStore.defaultDirectory(), configuration: Configuration = Configuration()
    ) throws(StoreError) {
        let isReadOnly = configuration.isReadOnly
        let observation = StoreObservation(configuration)
        let place = try StoreDirectory(directory, createsDirectory: !isReadOnly)
        if !configuration.acceptsForeignDirectory { try place.checkOwner() }
        #if canImport(Darwin)
        if !isReadOnly {
            place.excludeFromBackups()
            if let protection = configuration.fileProtection { try place.protect(protection) }
        }
        #endif
        openLock = try OpenLock(place, isReadOnly: isReadOnly, timeout: configuration.busyTimeout)
        let opened = isReadOnly ? nil : try Self.open(place, openLock, configuration, observation.log)
        if isReadOnly { try place.checkIndex(configuration) }
        let work = opened?.index.work
        let usedBallast = opened?.usedBallast ?? false
        do {
            blobs = try BlobDirectory(
                root: place.root, createsDirectory: !isReadOnly, isDurable: configuration.isDurable)
        } catch {
            throw .unusableDirectory(path: place.path, reason: error.cause)
        }
        let reopenReplacedDirectory: @Sendable () throws(StoreError) -> Void = {
            [blobs, openLock] () throws(StoreError) in
            try place.reopenIfReplaced(createsDirectory: !isReadOnly)
            try blobs.reopenIfReplaced()
            try openLock.reopenIfReplaced()
        }
        let openReader: @Sendable () throws(StoreError) -> sending Connection = { () throws(StoreError) in
            try reopenReplacedDirectory()
            return try place.openReader(configuration)
        }
        let hotKeys = HotKeys(capacity: configuration.hotKeyCount)
        let openBodies = OpenBodies(capacity: configuration.secureDelete ? 0 : configuration.openBodyCount)
        let readers = ReaderPool(
            count: max(1, configuration.readerCount), place, willClose: { hotKeys.detach() }, open: openReader)
        let limits = LimitEnforcer(configuration.limits)
        let background = BackgroundWork()
        let requestPass: @Sendable () -> Void = {
            if limits.requestPass() { background.submit { store in store.keepLimits() } }
        }
        self.requestPass = requestPass
        writeBallast = { [blobs, longReads] in
            _ = try? longReads.run { (_) throws(StoreError) in place.makeBallast(staging: blobs) }
        }
        deletion = BlobDeletion(blobs, openBodies)
        let requests = RequestRecorder(root: place.root, isReadOnly: isReadOnly)
        self.requests = requests
        writer = IndexWriter(
            opened?.index,
            IndexWriter.Dependencies(
                directory: place, blobs: blobs, deletion: deletion, hotKeys: hotKeys,
                configuration: configuration, observation: observation, requests: requests,
                reopenReplacedDirectory: reopenReplacedDirectory,
                indexWasReplaced: { killedWriters in
                    readers.reset()
                    // On the background lane, because this thread holds the writer's connection.
                    background.submit { store in
                        store.writeBallast()
                        try? store.sweepLeftovers(of: killedWriters)
                        store.reorderEntries()
                    }
                },
                hasEvicted: requestPass))
        self.directory = URL(filePath: place.path)
        self.configuration = configuration
        self.place = place
        self.readers = readers
        self.hotKeys = hotKeys
        self.openBodies = openBodies
        self.openReader = openReader
        self.limits = limits
        self.reopenReplacedDirectory = reopenReplacedDirectory
        self.observation = observation
        keyLocks = KeyLocks(root: place.root, isReadOnly: isReadOnly)
        maintenanceLane = BlockingLane(label: "CacheStore.maintenance")
        readingLanes = LaneGroup(label: "CacheStore.reading", count: max(1, configuration.readerCount))
        storingLanes = LaneGroup(label: "CacheStore.storing", count: max(1, configuration.readerCount))
        self.background = background
        background.attach(self)
        readers.prepare()
        if let work { schedule(work, usedBallast: usedBallast) }
        if !isReadOnly, configuration.limits?.checkInterval != nil { background.submit { $0.keepLimitsOverTime() } }
        applyRecordingChoice()
    }

    /// Schedules the work that the opening has deferred.
    private func schedule(_ work: StoreDirectory.DeferredWork, usedBallast: Bool) {
        if usedBallast {
            background.submit { store in _ = store.makeRoomOnDisk(for: 0) }
        } else {
            background.lane.submit(writeBallast)
        }
        if work.hasLeftovers { background.submit { store in try? store.sweepLeftovers(of: work.killedWriters) } }
        if work.hasUnordered { background.submit { store in store.reorderEntries() } }
        if work.hasLapsed { background.submit { store in try? store.removeLapsed() } }
        // Processes without limits may have filled the store.
        if configuration.limits?.isExceeded(by: work.size) == true { background.submit { store in store.keepLimits() } }
    }

    /// Opens the index for writing. On a full disk, deletes the ballast and uses its space.
    private static func open(
        _ place: StoreDirectory, _ openLock: OpenLock, _ configuration: Configuration, _ log: StoreLog
    ) throws(StoreError) -> sending (index: StoreDirectory.OpenedIndex, usedBallast: Bool) {
        let isOnlyOpener = openLock.isOnlyOpener
        let opened = try place.withBallast { () throws(StoreError) in
            try place.openIndex(configuration, log, isOnlyOpener: isOnlyOpener)
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

    /// Returns the content stored for `key`, or `nil` on a miss. Of several variants (`Vary`), returns the one received
    /// last. Skips parts and error responses.
    ///
    /// Counts as an access of the entry, or as a miss of its host. Runs on the calling thread, for some microseconds.
    public func lookup(_ key: CacheKey) throws(StoreError) -> StoredEntry? {
        guard let entry = try peek(key) else {
            count(RequestCounts(misses: 1), for: key)
            return nil
        }
        touch(entry)
        return entry
    }

    /// Looks up a key like ``lookup(_:)``, but counts neither an access nor a miss.
    public func peek(_ key: CacheKey) throws(StoreError) -> StoredEntry? {
        var latest: StoredEntry?
        for entry in try responses(for: key) where entry.metadata.kind == .content && entry.metadata.part == nil {
            if latest.map({ $0.metadata.receivedAt < entry.metadata.receivedAt }) ?? true { latest = entry }
        }
        return latest
    }

    /// Returns everything stored for `key`, in no order: every variant, part, content and error response. Does not
    /// count as an access.
    public func responses(for key: CacheKey) throws(StoreError) -> [StoredEntry] {
        try snapshot(of: key, isForOrigin: false).entries
    }

    /// Returns whether content is stored for `key`. Does not count as an access.
    public func contains(_ key: CacheKey) throws(StoreError) -> Bool {
        try peek(key) != nil
    }

    // MARK: Recording accesses

    /// Records that an entry answered a request. Costs no I/O: the access reaches the index with the next write, with
    /// `flush()`, or at the latest after ``Configuration/accessInterval``.
    public func touch(_ entry: StoredEntry, as use: EntryUse = .hit) {
        guard isWritable else { return }
        writer.noteAccess(to: entry.id, use, key: entry.key, at: now)
    }

    /// Records an access like ``touch(_:as:)``, for a caller that knows only the ``StoredEntry/id`` of the entry.
    package func touchEntry(_ id: Int64, as use: EntryUse) {
        guard isWritable else { return }
        writer.noteAccess(to: id, use, key: nil, at: now)
    }

    /// Adds to the counts of the host of `key`. Costs as little as ``touch(_:as:)``.
    package func count(_ counts: RequestCounts, for key: CacheKey) {
        guard isWritable else { return }
        writer.noteRequest(counts, host: key.host ?? "", at: now)
    }

    private var isWritable: Bool { !configuration.isReadOnly && phase.load(ordering: .relaxed) == .open }

    /// The object of this type that all users of the store share, made once. `make` must not use the store.
    package func shared<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
        sharedObjects.withLock { objects in
            let id = ObjectIdentifier(Object.self)
            if let object = objects[id] as? Object { return object }
            let object = make()
            objects[id] = object
            return object
        }
    }

    // MARK: Reading, and working in the background

    /// Calls `body` with a connection of the pool. Recovers a damaged or missing index and calls `body` once more.
    func read<Value: Sendable>(
        _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try writer.recoveringFromDamage { () throws(StoreError) in try readers.read(body) }
    }

    /// Calls `body` with a separate connection, for a long read, so that no lookup waits for it. Suspending and closing
    /// the store interrupt the read. Recovers a damaged or missing index as ``read(_:)`` does. The WAL cannot restart
    /// while a statement runs, so a read of many rows should run many statements.
    func readLong<Value: Sendable>(
        _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try writer.recoveringFromDamage { () throws(StoreError) in try readLongAsIs(body) }
    }

    /// Reads like ``readLong(_:)``, but leaves a damaged index as it is.
    func readLongAsIs<Value: Sendable>(
        _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try checkOpen()
        return try longReads.run { (interruption) throws(StoreError) in
            let connection = try openReader()
            connection.interrupt(by: interruption)
            return try body(connection)
        }
    }

    /// Throws unless the store is open for writing. Needed in calls that write a file before they use the index.
    func checkWritable() throws(StoreError) {
        guard !configuration.isReadOnly else { throw .readOnly(path: place.path) }
        try checkOpen()
    }

    /// The number of calls of ``onReadingLane(_:)``.
    package var longReadCount: Int { readingLanes.count.load(ordering: .relaxed) }

    /// Runs a long read without blocking the caller's executor.
    package func onReadingLane<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await readingLanes.run(work)
    }
}
