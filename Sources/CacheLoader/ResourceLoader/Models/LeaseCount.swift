/// The number of leases of a load, and the state of the load.
///
/// A state machine: each method returns the action that its owner has to take.
package struct LeaseCount<Request: Equatable & Sendable, Value: Sendable>: Sendable {
    package typealias Resource = BoundResource<Request, Value>

    /// The number of leases.
    package private(set) var count = 0
    /// The load and its state.
    package private(set) var resource = Resource()

    private let request: Request

    package init(_ request: Request) {
        self.request = request
    }

    /// Adds a lease. Loads the request unless its value is loaded or loading.
    package mutating func acquire(now: (Request) -> Value?) -> Resource.Action {
        count += 1
        return resource.bind(request, now: now)
    }

    /// Removes a lease. Removing the last one cancels a load under way, but keeps a loaded value.
    package mutating func release() throws(LeaseError) -> Resource.Action {
        guard count > 0 else { throw .notAcquired }
        count -= 1
        return count == 0 ? resource.cancel() : .none
    }

    /// Drops the value if there are no leases. The next lease loads it again.
    package mutating func releaseIfUnused() -> Resource.Action {
        count == 0 ? resource.releaseIfUnobserved() : .none
    }

    /// Handles an event of the load.
    package mutating func receive(_ event: Resource.Event, of number: Resource.Number) {
        resource.receive(event, of: number)
    }
}

/// An incorrect use of a ``LeasedResource``.
@nonexhaustive
public enum LeaseError: Error, Hashable, Sendable {
    /// The resource was released more often than it was acquired.
    case notAcquired
}

extension LeaseError: CustomStringConvertible {
    /// A description of the error.
    public var description: String {
        switch self {
        case .notAcquired: "the resource was released more often than it was acquired"
        }
    }
}
