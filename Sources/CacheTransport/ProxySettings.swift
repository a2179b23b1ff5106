internal import CacheFoundation

/// The proxies between a transport and the origins.
///
/// A proxy is named by a URL, such as `http://proxy.example:3128`: the schemes are `http`, `https`, `socks4`,
/// `socks4a`, `socks5` and `socks5h`, with the meanings of libcurl. With `socks4a` and `socks5h` the proxy finds the
/// addresses of the hosts. The URL may contain a user and a password. The default port is 1080.
public struct ProxySettings: Hashable, Sendable {
    /// No proxies.
    public static let none = ProxySettings(proxies: [:], exceptions: [])

    /// The proxies by the scheme of the origin.
    private let proxies: [String: ProxyServer]
    private let exceptions: [Substring]

    private init(proxies: [String: ProxyServer], exceptions: [Substring]) {
        self.proxies = proxies
        self.exceptions = exceptions
    }

    /// One proxy for all requests.
    ///
    /// - Throws: ``TransportError/Code/unsupportedRequest`` if the text is not the URL of a proxy.
    public init(url: String) throws(TransportError) {
        let proxy = try ProxyServer(url, namedBy: "the proxy")
        self.init(proxies: ["http": proxy, "https": proxy], exceptions: [])
    }

    /// The proxies that the environment names, by the rules of curl.
    ///
    /// `http_proxy` for http, `https_proxy` or `HTTPS_PROXY` for https, `all_proxy` or `ALL_PROXY` for both. `no_proxy`
    /// or `NO_PROXY` lists the hosts, domains and blocks of IPv4 addresses without a proxy. `HTTP_PROXY` does not
    /// count: for a CGI program, the client of the server sets it by a field `Proxy`.
    ///
    /// - Throws: ``TransportError/Code/unsupportedRequest`` if a variable is not the URL of a proxy. The message
    ///   contains the name of the variable, not its value, which may contain a password.
    public init(environment: [String: String]) throws(TransportError) {
        func value(_ names: String...) -> (name: String, text: String)? {
            for name in names {
                if let text = environment[name], !text.isEmpty { return (name, text) }
            }
            return nil
        }
        var proxies: [String: ProxyServer] = [:]
        let all = value("all_proxy", "ALL_PROXY")
        if let http = value("http_proxy") ?? all { proxies["http"] = try ProxyServer(http.text, namedBy: http.name) }
        if let https = value("https_proxy", "HTTPS_PROXY") ?? all {
            proxies["https"] = try ProxyServer(https.text, namedBy: https.name)
        }
        self.init(
            proxies: proxies,
            exceptions: (value("no_proxy", "NO_PROXY")?.text ?? "").lowercased().split { $0 == "," || $0 == " " })
    }

    /// Returns the proxy for an origin, if one applies. `authority` is a host, with or without a port.
    package func proxy(scheme: String, authority: String) -> ProxyServer? {
        guard let proxy = proxies[scheme] else { return nil }
        var host = authority.lowercased()[...]
        if let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") { host = host[..<colon] }
        return exceptions.contains { Self.covers($0, host) } ? nil : proxy
    }

    /// Whether an exception is the host, a domain of the host, a block of addresses with the host, or all hosts.
    private static func covers(_ exception: Substring, _ host: Substring) -> Bool {
        if exception == "*" { return true }
        let bare = host.drop { $0 == "[" }.prefix { $0 != "]" }
        if exception.contains("/") { return IPv4Block(exception)?.contains(bare) ?? false }
        let name = exception.drop { $0 == "." || $0 == "[" }.prefix { $0 != "]" }
        return !name.isEmpty && (bare == name || bare.hasSuffix(".\(name)"))
    }
}

/// A proxy between a transport and the origins.
package struct ProxyServer: Hashable, Sendable {
    package struct Credentials: Hashable, Sendable {
        package let user: String
        package let password: String
    }

    /// The scheme, the host and the port.
    package let url: String
    package let credentials: Credentials?
    /// Whether requests to http origins are forwarded, not tunnelled.
    var isHTTP: Bool { url.hasPrefix("http") }

    /// `name` is the name of the text in an error.
    init(_ text: String, namedBy name: String) throws(TransportError) {
        let url = text.contains("://") ? text : "http://\(text)"
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(), let host = parts.host,
            !host.isEmpty
        else {
            throw TransportError(
                .unsupportedRequest, message: "\(name) is not the URL of a proxy, such as http://proxy.example:3128")
        }
        guard ["http", "https", "socks4", "socks4a", "socks5", "socks5h"].contains(scheme) else {
            throw TransportError(
                .unsupportedRequest,
                message: "\(name) names a proxy of the scheme \(scheme); http, https, socks4 and socks5 are supported")
        }
        // curl has the same default port.
        self.url = "\(scheme)://\(host):\(parts.port ?? 1080)"
        credentials = parts.user.map { Credentials(user: $0, password: parts.password ?? "") }
    }
}

/// A block of IPv4 addresses: `10.0.0.0/8`.
private struct IPv4Block {
    private let prefix: UInt32
    private let mask: UInt32

    init?(_ text: Substring) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = Self.address(parts[0]), let length = UInt32(parts[1]), length <= 32 else {
            return nil
        }
        mask = length == 0 ? 0 : ~0 << (32 - length)
        prefix = address & mask
    }

    func contains(_ host: Substring) -> Bool { Self.address(host).map { $0 & mask == prefix } ?? false }

    private static func address(_ text: Substring) -> UInt32? {
        let bytes = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard bytes.count == 4 else { return nil }
        var address: UInt32 = 0
        for byte in bytes {
            guard let byte else { return nil }
            address = address << 8 | UInt32(byte)
        }
        return address
    }
}
