internal import CacheStore

/// Selects stored content for a request without answering the request.
extension CacheTransaction {
    /// A stored response that a request selects.
    struct Selected: ChosenResponse {
        let entry: StoredEntry
        let response: StoredResponse
        /// The state of the key when the entry was chosen.
        let found: KeySnapshot?
    }

    /// Selects stored content, or a stored redirect, by `Vary` and credentials (RFC 9111 §4.1), fresh or stale. Skips
    /// parts and error responses: the content is the last good one. Does not open the body. Throws
    /// ``LoadError/store(_:)`` if the store cannot be read.
    func selectedContent() throws(LoadError) -> Selected? {
        let stored = try LoadError.wrapping { () throws(StoreError) in try find() }
        var request = request
        // Selects the whole content, although the caller wants a part of it.
        request.headerFields[.range] = nil
        let contents = stored.entries.indices.filter { stored.entries[$0].metadata.kind == .content }
        let choice = SelectedResponse.choose(
            for: request, candidates: contents.map { stored.responses[$0] }, policy: policy, fingerprint: fingerprint)
        return choice.map {
            Selected(
                entry: stored.entries[contents[$0]], response: stored.responses[contents[$0]],
                found: stored.snapshot)
        }
    }

    /// Makes a response of selected content, as a load would get it if it were fresh.
    func response(from selected: Selected, _ body: StoredBody) -> CachedResponse {
        var whole = self
        // Deliver the whole content, regardless of the caller's range and conditions.
        whole.request.headerFields.removeAll { Self.fieldsOfOneCaller.contains($0.name) }
        return whole.response(from: answer(selected.response, selected.entry, body, .fresh))
    }
}
