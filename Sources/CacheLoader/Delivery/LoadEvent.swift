public import CacheStore

/// What happens to a load, in this order (`?` at most once, `*` any number of times):
///
///     cached? (requesting (progress | retrying | storeFailed)*)? (completed | failed | cancelled)
///
/// The last is one of three, and comes exactly once.
public enum LoadEvent<Output: Sendable>: Sendable {
    /// A stored value, which is not fresh any more; the origin is asked for what may take its place.
    case cached(Loaded<Output>)
    /// The network is needed, and the load has its turn.
    case requesting(hadCached: Bool)
    /// Bytes of the body have arrived.
    case progress(LoadProgress)
    /// An attempt has failed; there is going to be another.
    case retrying(LoadRetry)
    /// The store could not be read or written. The load goes on without it, and its value may not be stored. Told at most
    /// once; that a limit of the store leaves no room for a body is no failure.
    case storeFailed(StoreError)
    /// The value. From the store, if that is fresh.
    case completed(Loaded<Output>)
    /// There is no value, or none but the ``cached(_:)`` one.
    case failed(LoadError)
    /// The load was cancelled.
    case cancelled
}

/// How much of a body has arrived.
public struct LoadProgress: Hashable, Sendable {
    /// Bytes that are there, those of a stored part included. Never less than told before in the same attempt.
    public let received: Int64
    /// Bytes of the whole body; `nil` when the origin does not say.
    public let total: Int64?

    package init(received: Int64, total: Int64?) {
        self.received = received
        self.total = total
    }
}

/// Why and when a load is tried again.
public struct LoadRetry: Hashable, Sendable {
    /// How many attempts have failed.
    public let failedAttempts: Int
    /// The pause until the next; `nil` when the load waits for its host to be reachable.
    public let delay: Duration?
    /// Why the last failed.
    public let error: LoadError

    package init(failedAttempts: Int, delay: Duration?, error: LoadError) {
        self.failedAttempts = failedAttempts
        self.delay = delay
        self.error = error
    }
}

extension LoadEvent {
    /// Whether nothing comes after it.
    public var isLast: Bool {
        switch self {
        case .completed, .failed, .cancelled: true
        case .cached, .requesting, .progress, .retrying, .storeFailed: false
        }
    }
}
