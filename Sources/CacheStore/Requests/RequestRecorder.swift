internal import CPlatform
internal import Synchronization

/// Collects the requests and removals of this process, and appends them to the ``RequestRing`` in batches, on a
/// separate lane. A request costs no I/O on its thread, except that one request a second checks whether the store
/// records. A kill loses the records of the last tenth of a second.
///
/// The folder `Requests/` has the record of requests: its values, its file and the recorder of this process. The folder
/// may use the file `requests`, a serial queue and keys. The folder uses no other file, and not the index.
package final class RequestRecorder: Sendable {
    private struct Pending {
        let event: RecordedEvent
        /// The number of erasures when the request began.
        let erasures: UInt64
    }

    private struct State {
        var pending: [Pending] = []
        /// Records that found no room, or belong to requests from before an erasure.
        var dropped = 0
        var isTimerSet = false
        /// Whether the store is suspended or closed.
        var isEnded = false
    }

    /// How often a process checks whether the store records, in milliseconds.
    private static let lookInterval: Int64 = 1_000
    /// The time that a record stays in memory.
    private static let delay = Duration.milliseconds(100)
    /// The number of records in memory at which they are written immediately.
    private static let batchLength = 1_024
    /// The most records in memory. Above it, records are dropped.
    package static let maxPending = 8_192
    /// How long a batch waits for another process before it is postponed. A stopped process must not stop this one.
    private static let lockTimeout = Duration.milliseconds(20)

    private let root: FileDescriptor
    private let isReadOnly: Bool
    private let lane = BlockingLane(label: "CacheStore.requests")
    private let isOn = Atomic(false)
    /// The time of the next check.
    private let nextLook = Atomic<Int64>(.min)
    /// The number of erasures at the last check or batch.
    private let erasures = Atomic<UInt64>(0)
    /// Guards the records in memory.
    private let state = Mutex(State())
    /// Guards the open file: one batch or check at a time. Calls under it read and write the file.
    private let ring = Mutex<RequestRing?>(nil)

    /// - Parameter root: The directory of the store.
    init(root: FileDescriptor, isReadOnly: Bool) {
        self.root = root
        self.isReadOnly = isReadOnly
    }

    // MARK: Recording

    /// The number for ``add(_:since:)`` at the end of a request that begins now, if the store records.
    package var beginning: UInt64? {
        guard !isReadOnly else { return nil }
        let now = cplatform_coarse_milliseconds()
        let due = nextLook.load(ordering: .relaxed)
        // The exchange lets only one thread look. The others continue with the last setting.
        if now >= due,
            nextLook.compareExchange(expected: due, desired: now + Self.lookInterval, ordering: .relaxed).exchanged
        {
            look()
        }
        return isOn.load(ordering: .relaxed) ? erasures.load(ordering: .relaxed) : nil
    }

    /// Checks whether the store records. Does nothing while a batch is being written.
    package func look() {
        guard !isReadOnly, !state.withLock({ $0.isEnded }) else { return }
        // A request must not wait for the file. A batch that holds the lock reads the setting itself.
        ring.withLockIfAvailable { ring in
            if ring?.isPresent(in: root) != true { ring = (try? RequestRing.open(in: root)) ?? nil }
            follow((try? ring?.header()) ?? nil, &ring)
        }
    }

    /// Follows the setting in the file. A missing or damaged header turns recording off.
    private func follow(_ header: RequestRingHeader?, _ ring: inout RequestRing?) {
        erasures.store(header?.erasures ?? 0, ordering: .relaxed)
        isOn.store(header?.isOn ?? false, ordering: .relaxed)
        if header == nil { ring = nil }
    }

    /// Records a request that has ended, with the value of ``beginning`` at its start.
    package func add(_ record: RequestRecord, since beginning: UInt64) {
        add([.request(record)], since: beginning)
    }

    /// Records the removals of a committed transaction, with the value of ``beginning`` at its start.
    func add(_ removals: [RemovalRecord], since beginning: UInt64) {
        if !removals.isEmpty { add(removals.map(RecordedEvent.removal), since: beginning) }
    }

    private func add(_ events: [RecordedEvent], since beginning: UInt64) {
        enum Action { case none, setTimer, writeNow }
        let action = state.withLock { state -> Action in
            guard !state.isEnded else { return .none }
            let before = state.pending.count
            let accepted = events.prefix(Self.maxPending - before)
            state.dropped += events.count - accepted.count
            guard !accepted.isEmpty else { return .none }
            state.pending += accepted.map { Pending(event: $0, erasures: beginning) }
            // Ask only when the number is crossed. Otherwise each record would submit another write.
            if before < Self.batchLength, state.pending.count >= Self.batchLength { return .writeNow }
            guard !state.isTimerSet else { return .none }
            state.isTimerSet = true
            return .setTimer
        }
        switch action {
        case .none: break
        case .setTimer: flushLater()
        case .writeNow: lane.submit { [weak self] in self?.flush() }
        }
    }

    // MARK: Writing

    /// The number of records in memory.
    package var pendingCount: Int { state.withLock { $0.pending.count } }

    /// Appends the records in memory to the file. Drops them if the store no longer records.
    package func flush() {
        ring.withLock { ring in
            // Take the records under the lock of the file, so that two batches keep their order. The mutex of the file
            // is always taken before `state`.
            let (pending, dropped) = state.withLock { state in
                defer { (state.pending, state.dropped) = ([], 0) }
                return (state.pending, state.dropped)
            }
            guard !pending.isEmpty || dropped > 0 else { return }
            do throws(StoreError) {
                if ring?.isPresent(in: root) != true { ring = try RequestRing.open(in: root) }
                guard let file = ring else { return follow(nil, &ring) }
                let isWritten: Void? = try file.withLock(within: Self.lockTimeout) { () throws(StoreError) in
                    let header = try file.header()
                    follow(header, &ring)
                    guard let header, header.isOn else { return }
                    // A request from before an erasure must not bring an erased URL back.
                    let current = pending.filter { $0.erasures == header.erasures }
                    try file.append(
                        current.map(\.event), dropped: dropped + pending.count - current.count, after: header,
                        processID: getpid())
                }
                if isWritten == nil { putBack(pending, dropped: dropped) }
            } catch {
                // For example on a full disk. Later records skip these numbers, so that a reader counts the loss.
                state.withLock { $0.dropped += dropped + pending.count }
            }
        }
    }

    /// Puts back records that another process prevented from being written.
    private func putBack(_ pending: [Pending], dropped: Int) {
        let needsNoTimer = state.withLock { state in
            let all = pending + state.pending
            state.dropped += dropped + max(0, all.count - Self.maxPending)
            state.pending = all.suffix(Self.maxPending)
            defer { state.isTimerSet = true }
            return state.isTimerSet || state.isEnded
        }
        if !needsNoTimer { flushLater() }
    }

    private func flushLater() {
        lane.submit(after: Self.delay) { [weak self] in
            self?.state.withLock { $0.isTimerSet = false }
            self?.flush()
        }
    }

    // MARK: Suspending and closing

    /// Writes the records in memory and closes the file.
    func end() {
        // Set the flag first, so that no record arrives after the last write.
        state.withLock { $0.isEnded = true }
        flush()
        // Another process may have kept the lock. Then the write has put its records back.
        state.withLock { ($0.pending, $0.dropped) = ([], 0) }
        ring.withLock { $0 = nil }
        isOn.store(false, ordering: .relaxed)
    }

    /// Records again after ``end()``.
    func begin() {
        state.withLock { $0.isEnded = false }
        nextLook.store(.min, ordering: .relaxed)
    }
}
