/// The reason why a body cannot be decoded.
package enum ContentDecodingError: Error, Equatable {
    /// The body does not have this coding, or is incomplete.
    case malformed(coding: String)
    /// The decoded body has more bytes than the limit.
    case tooLarge(limit: Int64)
    case cancelled
}
