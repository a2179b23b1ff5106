/// Compares the length of a body with the length that its head announced.
enum AnnouncedLength {
    /// Throws if the body is longer than `announced` or ends early (RFC 9111 §3.3, RFC 9112 §8). A transport checks the
    /// length of its message, but not of the range in the message. Some transports do not check the message either.
    static func check(_ received: Int64, of announced: Int64?, isEnd: Bool, url: String) throws(LoadError) {
        guard let announced else { return }
        if received > announced {
            throw .transport(TransportError(.malformedResponse, message: "the body is longer than announced"), url: url)
        }
        if isEnd, received < announced { throw .transport(TransportError(.truncated), url: url) }
    }
}
