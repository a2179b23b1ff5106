internal import HTTPTypes

extension StoredResponse {
    /// Takes over the fields and the times of the 304 that validated it, or of the 200 to a HEAD (RFC 9111 §3.2).
    package mutating func freshen(by exchange: Exchange) {
        let reply = exchange.reply.headerFields.storedFields(receivedAt: exchange.responseTime)
        // §4.2.3 takes all times from one exchange: an Age that came with the older response is no longer true.
        fields[.age] = nil
        // Each field of the 304 is added or replaces "field values that are already present". The exceptions describe the
        // stored bytes: their length and coding and, if they were processed since, their type and range.
        var handled: Set<String> = ["content-length", "content-encoding"]
        if isBodyDecoded { handled.formUnion(["content-type", "content-range"]) }
        // A strong tag would promise other bytes than those of a response that the server compressed while sending it.
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
