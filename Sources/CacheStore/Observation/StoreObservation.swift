internal import CoreMetrics
internal import Logging

/// Counts, times and logs the work of a store.
package final class StoreObservation: Sendable {
    let evictedEntries: Tally
    let evictedBytes: Tally
    let damagedBodies: Tally
    let busyTransactions: Tally
    let log: StoreLog
    private let transactionTimer: CoreMetrics.Timer
    private let holdTimer: CoreMetrics.Timer
    private let hasMetrics: Bool
    private let logsEviction: Bool
    /// Runs the program's handlers of logs and metrics.
    private let lane: BlockingLane

    init(_ configuration: ResponseStore.Configuration) {
        let factory = configuration.metrics ?? MetricsSystem.factory
        let lane = BlockingLane(label: "CacheStore.observation")
        evictedEntries = Tally("cachestore.evicted.entries", from: factory, on: lane)
        evictedBytes = Tally("cachestore.evicted.bytes", from: factory, on: lane)
        damagedBodies = Tally("cachestore.damaged.bodies", from: factory, on: lane)
        busyTransactions = Tally("cachestore.transactions.busy", from: factory, on: lane)
        transactionTimer = CoreMetrics.Timer(label: "cachestore.transaction.duration", factory: factory)
        holdTimer = CoreMetrics.Timer(label: "cachestore.transaction.hold", factory: factory)
        hasMetrics = !(factory is NOOPMetricsHandler)
        log = StoreLog(configuration.logger, lane)
        logsEviction = configuration.logsEviction
        self.lane = lane
    }

    /// Records the end of a transaction, and how long it held the write lock. Handlers run later, on another queue.
    func transacted(in duration: Duration, holding hold: Duration, evicted: EvictionReport, isBusy: Bool) {
        if hasMetrics {
            lane.submit { [transactionTimer, holdTimer] in
                transactionTimer.recordNanoseconds(duration.nanoseconds)
                holdTimer.recordNanoseconds(hold.nanoseconds)
            }
        }
        if isBusy { busyTransactions.add() }
        guard evicted.entries > 0 else { return }
        evictedEntries.add(Int64(evicted.entries))
        evictedBytes.add(evicted.bytes)
        if logsEviction {
            log.debug("evicted entries", ["entries": "\(evicted.entries)", "bytes": "\(evicted.bytes)"])
        }
    }

    /// Returns when the handlers have run for all earlier records.
    package func wait() {
        lane.runAndWait {}
    }
}

extension Duration {
    /// The duration in nanoseconds, up to 292 years.
    fileprivate var nanoseconds: Int64 { components.seconds &* 1_000_000_000 &+ components.attoseconds / 1_000_000_000 }
}

/// Counts of this process since it opened the store. The counts in ``StoreStatistics`` outlive the process.
public struct StoreCounters: Hashable, Sendable {
    /// Entries removed to make room, or by an ``EvictionRule``.
    public let evictedEntries: Int64
    /// Bytes of the bodies that no entry needed after those removals.
    public let evictedBytes: Int64
    /// Bodies that were missing or altered, and were dropped.
    public let damagedBodies: Int64
    /// Transactions that failed because another process kept the lock for longer than
    /// ``ResponseStore/Configuration/busyTimeout``.
    public let busyTransactions: Int64
}

extension ResponseStore {
    /// The counts of this process since it opened the store. Costs no I/O. The counts are not from exactly the same
    /// moment.
    public var counters: StoreCounters {
        StoreCounters(
            evictedEntries: observation.evictedEntries.value, evictedBytes: observation.evictedBytes.value,
            damagedBodies: observation.damagedBodies.value, busyTransactions: observation.busyTransactions.value)
    }
}
