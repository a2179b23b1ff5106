#if Curl && !canImport(Darwin)
internal import CacheFoundation
internal import HTTPCaching

/// A request in the terms of libcurl. Every text is a C string: it contains no NUL.
struct CurlRequest: Sendable {
    /// The scheme and the authority to connect to.
    let origin: String
    /// The request target, byte for byte (RFC 9110 §7.1).
    let target: String
    let method: HTTPRequest.Method
    /// The field lines, each with its NUL. A line without a value keeps libcurl from adding that field.
    let lines: [[UInt8]]
    /// The number of bytes of the content; -1 if it is unknown, `nil` without content.
    let contentLength: Int64?
    let isSecure: Bool
    let proxy: ProxyServer?
    let checksCertificate: Bool

    /// Throws ``TransportError/Code/unsupportedRequest``.
    init(
        _ request: HTTPRequest, _ content: RequestContent?, _ configuration: CurlTransport.Configuration
    ) throws(TransportError) {
        guard let scheme = request.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let authority = request.authority, let host = Self.host(of: authority)
        else { throw Self.unsupported("only absolute http and https URLs can be loaded") }
        let path = request.path ?? "/"
        // Any other byte would end the target, or begin a line of the head.
        guard !path.isEmpty, path.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw Self.unsupported("its target is empty, or has a space or a control character: encode it with percent")
        }
        // RFC 9110 §9.3.6: CONNECT asks for a tunnel, not for a response.
        guard request.method != .connect else { throw Self.unsupported("a transport makes no tunnels") }
        origin = "\(scheme)://\(authority)/"
        isSecure = scheme == "https"
        method = request.method
        proxy = configuration.proxies.proxy(scheme: scheme, authority: authority)
        // RFC 9112 §3.2.2: a proxy that forwards the request gets the whole URI.
        target = proxy?.isHTTP == true && scheme == "http" ? "\(scheme)://\(authority)\(path)" : path
        checksCertificate = !configuration.trust.accepts(anyCertificateOf: host)
        // RFC 9110 §8.6: a method that anticipates content gets a length even without one.
        contentLength = content.map { $0.length ?? -1 } ?? ([.post, .put, .patch].contains(method) ? 0 : nil)
        lines = Self.lines(request.headerFields, authority: authority)
    }

    /// Returns the host of an authority, or `nil` when the authority would change the meaning of the URL.
    private static func host(of authority: String) -> String? {
        guard !authority.isEmpty,
            authority.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"/?#@\\".utf8.contains($0) })
        else { return nil }
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return authority }
        return String(authority[..<colon])
    }

    private static func lines(_ fields: HTTPFields, authority: String) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        // RFC 9112 §3.2: Host comes first.
        if !fields.contains(where: { $0.name.canonicalName == "host" }) {
            lines.append(Array("Host: \(authority)".utf8) + [0])
        }
        for field in fields where field.name != .contentLength && field.name != .transferEncoding {
            var line = Array(field.name.rawName.utf8)
            field.withUnsafeBytesOfValue { value in
                // libcurl sends a field without a value if its name ends in a semicolon.
                line += value.isEmpty ? [UInt8(ascii: ";")] : Array(": ".utf8) + value
            }
            lines.append(line + [0])
        }
        for name in ["Accept", "Expect", "Proxy-Connection", "User-Agent"]
        where !fields.contains(where: { $0.name.canonicalName == name.lowercased() }) {
            lines.append(Array("\(name):".utf8) + [0])
        }
        return lines
    }

    private static func unsupported(_ reason: String) -> TransportError {
        TransportError(.unsupportedRequest, message: reason)
    }
}
#endif
