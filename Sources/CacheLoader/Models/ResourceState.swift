/// Where a resource that a program holds on to stands.
///
///              ┌───────────────────────────────────────┐
///              ▼                                       │
///     idle ─▶ loading(prior) ─▶ loaded ─▶ released ────┤
///                 │                                    │
///                 ├─▶ failed(error, prior) ────────────┤
///                 └─▶ cancelled(prior) ────────────────┘
///
/// A prior value is one that was there before: that of the load before, or a stored one that is not fresh any more. It
/// stays until another takes its place.
public enum ResourceState<Value: Sendable>: Sendable {
    /// Nothing was asked for.
    case idle
    /// A load is under way.
    case loading(prior: Value?)
    /// The value is there.
    case loaded(Value)
    /// The load has failed.
    case failed(LoadError, prior: Value?)
    /// The load was cancelled.
    case cancelled(prior: Value?)
    /// The value was let go of, to make room. What it is the value of is still known.
    case released

    /// The value, prior ones included.
    public var value: Value? {
        switch self {
        case .loaded(let value): value
        case .loading(let prior), .failed(_, let prior), .cancelled(let prior): prior
        case .idle, .released: nil
        }
    }

    /// Whether a load is under way.
    public var isLoading: Bool {
        if case .loading = self { true } else { false }
    }

    /// Why there is no newer value.
    public var error: LoadError? {
        if case .failed(let error, _) = self { error } else { nil }
    }
}

extension ResourceState: Equatable where Value: Equatable {}
