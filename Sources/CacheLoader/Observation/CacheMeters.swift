internal import CacheFoundation
internal import CacheStore
internal import CoreMetrics

/// The counters and timers of a cache. Created once: looking up a counter takes longer than a hit. Answers are counted
/// where the store counts them by host, so that both counts agree.
///
/// The folder `Observation/` has the log, the metrics, the counters and the activity of caches and loaders, and the
/// steps and records of requests. The folder may use the factory of metrics, the logger, the observer and the store's
/// recorder. The folder decides nothing about a request, and reads no entry.
final class CacheMeters: Sendable {
    /// Requests to the cache, counted where they begin.
    let requests: Tally
    let hits: Tally
    let tierHits: Tally
    let stale: Tally
    let revalidations: Tally
    let misses: Tally
    let errors: Tally
    let diskBytes: Tally
    let networkBytes: Tally
    let originRequests: Tally
    let requestsUnderWay: Meter
    let headTimer: CoreMetrics.Timer
    let requestTimer: CoreMetrics.Timer

    /// Reports whether requests are in progress.
    let activity = ActivityMonitor()

    init(_ factory: any MetricsFactory) {
        requests = Tally("cacheloader.requests", from: factory)
        hits = Tally("cacheloader.hits", [("source", "disk")], from: factory)
        tierHits = Tally("cacheloader.hits", [("source", "tier")], from: factory)
        stale = Tally("cacheloader.stale", from: factory)
        revalidations = Tally("cacheloader.revalidations", from: factory)
        misses = Tally("cacheloader.misses", from: factory)
        errors = Tally("cacheloader.errors", from: factory)
        diskBytes = Tally("cacheloader.bytes", [("source", "disk")], from: factory)
        networkBytes = Tally("cacheloader.bytes", [("source", "network")], from: factory)
        originRequests = Tally("cacheloader.origin.requests", from: factory)
        requestsUnderWay = Meter(label: "cacheloader.origin.requests.active", factory: factory)
        headTimer = CoreMetrics.Timer(label: "cacheloader.origin.request.head.duration", factory: factory)
        requestTimer = CoreMetrics.Timer(label: "cacheloader.origin.request.duration", factory: factory)
    }
}

extension CoreMetrics.Timer {
    /// Records a duration, clamped because the clock may have been set back or far ahead.
    func record(seconds: TimeInterval) {
        recordNanoseconds(Int64(min(max(0, seconds), 9e9) * 1e9))
    }
}
