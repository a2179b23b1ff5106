import CacheLoader

extension LoadError {
    /// The error for a person, without the code name that begins the description of a transport error.
    var words: String {
        guard case .transport(let error, let url) = self else { return "\(self)" }
        let words = error.code.words
        return error.message.isEmpty ? "\(url): \(words)" : "\(url): \(words): \(error.message)"
    }
}

extension TransportError.Code {
    fileprivate var words: String {
        switch self {
        case .cannotConnect, .cannotFindHost: "no connection"
        case .connectionLost: "the connection was lost"
        case .truncated: "the body is incomplete"
        case .timedOut: "no answer in time"
        case .insecure: "the connection is not secure"
        case .malformedResponse: "the answer is not valid HTTP"
        case .unsupportedRequest: "the request cannot be sent"
        case .cancelled: "the request was cancelled"
        default: "the request failed"
        }
    }
}
