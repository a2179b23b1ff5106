internal import CoreMetrics
internal import Logging

/// What a store counts, times and tells while it works.
final class StoreObservation: Sendable {
    let evictedEntries: Tally
    let evictedBytes: Tally
    let damagedBodies: Tally
    let busyTransactions: Tally
    private let transactionTimer: CoreMetrics.Timer
    private let logger: Logger
    private let logsEviction: Bool

    init(_ configuration: ResponseStore.Configuration) {
        let factory = configuration.metrics ?? MetricsSystem.factory
        evictedEntries = Tally("cachestore.evicted.entries", from: factory)
        evictedBytes = Tally("cachestore.evicted.bytes", from: factory)
        damagedBodies = Tally("cachestore.damaged.bodies", from: factory)
        busyTransactions = Tally("cachestore.transactions.busy", from: factory)
        transactionTimer = CoreMetrics.Timer(label: "cachestore.transaction.duration", factory: factory)
        logger = configuration.logger
        logsEviction = configuration.logsEviction
    }

    /// A transaction is over, or did not come to be. Called without any lock: metrics and logs are the program's code.
    func transacted(in duration: Duration, evicted: EvictionReport, isBusy: Bool) {
        let (seconds, attoseconds) = duration.components
        transactionTimer.recordNanoseconds(seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
        if isBusy { busyTransactions.add() }
        guard evicted.entries > 0 else { return }
        evictedEntries.add(Int64(evicted.entries))
        evictedBytes.add(evicted.bytes)
        guard logsEviction else { return }
        logger.debug("evicted entries", metadata: ["entries": "\(evicted.entries)", "bytes": "\(evicted.bytes)"])
    }
}

/// What a store has counted since it was opened, of what this process did with it.
///
/// What outlives the process is in ``StoreStatistics``.
public struct StoreCounters: Hashable, Sendable {
    /// Entries removed to make room, or by an ``EvictionRule``.
    public let evictedEntries: Int64
    /// Bytes of the files that no entry needed any more after that.
    public let evictedBytes: Int64
    /// Bodies that were found missing or altered, and dropped.
    public let damagedBodies: Int64
    /// Transactions that did not come to be because another process kept the lock for longer than
    /// ``ResponseStore/Configuration/busyTimeout``.
    public let busyTransactions: Int64
}

extension ResponseStore {
    /// What the store has counted since it was opened. Costs no I/O. Each number is right, but they are read one after the
    /// other.
    public var counters: StoreCounters {
        StoreCounters(
            evictedEntries: observation.evictedEntries.value, evictedBytes: observation.evictedBytes.value,
            damagedBodies: observation.damagedBodies.value, busyTransactions: observation.busyTransactions.value)
    }
}
