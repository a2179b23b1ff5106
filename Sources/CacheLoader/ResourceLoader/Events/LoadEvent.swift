// The folder `ResourceLoader/Events/` has the events and the results of loads, their order, and their delivery to
// streams and observers. Other folders use the delivery, too. The folder may use the errors of loads and of the store.
// The folder begins and cancels no load.

public import CacheStore

/// An event of a load. Events occur in this order (`?` at most once, `*` any number of times):
///
///     cached? (requesting (progress | retrying | storeFailed)*)? (completed | failed | cancelled)
///
/// The last event is one of three, and occurs exactly once.
public enum LoadEvent<Output: Sendable>: Sendable {
    /// A stored value that is no longer fresh. The loader asks the origin for a newer one.
    case cached(Loaded<Output>)
    /// The load needs the network, and its turn has come.
    case requesting(hadCached: Bool)
    /// Bytes of the body have arrived: `received` so far, including those of a stored part. Never decreases. `total` is
    /// the length of the whole body, if the origin states it.
    case progress(received: Int64, total: Int64?)
    /// An attempt failed; another follows after `delay`. `delay` is `nil` while the load waits for its host to become
    /// reachable. `failedAttempts` counts the attempts so far.
    case retrying(LoadError, failedAttempts: Int, delay: Duration?)
    /// The store could not be read or written. The load continues without it, and may not store its value. Occurs at
    /// most once. A body that exceeds a limit of the store is not a failure.
    case storeFailed(StoreError)
    /// The value, from the store if it is fresh there.
    case completed(Loaded<Output>)
    /// The load failed. It has no value, or only the value of ``cached(_:)``.
    case failed(LoadError)
    /// The load was cancelled.
    case cancelled
}

extension LoadEvent {
    /// Whether no event follows.
    public var isLast: Bool {
        switch self {
        case .completed, .failed, .cancelled: true
        case .cached, .requesting, .progress, .retrying, .storeFailed: false
        }
    }

    /// Creates the last event of a load.
    init(_ result: Result<Loaded<Output>, LoadError>) {
        switch result {
        case .success(let loaded): self = .completed(loaded)
        case .failure(.cancelled): self = .cancelled
        case .failure(let error): self = .failed(error)
        }
    }

    /// Returns the same event with the value that `transform` makes.
    func map<Other>(_ transform: (Loaded<Output>) -> Loaded<Other>) -> LoadEvent<Other> {
        switch self {
        case .cached(let loaded): .cached(transform(loaded))
        case .requesting(let hadCached): .requesting(hadCached: hadCached)
        case .progress(let received, let total): .progress(received: received, total: total)
        case .retrying(let error, let failedAttempts, let delay):
            .retrying(error, failedAttempts: failedAttempts, delay: delay)
        case .storeFailed(let error): .storeFailed(error)
        case .completed(let loaded): .completed(transform(loaded))
        case .failed(let error): .failed(error)
        case .cancelled: .cancelled
        }
    }
}
