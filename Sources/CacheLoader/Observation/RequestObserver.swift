public import CacheFoundation

/// A step of a request on its way through a cache or a loader.
///
/// The exchange with the origin is not a step. To observe it, wrap the transport.
public struct RequestStep: Hashable, Sendable {
    /// The kind of a step, and its result.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// Looked the request up in the store, and decided by the rules of HTTP whether a stored response answers it.
        case lookup(isHit: Bool)
        /// Waited.
        case wait(WaitReason)
        /// Committed a response from the origin, or the fields of a validation, to the store. `isStored` is false if
        /// the store failed, or did not need the response.
        case commit(isStored: Bool)
        /// Asked a cache between the store and the origin, which has this name in `Cache-Status`. A transport reports
        /// this.
        case upstreamLookup(UpstreamResult, name: String)
    }

    /// The answer of a cache between the store and the origin.
    @nonexhaustive
    public enum UpstreamResult: String, Hashable, Sendable {
        /// The cache has a response that answers.
        case hit
        /// The cache has no such response.
        case miss
        /// The cache did not answer in time.
        case timeout
        /// The cache failed.
        case error
        /// The cache was not asked, because it had failed several times.
        case skipped
    }

    /// The reason for a wait.
    @nonexhaustive
    public enum WaitReason: String, Hashable, Sendable {
        /// An equal request is in flight, whose response may answer this one.
        case sharedRequest
        /// Another process requests the same URL.
        case otherProcess
        /// The lane of the load has no room.
        case lane
    }

    /// The kind of the step, and its result.
    public let kind: Kind
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The URL of the request, without user, password and fragment. Its query may be secret.
    public let url: String
    /// The time at which the step began, by the clock of the configuration.
    public let beganAt: Date
    /// The time at which the step ended, by the clock of the configuration.
    public let endedAt: Date

    package init(kind: Kind, method: HTTPRequest.Method, url: String, beganAt: Date, endedAt: Date) {
        self.kind = kind
        self.method = method
        self.url = url
        self.beganAt = beganAt
        self.endedAt = endedAt
    }
}

/// Runs the work of a load with the task-local values that the scope has kept.
public typealias RequestScope = @Sendable (_ work: @Sendable () async -> Void) async -> Void

/// Receives the steps of the requests of a cache or a loader, for example to trace them.
///
/// Set one as ``HTTPCache/Configuration/observer`` or ``ResourceLoader/Configuration/observer``. Without an observer,
/// the steps are not timed.
public protocol RequestObserver: AnyObject, Sendable {
    /// Receives a step that has ended.
    ///
    /// Called in the task of the step, without a lock. The task has the task-local values of the request, or of the
    /// first request that shares the exchange. The request waits for the call, so the call should be short.
    func observe(_ step: RequestStep)

    /// Returns the scope of a load that is about to begin, with the task-local values of the calling task.
    ///
    /// A loader may start the load later, in a task with other task-local values.
    func makeScope() -> RequestScope
}
