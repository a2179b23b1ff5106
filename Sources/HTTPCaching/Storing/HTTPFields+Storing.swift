internal import HTTPTypes

extension HTTPFields {
    /// Returns the fields of a response to store: without those for one connection or proxy, but with a usable `Date`.
    func storedFields(receivedAt responseTime: HTTPDate) -> HTTPFields {
        var fields = self
        fields.remove(named: namesExceptedFromStorage)
        // RFC 9110 §6.6.1: a recipient "that receives a response message without a Date header field MUST record the
        // time it was received and append a corresponding Date header field to the message's header section if it is
        // cached", and "MAY replace" an invalid one.
        let isDateUsable = fields.first { $0.name == .date }.flatMap { HTTPDate($0, now: responseTime) } != nil
        if !isDateUsable { fields[.date] = responseTime.description }
        return fields
    }

    /// Removes the fields with these names in lower case.
    mutating func remove(named names: Set<String>) {
        removeAll { names.contains($0.name.canonicalName) }
    }

    /// The names of the fields that are not stored, in lower case (RFC 9111 §3.1).
    private var namesExceptedFromStorage: Set<String> {
        var names: Set<String> = []
        for field in self where field.name == .connection {
            names.formUnion(field.withUnsafeBytesOfValue(\.lowercasedTokens) ?? [])
        }
        // RFC 9110 §7.6.1: "Cache-Control is never appropriate as a connection option". Nor may Connection remove Age,
        // Date, Expires or Vary: without them, the stored response could look fresher, or match more requests.
        names.subtract(["cache-control", "age", "date", "expires", "vary"])
        names.formUnion([
            "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
            "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        ])
        return names
    }
}
