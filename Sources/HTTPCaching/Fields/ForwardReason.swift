/// The reason for forwarding a request to the origin, in the terms of RFC 9211 §2.2.
@nonexhaustive
public enum ForwardReason: String, Hashable, Sendable {
    /// The policy bypasses the cache, or the cache does not handle such requests.
    case bypass
    /// The method requires forwarding.
    case method
    /// No response is stored for the URL.
    case uriMiss = "uri-miss"
    /// The responses stored for the URL belong to requests with other fields.
    case varyMiss = "vary-miss"
    /// The stored response has lost its body.
    case miss
    /// A fresh response is stored, but the request or its policy does not allow its use.
    case request
    /// The stored response is stale, or every use requires validation.
    case stale
    /// The stored part does not contain all bytes that the request asks for.
    case partial
}
