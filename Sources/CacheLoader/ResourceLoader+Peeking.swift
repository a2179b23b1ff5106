public import CacheFoundation
internal import CacheStore

/// Looks at stored content, fresh or stale, without asking an origin.
extension ResourceLoader {
    /// Returns the stored content that a request selects, fresh or stale, if there is any.
    ///
    /// Selects as a load does: by key, partition, `Vary` (RFC 9111 §4.1) and credentials, including those of the
    /// configuration. Follows stored redirects. Ignores stored error responses and parts, the directives and the range
    /// of the request, and the mode of the policy. Returns `nil` for methods other than GET and HEAD.
    ///
    /// Records no access. Keeps the content in memory if ``Configuration/memoryLimit`` and
    /// ``ResourceRequest/usesMemory`` allow it, and if the content is fresh: the next load finds it there.
    ///
    /// Runs on the calling thread: one lookup for each redirect step, and a read of the file. The first read of a file
    /// in a process verifies its digest.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``, ``LoadError/store(_:)``. If
    ///   the content is compressed, ``LoadError/malformedContent(url:coding:)`` and
    ///   ``LoadError/bodyTooLarge(url:limit:)``.
    public func peek(_ request: some ResourceRequestConvertible) throws(LoadError) -> Data? {
        let request = request.resourceRequest
        let memoryKey = memoryKey(request, .bytes)
        let load = try load(for: request)
        guard let (transaction, selected, target) = try selectedContent(load) else { return nil }
        let opened = try LoadError.wrapping { () throws(StoreError) in
            try store.openBody(of: selected.entry).map { (body) throws(StoreError) in (body, try body.data()) }
        }
        guard let (body, bytes) = opened else { return nil }
        let response = transaction.response(from: selected, body)
        var fields = response.headerFields
        let data = try load.configuration.decode(bytes, &fields, url: target.url.text)
        // A load rejects content of a type that the configuration does not accept.
        let isAccepted = load.configuration.contentTypeFilter?.accepts(fields) ?? true
        if let memoryKey, isAccepted {
            let resource = Loaded<Data>(data, response, target, fields)
            remember([memoryKey: data], of: resource, data.count, selected.entry, selected.found, load)
        }
        return data
    }

    /// Returns whether the store contains content that ``peek(_:)`` would return.
    ///
    /// Records no access, and does not open the file. Runs on the calling thread: one lookup for each redirect step.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``, ``LoadError/store(_:)``.
    public func contains(_ request: some ResourceRequestConvertible) throws(LoadError) -> Bool {
        try selectedContent(load(for: request.resourceRequest)) != nil
    }

    /// Selects the stored content of a load. Follows stored redirects.
    private func selectedContent(
        _ load: Load
    ) throws(LoadError) -> (CacheTransaction, CacheTransaction.Selected, LoadTarget)? {
        guard load.isShareable else { return nil }
        let found = try storedSteps(load) { (transaction) throws(LoadError) in
            try transaction.selectedContent()
        }
        return found.map { ($0.transaction, $0.answer, $0.request.target) }
    }
}
