internal import AsyncHTTPClient
internal import CacheLoader
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension HTTPClientRequest {
    /// Returns the request for AsyncHTTPClient, which sets `Host`, `Content-Length` and `Transfer-Encoding`.
    static func make(
        _ request: HTTPRequest, _ content: RequestContent?, _ watch: IdleWatch
    ) throws(TransportError) -> HTTPClientRequest {
        guard let scheme = request.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let authority = request.authority
        else {
            throw TransportError(.unsupportedRequest, message: "only absolute http and https URLs can be loaded")
        }
        var result = HTTPClientRequest(url: "\(scheme)://\(authority)\(request.path ?? "/")")
        try result.checkTarget(request.path ?? "/")
        result.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headerFields { result.headers.add(name: field.name.rawName, value: field.value) }
        if let data = content?.data {
            result.body = .bytes(ByteBuffer(bytes: data))
        } else if let content {
            result.body = .stream(
                ContentSequence(content: content, watch: watch), length: content.length.map { .known($0) } ?? .unknown)
        }
        return result
    }

    /// Checks that AsyncHTTPClient sends exactly the target `path`.
    ///
    /// RFC 9110 §7.7: an intermediary must not change the path and query of a request.
    private func checkTarget(_ path: String) throws(TransportError) {
        let expected = path.isEmpty || path.hasPrefix("?") ? "/" + path : path
        let sent = URL(string: url)?.targetOfAsyncHTTPClient
        guard sent != expected else { return }
        let effect = sent.map { "would send it as \($0)" } ?? "cannot send it"
        throw TransportError(
            .unsupportedRequest,
            message: "the target of the request is \(path), but AsyncHTTPClient \(effect); "
                + "encode the URL with UTF-8 in percent-encoding, or use another transport for it")
    }
}

extension URL {
    /// The target that AsyncHTTPClient 1.37 sends for this URL. See `URL.uri` in its `HTTPHandler.swift`.
    fileprivate var targetOfAsyncHTTPClient: String {
        let components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        let target = path.isEmpty ? "/" : components?.percentEncodedPath ?? path
        return query.map { target + "?" + $0 } ?? target
    }
}

/// The content of a request as a sequence. The client pulls the next chunk when it has room.
private struct ContentSequence: AsyncSequence, Sendable {
    let content: RequestContent
    let watch: IdleWatch

    func makeAsyncIterator() -> Iterator { Iterator(content: content, watch: watch) }

    struct Iterator: AsyncIteratorProtocol {
        let content: RequestContent
        let watch: IdleWatch

        func next() async throws -> ByteBuffer? {
            watch.contentIsMade()
            defer { watch.contentWasMade() }
            return try await content.next().map { ByteBuffer(bytes: $0) }
        }
    }
}

extension TransportError {
    /// Converts an error of AsyncHTTPClient.
    init(client error: any Error, hasHead: Bool) {
        if let error = error as? TransportError {
            self = error
            return
        }
        self.init(Self.code(of: error, hasHead: hasHead), message: Self.reason(of: error))
    }

    /// Whether the origin closed the connection before the first byte of a response.
    ///
    /// AsyncHTTPClient does not report whether bytes of a head preceded a reset.
    static func meansClosed(_ error: any Error) -> Bool {
        switch error {
        case is TransportError, HTTPParserError.invalidEOFState: false
        default: code(of: error, hasHead: false) == .connectionLost
        }
    }

    private static func code(of error: any Error, hasHead: Bool) -> Code {
        switch error {
        case is CancellationError: .cancelled
        case let error as HTTPClientError: code(of: error, hasHead: hasHead)
        case let error as NIOConnectionError: error.connectionErrors.isEmpty ? .cannotFindHost : .cannotConnect
        case is SocketAddressError.UnknownHost: .cannotFindHost
        case is SocketAddressError: .cannotConnect
        case HTTPParserError.invalidEOFState: hasHead ? .truncated : .connectionLost
        case is HTTPParserError, is NIOHTTPDecoderError: hasHead ? .truncated : .malformedResponse
        case ChannelError.connectTimeout: .timedOut
        case let error as IOError where !hasHead && meansUnreachable(error.errnoCode): .cannotConnect
        case is ChannelError, is IOError: .connectionLost
        default: named(error, hasHead: hasHead)
        }
    }

    private static func code(of error: HTTPClientError, hasHead: Bool) -> Code {
        switch error {
        case .cancelled: .cancelled
        case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
            .timedOut
        case .invalidURL, .emptyHost, .traceRequestWithBody, .alreadyShutdown, .bodyLengthMismatch: .unsupportedRequest
        case .remoteConnectionClosed: hasHead ? .truncated : .connectionLost
        default: .other
        }
    }

    private static func meansUnreachable(_ number: Int32) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN, EADDRNOTAVAIL].contains(number)
    }

    /// Finds the code from the module of the error, because NIOSSL has several error types and NIOHTTP2 has dozens.
    private static func named(_ error: any Error, hasHead: Bool) -> Code {
        let type = String(reflecting: type(of: error))
        if hasHead { return .truncated }
        if type.hasPrefix("NIOSSL.") { return .insecure }
        if type.hasPrefix("NIOHTTP2.") { return .malformedResponse }
        return .other
    }
}
