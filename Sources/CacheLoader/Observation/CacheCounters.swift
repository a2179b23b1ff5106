internal import CacheStore

/// Counts of an ``HTTPCache`` or a ``ResourceLoader`` since its creation.
///
/// ``requests`` counts the requests of the program. The answers count, too: as a hit, memory hit, stale answer, answer
/// of a tier, revalidation, miss or error. So do each redirect of a load and each further attempt, but not a
/// revalidation in the background. A stored response that is served in place of an error counts as a stale answer and
/// as an error. The statistics of the store and its view `cache_requests` hold the permanent counts of all processes.
public struct CacheCounters: Hashable, Sendable {
    /// Requests to the cache or the loader, with any result: each response, load and prefetched request. Lookups in the
    /// store alone count if they find an answer.
    public let requests: Int64
    /// Fresh answers from the store.
    public let hits: Int64
    /// Answers of a shared tier in place of the origin.
    public let tierHits: Int64
    /// Answers from memory; 0 in an ``HTTPCache``.
    public let memoryHits: Int64
    /// Answers from the store that were not fresh. Includes responses served in place of a failed origin, and values
    /// that ``LoadEvent/cached(_:)`` delivers.
    public let staleAnswers: Int64
    /// Answers from the store that the origin validated.
    public let revalidations: Int64
    /// Answers from the origin, including those that several requests share.
    public let misses: Int64
    /// Requests that the origin did not answer, or answered with a 5xx status. A 4xx status is an answer.
    public let errors: Int64
    /// Requests handed to the transport: for origins, and for a shared tier before them.
    public let originRequests: Int64
    /// Bytes of stored bodies that were delivered.
    public let diskBytes: Int64
    /// Bytes of bodies received from transports.
    public let networkBytes: Int64
    /// Values evicted from memory, to make room or under pressure; 0 in an ``HTTPCache``.
    public let evictedValues: Int64

    init(_ meters: CacheMeters, _ loader: LoaderMeters? = nil) {
        requests = meters.requests.value
        hits = meters.hits.value
        tierHits = meters.tierHits.value
        memoryHits = loader?.memoryHits.value ?? 0
        staleAnswers = meters.stale.value
        revalidations = meters.revalidations.value
        misses = meters.misses.value
        errors = meters.errors.value
        originRequests = meters.originRequests.value
        diskBytes = meters.diskBytes.value
        networkBytes = meters.networkBytes.value
        evictedValues = loader?.evictedValues.value ?? 0
    }
}
