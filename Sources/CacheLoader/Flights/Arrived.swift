internal import CacheStore
internal import HTTPTypes

/// A resource, and what the store holds of it.
struct Arrived: Sendable {
    let resource: Resource
    /// What it is stored under, if it is: that of the last hop.
    let key: CacheKey
    /// `nil` if it is not stored, or nothing is known of that.
    let entry: StoredEntry?
    /// The entry, if the resource is all of its body: only then what is made of it may be kept beside it.
    let original: StoredEntry?

    init(_ resource: Resource, _ response: CachedResponse, _ target: LoadTarget, _ method: HTTPRequest.Method) {
        self.resource = resource
        key = target.key
        entry = response.entry
        original = response.original(for: method)
    }
}

extension CachedResponse {
    /// What the store holds of it, if the answer is all of that.
    func original(for method: HTTPRequest.Method) -> StoredEntry? {
        guard method == .get, head.status == .ok, let entry, entry.metadata.part == nil else { return nil }
        return entry
    }
}
