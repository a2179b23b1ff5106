extension HTTPFields {
    /// Returns the fields of a response to store: without fields for one connection or proxy, and with a usable `Date`.
    func storedFields(receivedAt responseTime: HTTPDate) -> HTTPFields {
        var fields = self
        fields.remove(named: namesExceptedFromStorage)
        // RFC 9110 §6.6.1: a recipient "that receives a response message without a Date header field MUST record the
        // time it was received and append a corresponding Date header field to the message's header section if it is
        // cached", and "MAY replace" an invalid one.
        if fields.date(receivedAt: responseTime) == nil { fields[.date] = responseTime.description }
        return fields
    }

    /// The first `Date`, or `nil` without a usable date.
    func date(receivedAt responseTime: HTTPDate) -> HTTPDate? {
        first { $0.name == .date }.flatMap { HTTPDate($0, now: responseTime) }
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
        // RFC 9110 §7.6.1: a connection option must not be "a header field that is intended for all recipients of the
        // content". Without these fields the stored response would look fresher, match more requests or describe other
        // bytes.
        names = names.filter { !Self.isForAllRecipients($0) }
        names.formUnion([
            "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
            "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
            // A stored part has its range as ``StoredPart``. In a 200 and a 304 the field has no meaning (§14.4).
            "content-range",
        ])
        return names
    }

    private static func isForAllRecipients(_ name: String) -> Bool {
        name.hasPrefix("content-") || name.hasSuffix("cache-control")
            || [
                "age", "date", "expires", "vary", "no-vary-search", "etag", "last-modified", "location", "repr-digest",
                "unencoded-digest", "use-as-dictionary",
            ].contains(name)
    }
}
