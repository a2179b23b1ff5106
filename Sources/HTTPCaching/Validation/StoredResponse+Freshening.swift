internal import HTTPTypes

extension StoredResponse {
    /// Takes over fields and times of a 304 for this response, or of a 200 to a HEAD (RFC 9111 §3.2).
    package mutating func freshen(by exchange: Exchange) {
        let reply = exchange.reply.headerFields.storedFields(receivedAt: exchange.responseTime)
        // §4.2.3 takes all times from one exchange: the Age of the older response is no longer true.
        fields[.age] = nil
        // Each field of the 304 adds or replaces "field values that are already present". The exceptions describe the
        // stored bytes: their length and coding and, for a decoded body, their type, range and digest. RFC 9530 §2, §B.2:
        // Content-Digest in a message without content covers no byte.
        var handled: Set<String> = ["content-length", "content-encoding", "content-digest", "content-md5"]
        if isBodyDecoded { handled.formUnion(["content-type", "content-range", "repr-digest"]) }
        // Keep the weak tag of a response that the server compressed while sending. A strong tag would promise other
        // bytes.
        if let stored = EntityTag(fields), stored.isWeak, EntityTag(reply)?.isWeaklyEqual(to: stored) == true {
            handled.insert("etag")
        }
        for field in reply where handled.insert(field.name.canonicalName).inserted {
            fields[fields: field.name] = reply[fields: field.name]
        }
        requestTime = exchange.requestTime
        responseTime = exchange.responseTime
    }
}
