internal import ArgumentParser

/// The address to listen on: `host:port`, `[::1]:port`.
struct ListenAddress: ExpressibleByArgument {
    let host: String
    let port: Int

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...])
        else { return nil }
        var host = argument[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        self.port = Int(port)
    }
}

/// The origin behind a reverse proxy: `http://host:port` or `https://host:port`.
struct OriginAddress: ExpressibleByArgument {
    let scheme: String
    let authority: String

    init?(argument: String) {
        guard let separator = argument.firstRange(of: "://") else { return nil }
        scheme = argument[..<separator.lowerBound].lowercased()
        var rest = argument[separator.upperBound...]
        if rest.last == "/" { rest.removeLast() }
        guard ["http", "https"].contains(scheme), !rest.isEmpty, !rest.contains(where: { "/?#@ ".contains($0) })
        else { return nil }
        authority = String(rest)
    }
}
