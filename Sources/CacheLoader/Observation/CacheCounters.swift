internal import CacheStore

/// What an ``HTTPCache`` or a ``ResourceLoader`` has counted since it was made.
///
/// A request is counted as what answered it: a hit, in memory or not, a stale answer, a revalidation, a miss, or an error. Of
/// a load each redirect counts by itself. A stored response that stands in for an error counts as both. What a store answers
/// for all processes and for good is in its statistics and in the view `cache_requests`.
public struct CacheCounters: Hashable, Sendable {
    /// Answers from the store that were fresh.
    public let hits: Int64
    /// Answers from memory; none in an ``HTTPCache``.
    public let memoryHits: Int64
    /// Answers from the store that were not fresh, those included that stand in for an origin that has failed, or that
    /// ``LoadEvent/cached(_:)`` delivers.
    public let staleAnswers: Int64
    /// Answers from the store that the origin has confirmed.
    public let revalidations: Int64
    /// Answers that are the origin's, those included that several requests share.
    public let misses: Int64
    /// Requests that the origin has not answered, or with an error.
    public let errors: Int64
    /// Requests that were sent to origins.
    public let requests: Int64
    /// Bytes of stored bodies that were handed out.
    public let diskBytes: Int64
    /// Bytes of bodies that came from transports.
    public let networkBytes: Int64
    /// Values that had to go from memory to make room, or under pressure; none in an ``HTTPCache``.
    public let evictedValues: Int64

    init(_ meters: CacheMeters, _ loader: LoaderMeters? = nil) {
        hits = meters.hits.value
        memoryHits = loader?.memoryHits.value ?? 0
        staleAnswers = meters.stale.value
        revalidations = meters.revalidations.value
        misses = meters.misses.value
        errors = meters.errors.value
        requests = meters.requests.value
        diskBytes = meters.diskBytes.value
        networkBytes = meters.networkBytes.value
        evictedValues = loader?.evictedValues.value ?? 0
    }
}

extension HTTPCache {
    /// What the cache has counted since it was made. Each number is right, but they are read one after the other.
    public var counters: CacheCounters { CacheCounters(meters) }
}

extension ResourceLoader {
    /// What the loader has counted since it was made. Each number is right, but they are read one after the other.
    public var counters: CacheCounters { CacheCounters(context.meters, meters) }
}
