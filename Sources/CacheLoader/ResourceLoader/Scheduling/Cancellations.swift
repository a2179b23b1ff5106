internal import CacheStore

/// The loads of a resource that one cancellation ends: those with safe methods, or those with one unsafe method.
struct CancelledLoads: Hashable, Sendable {
    private let key: CacheKey
    /// `nil` for all safe methods.
    private let unsafeMethod: HTTPRequest.Method?

    init(of key: CacheKey, like method: HTTPRequest.Method) {
        self.key = key
        unsafeMethod = method.isSafe ? nil : method
    }

    /// The cancellations that end a load. A QUERY has its own key; a cancellation of its URL ends it, too.
    static func thatInclude(_ load: Load) -> [CancelledLoads] {
        [load.target.key, load.target.key.withoutFragment].compactMap(\.self)
            .map { CancelledLoads(of: $0, like: load.method) }
    }
}

/// The cancellations of all loads or of some, for loads that have no waiter yet. Each load remembers ``count`` at its
/// creation. It is cancelled if a cancellation that includes it came later.
struct Cancellations: Sendable {
    private(set) var count: UInt64 = 0
    private var latestOfAll: UInt64 = 0
    /// The latest cancellation of some loads. If one is dropped, a load may begin although it was cancelled while it
    /// searched the store.
    private var latest = BoundedDictionary<CancelledLoads, UInt64>()

    /// Records a cancellation of these loads, or of all loads for `nil`.
    mutating func note(_ loads: CancelledLoads?) {
        count += 1
        guard let loads else {
            latestOfAll = count
            // The cancellation of all loads includes the earlier ones of some.
            latest.removeAll()
            return
        }
        latest[loads] = count
    }

    /// Returns whether a load was cancelled after its creation.
    mutating func include(_ load: Load) -> Bool {
        guard load.cancellations < count else { return false }
        let numbers = CancelledLoads.thatInclude(load).compactMap { latest[$0] }
        return load.cancellations < max(latestOfAll, numbers.max() ?? 0)
    }
}
