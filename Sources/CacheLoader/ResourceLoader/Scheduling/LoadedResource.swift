internal import CacheFoundation
internal import CacheStore

/// A loaded resource, and the stored response that it comes from.
struct LoadedResource: Sendable {
    let resource: Loaded<Data>
    /// The key of the last redirect step, under which the store keeps the response if it is stored.
    let key: CacheKey
    /// The stored entry, if the response is stored and its entry is known.
    let entry: StoredEntry?
    /// The state of the key when the store answered. `nil` for an answer of the origin.
    let found: KeySnapshot?
    /// The stored file with the bytes of the resource, if there is one.
    let file: StoredBody?
    /// The stored entry, if the resource is its complete body.
    let whole: StoredEntry?
    /// Whether a cache between this one and the origin answered with a complete body, and another request could reach
    /// the origin.
    let isFromUpstreamCache: Bool
    /// The entry for which the store may keep processed values, if there is one.
    var original: StoredEntry? { resource.status == .ok ? whole : nil }

    init(_ resource: Loaded<Data>, _ response: CachedResponse, _ target: LoadTarget, _ method: HTTPRequest.Method) {
        self.resource = resource
        key = target.key
        entry = response.entry
        found = response.found
        file = response.file(of: resource)
        whole = response.wholeEntry(for: method)
        isFromUpstreamCache = response.isFromUpstreamCache && response.isWhole(for: method)
    }
}

extension CachedResponse {
    /// Returns the stored file with the bytes of a resource made from this response. Returns `nil` without a file, and
    /// for a file whose bytes have a content coding.
    func file(of resource: Loaded<Data>) -> StoredBody? {
        // Decoding removes fields, and nothing else changes them.
        resource.headerFields.count == headerFields.count ? body.file : nil
    }

    /// The stored entry with the complete body. `nil` for a part, for a response to HEAD, and for a status such as 304
    /// or 404.
    func wholeEntry(for method: HTTPRequest.Method) -> StoredEntry? {
        guard isWhole(for: method), let entry, entry.metadata.part == nil else { return nil }
        return entry
    }

    /// Whether the response has a complete body of the resource.
    func isWhole(for method: HTTPRequest.Method) -> Bool {
        method.isRetrieval && status.kind == .successful && status != .partialContent
    }

    /// Returns the stored entry for which the store may keep processed values.
    func original(for method: HTTPRequest.Method) -> StoredEntry? {
        status == .ok ? wholeEntry(for: method) : nil
    }
}
