/// Compares the length of a body to the length that its head announced.
enum AnnouncedLength {
    /// Throws if the body is longer than `announced`, or ends before (RFC 9111 §3.3, RFC 9112 §8).
    ///
    /// A transport vouches for the length of its message, not for that of the range in the message. Some do not even
    /// vouch for the message.
    static func check(_ received: Int64, of announced: Int64?, isEnd: Bool, url: String) throws(LoadError) {
        guard let announced else { return }
        if received > announced {
            throw .transport(TransportError(.malformedResponse, message: "the body is longer than announced"), url: url)
        }
        if isEnd, received < announced { throw .transport(TransportError(.truncated), url: url) }
    }
}
