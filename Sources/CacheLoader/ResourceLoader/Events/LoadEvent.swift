public import CacheStore

/// An event of a load. Events occur in this order (`?` at most once, `*` any number of times):
///
///     cached? (requesting (progress | retrying | storeFailed)*)? (completed | failed | cancelled)
///
/// The last event is one of three, and occurs exactly once.
public enum LoadEvent<Output: Sendable>: Sendable {
    /// A stored value that is no longer fresh. The loader asks the origin for a newer one.
    case cached(Loaded<Output>)
    /// The load needs the network, and has its turn.
    case requesting(hadCached: Bool)
    /// Bytes of the body have arrived.
    case progress(LoadProgress)
    /// An attempt failed; another follows.
    case retrying(LoadRetry)
    /// The store could not be read or written. The load goes on without it, and may not store its value. Occurs at most
    /// once. A body for which a limit of the store leaves no room is no failure.
    case storeFailed(StoreError)
    /// The value, from the store if it is fresh there.
    case completed(Loaded<Output>)
    /// The load failed without a value, or with none but that of ``cached(_:)``.
    case failed(LoadError)
    /// The load was cancelled.
    case cancelled
}

/// The progress of the transfer of a body.
public struct LoadProgress: Hashable, Sendable {
    /// The number of bytes received, including those of a stored part. Never decreases within an attempt.
    public let received: Int64
    /// The length of the whole body in bytes; `nil` if the origin does not state it.
    public let total: Int64?

    package init(received: Int64, total: Int64?) {
        self.received = received
        self.total = total
    }
}

/// The reason and the time of another attempt.
public struct LoadRetry: Hashable, Sendable {
    /// The number of failed attempts.
    public let failedAttempts: Int
    /// The pause before the next attempt; `nil` while the load waits for its host to become reachable.
    public let delay: Duration?
    /// The error of the last attempt.
    public let error: LoadError

    package init(failedAttempts: Int, delay: Duration?, error: LoadError) {
        self.failedAttempts = failedAttempts
        self.delay = delay
        self.error = error
    }
}

extension LoadEvent {
    /// Whether no event follows.
    public var isLast: Bool {
        switch self {
        case .completed, .failed, .cancelled: true
        case .cached, .requesting, .progress, .retrying, .storeFailed: false
        }
    }
}
