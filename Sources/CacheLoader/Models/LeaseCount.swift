package import HTTPCaching

/// Who uses a load, and how it stands. Pure: each method says what its owner has to do.
package struct LeaseCount<Request: Equatable & Sendable, Value: Sendable>: Sendable {
    package typealias Resource = BoundResource<Request, Value>

    /// How many use it.
    package private(set) var count = 0
    /// How it stands.
    package private(set) var resource = Resource()

    private let request: Request

    package init(_ request: Request) {
        self.request = request
    }

    /// One more uses it: it is loaded, unless its value is there or on its way.
    package mutating func acquire(now: (Request) -> Value?) -> Resource.Action {
        count += 1
        return resource.bind(request, now: now)
    }

    /// One less uses it: the last ends a load that is under way, and leaves a value where it is.
    package mutating func release() throws(LeaseError) -> Resource.Action {
        guard count > 0 else { throw .notAcquired }
        count -= 1
        return count == 0 ? resource.cancel() : .none
    }

    /// A load has something to tell.
    package mutating func receive(_ event: Resource.Event, of number: Resource.Number) {
        resource.receive(event, of: number)
    }
}

/// What a user of a ``LeasedResource`` did wrong.
@nonexhaustive
public enum LeaseError: Error, Hashable, Sendable {
    /// It was released more often than it was acquired.
    case notAcquired
}

extension LeaseError: CustomStringConvertible {
    /// What happened.
    public var description: String {
        switch self {
        case .notAcquired: "the resource was released more often than it was acquired"
        }
    }
}
