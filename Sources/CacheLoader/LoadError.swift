package import CacheCodings
public import CacheStore

/// The error of a failed load.
@nonexhaustive
public enum LoadError: Error, Hashable, Sendable {
    /// The text is not a URL that can be loaded, for the given reason. No request was sent.
    case invalidURL(String, reason: String)
    /// The name in place of the URL cannot be a key, for the given reason. No request was sent.
    case invalidKey(String, reason: String)
    /// The text is not a valid pattern for URLs, for the given reason: see ``URLPolicy``.
    case invalidPattern(String, reason: String)
    /// The transport failed: the origin could not be reached, or sent no complete and valid response.
    case transport(TransportError, url: String)
    /// The origin answered with an unsuccessful status. The error contains the fields and the start of the body.
    case httpStatus(OriginError)
    /// The policy forbids the network, and no suitable response is stored.
    case notCached(url: String)
    /// The file cannot be read, for the given reason.
    case unreadableFile(path: String, reason: String)
    /// The file cannot be written, for the given reason. The response may be stored nevertheless.
    case unwritableFile(path: String, reason: String)
    /// The configuration does not accept content of this type. The type is `nil` for a response without one.
    case unacceptableContentType(String?, url: String)
    /// The body does not have the coding that its `Content-Encoding` names.
    case malformedContent(url: String, coding: String)
    /// The content differs from a digest in this field of its response: `content-digest`, `repr-digest` (RFC 9530) or
    /// `unencoded-digest`. The policy asked for the comparison: `CachePolicy.verifiesDigests`.
    case digestMismatch(url: String, field: String)
    /// The body exceeds the configured limit, before or after decoding.
    case bodyTooLarge(url: String, limit: Int64)
    /// Another reader has read the body, or is reading it. A body from the network can be read once.
    case bodyAlreadyRead
    /// The load exceeded the limit of redirects, for example in a circle.
    case tooManyRedirects(url: String, limit: Int)
    /// The fields of a local insert forbid storing it.
    case notStorable(url: String)
    /// A processor could not make a value from the body, for the given reason.
    case processing(url: String, reason: String)
    /// The store failed in an operation that needs it: inserting, removing or peeking at entries, or continuing a body.
    /// Other failures of the store do not fail a load: the loader asks the origin, and delivers the response.
    case store(StoreError)
    /// The load or the calling task was cancelled.
    case cancelled
}

extension LoadError {
    /// Creates the error of a load whose body cannot be decoded.
    package init(_ error: ContentDecodingError, url: String) {
        self =
            switch error {
            case .malformed(let coding): .malformedContent(url: url, coding: coding)
            case .tooLarge(let limit): .bodyTooLarge(url: url, limit: limit)
            case .cancelled: .cancelled
            }
    }

    /// Runs an action on the store, and wraps its error.
    static func wrapping<Value>(_ body: () throws(StoreError) -> Value) throws(LoadError) -> Value {
        do throws(StoreError) {
            return try body()
        } catch {
            throw .store(error)
        }
    }

    /// Runs an action on the store, and wraps its error.
    static func wrapping<Value>(_ body: () async throws(StoreError) -> Value) async throws(LoadError) -> Value {
        do throws(StoreError) {
            return try await body()
        } catch {
            throw .store(error)
        }
    }

    /// The status of the origin's response, or `nil` for an error other than ``httpStatus(_:)``.
    public var status: HTTPResponse.Status? {
        if case .httpStatus(let error) = self { error.status } else { nil }
    }
}

extension LoadError: CustomStringConvertible {
    /// The error and its URL.
    public var description: String {
        switch self {
        case .invalidURL(let text, let reason): "\(text.prefix(200).debugDescription) cannot be loaded: \(reason)"
        case .invalidKey(let text, let reason): "\(text.prefix(200).debugDescription) cannot be a key: \(reason)"
        case .invalidPattern(let text, let reason):
            "\(text.prefix(200).debugDescription) is no pattern for URLs: \(reason)"
        case .transport(let error, let url): "\(url): \(error)"
        case .httpStatus(let error): "\(error)"
        case .notCached(let url): "\(url): not cached, and the policy forbids the network"
        case .unreadableFile(let path, let reason): "\(path.prefix(200).debugDescription) cannot be read: \(reason)"
        case .unwritableFile(let path, let reason): "\(path.prefix(200).debugDescription) cannot be written: \(reason)"
        case .unacceptableContentType(let type, let url):
            "\(url): \(type.map { "content of type \($0.prefix(100).debugDescription)" } ?? "content of no type") is not wanted"
        case .malformedContent(let url, let coding): "\(url): the body is not in the coding \(coding)"
        case .digestMismatch(let url, let field): "\(url): the content differs from its \(field)"
        case .bodyTooLarge(let url, let limit): "\(url): the body is larger than \(limit) bytes"
        case .bodyAlreadyRead: "the body of a response can be read once, by one reader"
        case .tooManyRedirects(let url, let limit): "\(url): more than \(limit) redirects"
        case .notStorable(let url): "\(url): the fields forbid storing it"
        case .processing(let url, let reason): "\(url): \(reason)"
        case .store(let error): "\(error)"
        case .cancelled: "the load was cancelled"
        }
    }

    /// Wraps an error of the transport. A cancellation becomes ``cancelled``.
    init(_ error: TransportError, url: String) {
        self = error.code == .cancelled ? .cancelled : .transport(error, url: url)
    }
}
