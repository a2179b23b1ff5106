extension StoredResponse {
    /// Updates fields and times by a 304 for this response, or by a 200 to a HEAD (RFC 9111 §3.2).
    package mutating func freshen(by exchange: Exchange) {
        let reply = exchange.reply.headerFields.storedFields(receivedAt: exchange.responseTime)
        // §4.2.3 takes all times from one exchange, so the stored Age is outdated.
        fields[.age] = nil
        // The exceptions describe the stored bytes: length and coding and, for a decoded body, type and digest. RFC
        // 9530 §2, §B.2: Content-Digest in a message without content covers no bytes.
        var kept: Set<String> = ["content-length", "content-encoding", "content-digest", "content-md5"]
        if isBodyDecoded { kept.formUnion(["content-type", "repr-digest"]) }
        // Keep the weak tag of a response that the server compressed on the fly. A strong tag would promise other
        // bytes.
        if let stored = EntityTag(fields), stored.isWeak, EntityTag(reply)?.isWeaklyEqual(to: stored) == true {
            kept.insert("etag")
        }
        fields.update(with: reply, except: kept)
        requestTime = exchange.requestTime
        responseTime = exchange.responseTime
    }

    /// Updates fields, times and `Vary` by a reply. Returns whether the response may stay stored with its new fields.
    mutating func freshen(by exchange: Exchange, policy: CachePolicy, fingerprint: VaryKey.Fingerprint) -> Bool {
        freshen(by: exchange)
        // A reply to a HEAD updates the response that a GET stored.
        var request = exchange.request
        request.method = .get
        // The reply may have changed Vary, and thus the requests that the response answers.
        let newKey = VaryKey(
            response: fields, request: request, fingerprint: fingerprint, nominatesAuthorization: !policy.isShared)
        guard let newKey else { return false }
        varyKey = newKey
        // §4.3.4: a reply may change any field, and so may add no-store. §3.3: a part follows the rules for the whole.
        let wholeStatus = part == nil ? status : .ok
        return StorageDecision(status: wholeStatus, fields: fields, request: request, policy: policy).isStorable
    }
}
