/// Why a request goes to the origin, in the words of RFC 9211 §2.2.
package enum ForwardReason: String, Hashable, Sendable {
    /// The cache was told not to handle the request, or does not handle requests like it.
    case bypass
    /// The method has to go to the origin.
    case method
    /// Nothing is stored for the URL.
    case uriMiss = "uri-miss"
    /// Something is stored for the URL, but for requests with other fields.
    case varyMiss = "vary-miss"
    /// What is stored has lost its body.
    case miss
    /// A fresh response is stored, but the request, or the policy it is made under, does not allow its use.
    case request
    /// A response is stored, but it is stale, or must always be validated.
    case stale
    /// A part of the response is stored, but not all that the request asks for.
    case partial
}
