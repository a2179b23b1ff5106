public import CacheStore
public import HTTPTypes

/// Why a load gave no answer.
@nonexhaustive
public enum LoadError: Error, Hashable, Sendable {
    /// The text is no URL that can be loaded; the reason says what is wrong with it. No request was sent.
    case invalidURL(String, reason: String)
    /// The name given in place of a URL cannot be a key; the reason says what is wrong with it. No request was sent.
    case invalidKey(String, reason: String)
    /// The origin could not be reached, or broke off.
    case transport(TransportError, url: String)
    /// The origin answered with a status that is no success. The error has the fields and the start of the body.
    case httpStatus(OriginError)
    /// The policy forbids the network, and nothing suitable is stored.
    case notCached(url: String)
    /// The file cannot be read; the reason is the system's.
    case unreadableFile(path: String, reason: String)
    /// The content is of a type that the configuration does not take; `nil` when the response does not say of which.
    case unacceptableContentType(String?, url: String)
    /// The body is not in the coding that its `Content-Encoding` names.
    case malformedContent(url: String, coding: String)
    /// The body is larger than the configuration allows, once its coding is taken off.
    case bodyTooLarge(url: String, limit: Int64)
    /// The body of the response is being read, or was read, by another reader. It came from the network and can be read
    /// once.
    case bodyAlreadyRead
    /// Redirects lead on and on, or in a circle.
    case tooManyRedirects(url: String, limit: Int)
    /// The fields given to a local insert forbid storing it.
    case notStorable(url: String)
    /// The body could not be made what the caller wants; the reason is the processor's.
    case processing(url: String, reason: String)
    /// The store could not do what only it could: insert or remove an entry, or go on with a body already begun. A store
    /// that cannot be read or written otherwise fails no load: the origin is asked, and its answer delivered.
    case store(StoreError)
    /// The calling task was cancelled.
    case cancelled
}

extension LoadError {
    /// The status of the origin's response; `nil` for an error other than ``httpStatus(_:)``.
    public var status: HTTPResponse.Status? {
        if case .httpStatus(let error) = self { error.status } else { nil }
    }
}

extension LoadError: CustomStringConvertible {
    /// What happened, and to which URL.
    public var description: String {
        switch self {
        case .invalidURL(let text, let reason): "\(text.prefix(200).debugDescription) cannot be loaded: \(reason)"
        case .invalidKey(let text, let reason): "\(text.prefix(200).debugDescription) cannot be a key: \(reason)"
        case .transport(let error, let url): "\(url): \(error)"
        case .httpStatus(let error): "\(error)"
        case .notCached(let url): "\(url): not cached, and the policy forbids the network"
        case .unreadableFile(let path, let reason): "\(path.prefix(200).debugDescription) cannot be read: \(reason)"
        case .unacceptableContentType(let type, let url):
            "\(url): \(type.map { "content of type \($0.prefix(100).debugDescription)" } ?? "content of no type") is not wanted"
        case .malformedContent(let url, let coding): "\(url): the body is not in the coding \(coding)"
        case .bodyTooLarge(let url, let limit): "\(url): the body is larger than \(limit) bytes"
        case .bodyAlreadyRead: "the body of a response can be read once, by one reader"
        case .tooManyRedirects(let url, let limit): "\(url): more than \(limit) redirects"
        case .notStorable(let url): "\(url): the fields forbid storing it"
        case .processing(let url, let reason): "\(url): \(reason)"
        case .store(let error): "\(error)"
        case .cancelled: "the load was cancelled"
        }
    }

    /// What the transport threw, a cancellation by its own name.
    init(_ error: TransportError, url: String) {
        self = error.code == .cancelled ? .cancelled : .transport(error, url: url)
    }
}
