internal import CacheStore
internal import HTTPTypes

/// A resource, and what the store holds of it.
struct Arrived: Sendable {
    let resource: Resource
    /// What it is stored under, if it is: that of the last hop.
    let key: CacheKey
    /// `nil` if it is not stored, or nothing is known of that.
    let entry: StoredEntry?
    /// The entry, if the resource is its whole body.
    let whole: StoredEntry?
    /// The entry beside which processed values may be kept.
    var original: StoredEntry? { resource.status == .ok ? whole : nil }

    init(_ resource: Resource, _ response: CachedResponse, _ target: LoadTarget, _ method: HTTPRequest.Method) {
        self.resource = resource
        key = target.key
        entry = response.entry
        whole = response.wholeEntry(for: method)
    }
}

extension CachedResponse {
    /// The stored entry, if the response is its whole body: not a part of it, and not an answer to a HEAD or a condition.
    func wholeEntry(for method: HTTPRequest.Method) -> StoredEntry? {
        guard method == .get, head.status.kind == .successful, head.status != .partialContent, let entry,
            entry.metadata.part == nil
        else { return nil }
        return entry
    }

    /// The stored entry beside which processed values may be kept.
    func original(for method: HTTPRequest.Method) -> StoredEntry? {
        head.status == .ok ? wholeEntry(for: method) : nil
    }
}
