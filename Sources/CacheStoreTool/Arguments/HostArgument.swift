import ArgumentParser
import CacheStore

/// A host with one port or with all ports: `example.com`, `127.0.0.1:8080`, `[::1]:8080`.
struct HostArgument: ExpressibleByArgument {
    let host: String
    let port: UInt16?

    init?(argument: String) {
        let text = argument.lowercased()
        guard !text.isEmpty, !text.allSatisfy(\.isWhitespace) else { return nil }
        // An IPv6 address contains colons within its brackets.
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let port = UInt16(text[text.index(after: colon)...]) else { return nil }
            self.port = port
            host = String(text[..<colon])
        } else {
            port = nil
            host = text
        }
    }

    /// An SQL expression over the columns of `cache_entries`.
    var predicate: String {
        let isHost = "host = \(host.sqlLiteral)"
        guard let port else { return isHost }
        let origins = ["http", "https"].map { scheme in
            // A key omits the default port of its scheme.
            let isOwn = port == (scheme == "http" ? 80 : 443)
            let origin = "\(scheme)://\(host)\(isOwn ? "" : ":\(port)")/"
            return "substr(key, 1, \(origin.unicodeScalars.count)) = \(origin.sqlLiteral)"
        }
        return "(\(isHost) AND (\(origins.joined(separator: " OR "))))"
    }
}

extension String {
    /// The text as an SQL literal, for an expression without bound values.
    fileprivate var sqlLiteral: String { "'" + replacing("'", with: "''") + "'" }
}
