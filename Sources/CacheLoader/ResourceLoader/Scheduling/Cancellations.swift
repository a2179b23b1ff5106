internal import CacheStore

/// The cancellations of all loads or of one key, for loads that have no waiter yet.
///
/// Each load remembers ``count`` at its creation. It is cancelled if a cancellation that includes it came later.
struct Cancellations: Sendable {
    /// The number of cancellations.
    private(set) var count: UInt64 = 0
    private var latestOfAll: UInt64 = 0
    /// The latest cancellation of each key. If a key is dropped, a load may begin although it was cancelled while it
    /// searched the store.
    private var latestByKey = BoundedDictionary<CacheKey, UInt64>()

    /// Records a cancellation.
    ///
    /// - Parameter key: The key of the cancelled loads; `nil` for all loads.
    mutating func note(_ key: CacheKey?) {
        count += 1
        guard let key else {
            latestOfAll = count
            latestByKey.removeAll()
            return
        }
        latestByKey[key] = count
    }

    /// Returns whether a load was cancelled after its creation.
    mutating func include(_ load: Load) -> Bool {
        guard load.cancellations < count else { return false }
        // A QUERY has its own key. A cancellation of its URL includes it.
        var latest = max(latestOfAll, latestByKey[load.target.key] ?? 0)
        if let url = load.target.key.withoutFragment { latest = max(latest, latestByKey[url] ?? 0) }
        return load.cancellations < latest
    }
}
