import TestSupport

/// A reply that is useless to the caller.
enum LoaderFault: String, CaseIterable {
    /// The largest body that the loaders of these tests accept, in bytes.
    static let limit: Int64 = 100_000

    case resetBeforeHead, resetInBody, truncated, brokenChunks, garbage, empty
    case notFound, unavailable, unavailableForLong
    case notModified, endless, endlessWithoutLength, announcedTooLarge, bomb
    case redirectLoop, redirectChain, redirectToFile, redirectToNothing

    func reply(to request: OriginRequest) -> OriginReply {
        let body = [UInt8](repeating: 7, count: 1_000)
        let fresh = "max-age=3600"
        return switch self {
        case .resetBeforeHead: OriginReply().delivered(.resetBeforeHead)
        case .resetInBody: .ok(body, cacheControl: fresh).delivered(.resetting(afterBytes: 10))
        case .truncated: .ok(body, cacheControl: fresh).delivered(.declaring(length: 2_000))
        case .brokenChunks: .ok(body, cacheControl: fresh).delivered(.abortedChunked(afterBytes: 10))
        case .garbage: OriginReply().delivered(.garbage(Array("nonsense\r\n\r\n".utf8)))
        case .empty: OriginReply().delivered(.garbage([]))
        case .notFound: .status(.notFound, fields: [.cacheControl: fresh], body: body)
        case .unavailable: .status(.serviceUnavailable, fields: [.cacheControl: fresh], body: body)
        case .unavailableForLong: .status(.serviceUnavailable, fields: [.retryAfter: "86400"], body: body)
        case .notModified: .notModified(etag: "\"other\"", cacheControl: fresh)
        case .endless: .ok(Self.long, cacheControl: fresh).delivered(.chunked(bytes: 60_000))
        case .endlessWithoutLength: .ok(Self.long, cacheControl: fresh).delivered(.closeDelimited)
        case .announcedTooLarge: .ok(Self.long, cacheControl: fresh)
        case .bomb:
            .status(.ok, fields: [.cacheControl: fresh, .contentEncoding: "gzip"], body: Self.zeros)
        case .redirectLoop: .status(.found, fields: [.location: request.path])
        case .redirectChain: .status(.found, fields: [.location: request.path + "x"])
        case .redirectToFile: .status(.found, fields: [.location: "file:///etc/passwd"])
        case .redirectToNothing: .status(.found)
        }
    }

    /// 300,000 zeros as gzip.
    private static let zeros: [UInt8] =
        [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xed, 0xc1, 0x01, 0x0d, 0x00, 0x00, 0x00, 0xc2,
            0xa0, 0xf7, 0x4f, 0x6d, 0x0f, 0x07, 0x14,
        ] + Array(repeating: 0, count: 290) + [0xfc, 0x18, 0xfb, 0xe2, 0xb2, 0xf6, 0xe0, 0x93, 0x04, 0x00]

    /// Exceeds the buffers of the system.
    private static let long = [UInt8](repeating: 7, count: 24 << 20)

    func explains(_ error: LoadError, _ url: String) -> Bool {
        func isTransport(_ codes: TransportError.Code...) -> Bool {
            guard case .transport(let error, url) = error else { return false }
            return codes.isEmpty || codes.contains(error.code)
        }
        return switch self {
        case .resetBeforeHead: isTransport(.connectionLost)
        // The reset may overtake the head.
        case .resetInBody: isTransport()
        case .truncated, .brokenChunks: isTransport(.truncated)
        case .garbage, .empty: isTransport(.malformedResponse, .connectionLost)
        case .notFound: error.brief == .status(404, url: url)
        case .unavailable, .unavailableForLong: error.brief == .status(503, url: url)
        case .notModified: isTransport(.malformedResponse)
        case .endless, .endlessWithoutLength, .announcedTooLarge, .bomb:
            error == .bodyTooLarge(url: url, limit: Self.limit)
        case .redirectLoop, .redirectChain: error == .tooManyRedirects(url: url, limit: 20)
        case .redirectToFile:
            if case .invalidURL = error { true } else { false }
        // URLSession on Linux treats this reply as no response.
        case .redirectToNothing: error.brief == .status(302, url: url) || isTransport(.malformedResponse)
        }
    }

    /// The failures counted in the index.
    var failures: [Int] {
        switch self {
        case .notFound: [404]
        case .unavailable, .unavailableForLong: [503]
        default: []
        }
    }

    /// The number of requests of one load, or `nil` if a transport may add one.
    var requests: Int? {
        switch self {
        case .resetBeforeHead, .resetInBody, .garbage, .empty: nil
        // RFC 9111 §4.3.3: once more without a condition.
        case .notModified: 2
        case .redirectLoop, .redirectChain: 21
        default: 1
        }
    }

    /// Whether the reply replaces the stored response before its body turns out to be unreadable.
    var mayReplace: Bool { self == .bomb }

    /// Whether the default policy serves stale instead of the reply, or `nil` if that depends on the transport.
    ///
    /// It does for a failure before the head, for a 5xx, and for a body that breaks off. It does not for other
    /// statuses.
    var servesStale: Bool? {
        switch self {
        case .resetBeforeHead, .garbage, .empty, .unavailable, .unavailableForLong, .notModified, .truncated,
            .brokenChunks, .resetInBody:
            true
        // For URLSession on Linux, a 302 without Location is not a response.
        case .redirectToNothing: nil
        default: false
        }
    }
}
