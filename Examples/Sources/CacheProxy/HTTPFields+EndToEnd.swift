internal import HTTPTypes

extension HTTPFields {
    /// The fields without those for a single connection (RFC 9110 §7.6.1), with the same order and bytes.
    var endToEnd: HTTPFields {
        var listed: Set<Substring> = []
        var hasHopByHop = false
        for field in self where Self.hopByHop.contains(field.name.canonicalName) {
            hasHopByHop = true
            if field.name == .connection { listed.formUnion(field.tokens) }
        }
        guard hasHopByHop else { return self }
        // "A sender MUST NOT send a connection option corresponding to a field that is intended for all recipients of
        // the content". Without these fields the message would have another meaning for the next recipient.
        listed.subtract(["age", "cache-control", "content-length", "date", "expires", "host", "vary"])
        return filter { field in
            let name = field.name.canonicalName
            return !Self.hopByHop.contains(name) && !listed.contains(name[...])
        }
    }

    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    /// Returns the fields that satisfy `isIncluded`, in order.
    private func filter(_ isIncluded: (HTTPField) -> Bool) -> HTTPFields {
        var fields = HTTPFields()
        for field in self where isIncluded(field) { fields.append(field) }
        return fields
    }
}
