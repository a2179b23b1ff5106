internal import HTTPTypes

extension HTTPFields {
    /// The fields of a response that are stored: all but those that concern one connection or one proxy, and with a usable
    /// `Date`.
    func storedFields(receivedAt responseTime: HTTPDate) -> HTTPFields {
        var fields = self
        fields.remove(named: namesExceptedFromStorage)
        // RFC 9110 §6.6.1: a recipient "that receives a response message without a Date header field MUST record the time it
        // was received and append a corresponding Date header field to the message's header section if it is cached", and
        // "MAY replace" one that is invalid.
        let isDateUsable = fields.first { $0.name == .date }.flatMap { HTTPDate($0, now: responseTime) } != nil
        if !isDateUsable { fields[.date] = responseTime.description }
        return fields
    }

    /// Removes the fields with these names in lower case.
    mutating func remove(named names: Set<String>) {
        removeAll { names.contains($0.name.canonicalName) }
    }

    /// RFC 9111 §3.1: the fields that are not stored, by their names in lower case.
    private var namesExceptedFromStorage: Set<String> {
        var names: Set<String> = []
        for field in self where field.name == .connection {
            names.formUnion(field.withUnsafeBytesOfValue(\.lowercasedTokens) ?? [])
        }
        // RFC 9110 §7.6.1: "Cache-Control is never appropriate as a connection option". Nor is what else would make the
        // stored response look fresher, or fit more requests, than the received one.
        names.subtract(["cache-control", "age", "date", "expires", "vary"])
        names.formUnion([
            "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
            "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        ])
        return names
    }
}
