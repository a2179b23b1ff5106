internal import CacheFoundation
internal import CacheStore
internal import CoreMetrics
internal import Logging
internal import Synchronization

/// The counters and timers of a loader, in addition to those of its cache. Created once, like ``CacheMeters``.
final class LoaderMeters: Sendable {
    let memoryHits: Tally
    let evictedValues: Tally
    private let evictedCost: Tally
    private let warnings: Tally
    private let criticalSignals: Tally
    private let loads: Meter
    private let urgentQueue: Meter
    private let backgroundQueue: Meter
    let transferTimer: CoreMetrics.Timer

    /// Guards the logger and options for memory events, as last configured.
    private let log: Mutex<CacheLog>

    init(_ factory: any MetricsFactory, _ log: CacheLog) {
        memoryHits = Tally("cacheloader.hits", [("source", "memory")], from: factory)
        evictedValues = Tally("cacheloader.memory.evicted.values", from: factory)
        evictedCost = Tally("cacheloader.memory.evicted.cost", from: factory)
        warnings = Tally("cacheloader.memory.pressure", [("level", "warning")], from: factory)
        criticalSignals = Tally("cacheloader.memory.pressure", [("level", "critical")], from: factory)
        loads = Meter(label: "cacheloader.loads", factory: factory)
        urgentQueue = Meter(label: "cacheloader.queue.length", dimensions: [("lane", "urgent")], factory: factory)
        backgroundQueue = Meter(
            label: "cacheloader.queue.length", dimensions: [("lane", "background")], factory: factory)
        transferTimer = CoreMetrics.Timer(label: "cacheloader.transfer.duration", factory: factory)
        self.log = Mutex(log)
    }

    func setLog(_ log: CacheLog) {
        self.log.withLock { $0 = log }
    }

    // MARK: Loads

    /// Records a change of the number of loads in progress. Only the sum counts, so changes may come in any order.
    func note(_ change: LoadOccupancy) {
        guard change != LoadOccupancy() else { return }
        loads.change(by: change.loads)
        urgentQueue.change(by: change.urgentQueue)
        backgroundQueue.change(by: change.backgroundQueue)
    }

    // MARK: Memory

    /// Records an event of the values in memory. Must be called without a lock.
    func note(_ event: MemoryEvent) {
        let log = log.withLock { $0 }
        switch event {
        case .evicted(let freed):
            evictedValues.add(Int64(freed.count))
            evictedCost.add(Int64(freed.cost))
            log(
                .eviction, .debug, "evicted values from memory",
                ["values": "\(freed.count)", "cost": "\(freed.cost)"])
        case .pressure(let pressure, let freed):
            if pressure == .critical { criticalSignals.add() } else { warnings.add() }
            log(
                .pressure, .info, "memory is short",
                ["pressure": "\(pressure)", "values": "\(freed.count)", "cost": "\(freed.cost)"])
        }
    }
}

extension Meter {
    fileprivate func change(by count: Int) {
        if count > 0 { increment(by: Double(count)) }
        if count < 0 { decrement(by: Double(-count)) }
    }
}

/// The number of loads of a loader and the lengths of its queues, or the changes of these numbers.
package struct LoadOccupancy: Hashable, Sendable {
    /// Loads that have not ended: queued, running, processing, or waiting for another attempt. A load counts once,
    /// regardless of the number of its waiters.
    package var loads = 0
    /// The loads among them that wait for their turn in the urgent lane.
    package var urgentQueue = 0
    /// The loads among them that wait for their turn in the background lane.
    package var backgroundQueue = 0

    static func - (after: LoadOccupancy, before: LoadOccupancy) -> LoadOccupancy {
        LoadOccupancy(
            loads: after.loads - before.loads, urgentQueue: after.urgentQueue - before.urgentQueue,
            backgroundQueue: after.backgroundQueue - before.backgroundQueue)
    }
}
