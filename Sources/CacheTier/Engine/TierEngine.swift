public import CacheFoundation
public import CacheLoader

/// A server that keeps the objects of a tier.
///
/// Any server that stores bytes by name is an engine: ``PlainEngine`` and ``S3Engine`` speak HTTP. The retention,
/// replication and quotas of the server apply to the objects, which may disappear at any time.
///
/// The tier calls the functions from any task, several at a time, and bounds their time itself. It ignores an answer
/// after its deadline, so a function need not stop when its task is cancelled.
public protocol TierEngine: Sendable {
    /// The longest wait for the head of a response, unless ``SharedTier/Configuration/deadline`` states another one.
    var deadline: Duration { get }

    /// Whether ``put(_:as:onlyIfAbsent:)`` honours its condition.
    var hasConditionalWrites: Bool { get }

    /// Requests an object. Returns before the bytes of the object have arrived.
    ///
    /// - Parameter name: Letters, digits, slashes and hyphens; at most 160 bytes.
    func object(named name: String) async throws(TierEngineError) -> TierObject

    /// Writes an object.
    ///
    /// - Parameters:
    ///   - bytes: The content of the object.
    ///   - name: The name, as in ``object(named:)``.
    ///   - onlyIfAbsent: Whether to leave an existing object as it is. An engine without conditional writes replaces
    ///     it.
    /// - Returns: Whether the object was written.
    func put(_ bytes: Data, as name: String, onlyIfAbsent: Bool) async throws(TierEngineError) -> Bool

    /// Deletes an object. Succeeds if there is none.
    func delete(_ name: String) async throws(TierEngineError)
}

extension TierEngine {
    /// 100 milliseconds.
    public var deadline: Duration { .milliseconds(100) }
    /// No conditional writes.
    public var hasConditionalWrites: Bool { false }
}

/// The answer of an engine to the request for an object. Its times are the clock of the tier.
public struct TierObject: Sendable {
    /// The bytes of the object, and the time of its last write by the clock of the engine.
    public struct Content: Sendable {
        /// The bytes, which may arrive in several chunks.
        public var body: TransportBody
        /// The time of the last write.
        public var lastModified: Date

        /// Creates a content.
        public init(body: TransportBody, lastModified: Date) {
            self.body = body
            self.lastModified = lastModified
        }
    }

    /// The object, or `nil` if the engine has none of that name.
    public var content: Content?
    /// The present time by the clock of the engine.
    public var now: Date

    /// Creates an answer.
    public init(_ content: Content?, now: Date) {
        self.content = content
        self.now = now
    }
}

/// The failure of a request to an engine.
public enum TierEngineError: Error, Hashable, Sendable {
    /// The engine gave no answer, or one that is not its own. The text has details.
    case unavailable(String)
    /// The engine answered that it does not. The text is its answer.
    case refused(String)
    /// The engine has too many requests, and wants none for this time. The text is its answer.
    case busy(String, retryAfter: Duration)
}

extension TierEngineError: CustomStringConvertible {
    /// The text of the error.
    public var description: String {
        switch self {
        case .unavailable(let text), .refused(let text), .busy(let text, _): text
        }
    }
}
