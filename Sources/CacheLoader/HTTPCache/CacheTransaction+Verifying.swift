internal import CacheStore

/// Verifies received content, if the policy asks for it (RFC 9530).
extension CacheTransaction {
    func digests(ofContentOf received: Received) -> [IntegrityDigests] {
        IntegrityDigests.ofContent(
            received.reply.head, to: method, isBodyDecoded: received.reply.isBodyDecoded, policy: policy)
    }

    /// Returns the verification of a reply that completes a stored part, or `nil` without digests to compare.
    func verification(
        of received: Received, completing nominated: Nominated, as whole: StoredResponse
    ) async throws(StoreError) -> BodyVerification? {
        let content = digests(ofContentOf: received)
        let whole = IntegrityDigests.ofWhole(
            whole.fields, combining: [received.forwarding.stored.responses[nominated.index]], policy: policy)
        guard !content.isEmpty || !whole.isEmpty else { return nil }
        // Reads the part, which can be long.
        return try await store.onReadingLane { [url, part = nominated.body] () throws(StoreError) in
            try BodyVerification(url: url, content: content, after: part, whole: whole)
        }
    }

    /// Returns the error of a body that was combined from parts, or `nil` when all digests match.
    func mismatch(of body: BodyWriter, _ digests: [IntegrityDigests]) async throws(StoreError) -> LoadError? {
        guard let check = DigestCheck(digests, isStored: true) else { return nil }
        let written = try body.written()
        let field = try await store.onReadingLane { () throws(StoreError) in
            var check = check
            try check.update(written)
            return check.mismatch(written.digest)
        }
        return field.map { .digestMismatch(url: url, field: $0.rawValue) }
    }
}
