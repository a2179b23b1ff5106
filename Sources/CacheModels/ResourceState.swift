public import CacheLoader

/// The state of a resource that a program holds.
///
///              ┌───────────────────────────────────────┐
///              ▼                                       │
///     idle ─▶ loading(prior) ─▶ loaded ─▶ released ────┤
///                 │                                    │
///                 ├─▶ failed(error, prior) ────────────┤
///                 └─▶ cancelled(prior) ────────────────┘
///
/// A prior value is the value of the previous load, or a stored value that is no longer fresh. It stays until another
/// value replaces it.
public enum ResourceState<Value: Sendable>: Sendable {
    /// No load has been requested.
    case idle
    /// A load is in progress.
    case loading(prior: Value?)
    /// The value has been loaded.
    case loaded(Value)
    /// The load has failed.
    case failed(LoadError, prior: Value?)
    /// The load was cancelled.
    case cancelled(prior: Value?)
    /// The value was dropped to free memory. The next observer or lease loads it again.
    case released

    /// The value, even a prior one.
    public var value: Value? {
        switch self {
        case .loaded(let value): value
        case .loading(let prior), .failed(_, let prior), .cancelled(let prior): prior
        case .idle, .released: nil
        }
    }

    /// Whether a load is in progress.
    public var isLoading: Bool {
        if case .loading = self { true } else { false }
    }

    /// The reason why there is no newer value.
    public var error: LoadError? {
        if case .failed(let error, _) = self { error } else { nil }
    }
}

extension ResourceState: Equatable where Value: Equatable {}
