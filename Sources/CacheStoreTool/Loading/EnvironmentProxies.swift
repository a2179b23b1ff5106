package import CacheLoader
import Foundation

/// The proxies that the environment names, by the rules of curl.
///
/// `http_proxy` for http, `https_proxy` or `HTTPS_PROXY` for https, `all_proxy` or `ALL_PROXY` for both. `no_proxy` or
/// `NO_PROXY` lists the hosts without a proxy. `HTTP_PROXY` does not count: for a CGI program, the client of the server
/// sets it by a field `Proxy`.
package struct EnvironmentProxies: Sendable {
    /// The text of a variable is not the URL of a proxy that the transport can use.
    package struct Malformed: Error, Equatable {
        package let message: String
    }

    private let proxies: [String: ProxyServer]
    private let exceptions: [Substring]

    package init(_ environment: [String: String]) throws(Malformed) {
        func value(_ names: String...) -> (name: String, text: String)? {
            for name in names {
                if let text = environment[name], !text.isEmpty { return (name, text) }
            }
            return nil
        }
        var proxies: [String: ProxyServer] = [:]
        let all = value("all_proxy", "ALL_PROXY")
        if let http = value("http_proxy") ?? all { proxies["http"] = try Self.proxy(http.text, in: http.name) }
        if let https = value("https_proxy", "HTTPS_PROXY") ?? all {
            proxies["https"] = try Self.proxy(https.text, in: https.name)
        }
        self.proxies = proxies
        exceptions = (value("no_proxy", "NO_PROXY")?.text ?? "").lowercased()
            .split { $0 == "," || $0 == " " }
    }

    /// The different proxies.
    package var all: Set<ProxyServer> { Set(proxies.values) }

    /// Returns the proxy for an origin; `nil` for none.
    ///
    /// - Parameter authority: A host, with or without a port.
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

    private static func proxy(_ text: String, in variable: String) throws(Malformed) -> ProxyServer {
        let url = text.contains("://") ? text : "http://\(text)"
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty else {
            throw Malformed(message: "\(variable) is not the URL of a proxy, such as http://proxy.example:3128")
        }
        let kind: ProxyServer.Kind
        switch parts.scheme?.lowercased() {
        case "http": kind = .http
        case "socks5", "socks5h", "socks": kind = .socks
        default:
            throw Malformed(
                message: "\(variable) names a proxy of the scheme \(parts.scheme ?? ""); http and socks5 are supported")
        }
        let credentials = parts.user.map { ProxyServer.Credentials(user: $0, password: parts.password ?? "") }
        if kind == .socks, credentials != nil {
            throw Malformed(message: "\(variable) has a user; a SOCKS proxy with a user is not supported")
        }
        // The default port is that of curl.
        return ProxyServer(kind: kind, host: host, port: parts.port ?? 1080, credentials: credentials)
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
