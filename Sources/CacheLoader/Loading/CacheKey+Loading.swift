internal import CacheStore
internal import HTTPTypes

extension CacheKey {
    /// The key of a URL that can be loaded.
    static func loading(_ url: String, partition: String) throws(LoadError) -> CacheKey {
        let key: CacheKey
        do throws(StoreError) {
            key = try CacheKey(url: url, partition: partition)
        } catch {
            guard case .invalidKey(_, let reason) = error else { throw .store(error) }
            throw .invalidURL(url, reason: reason)
        }
        guard key.text.hasPrefix("https://") || key.text.hasPrefix("http://") else {
            throw .invalidURL(url, reason: "its scheme is not http or https")
        }
        return key
    }

    /// The key of a request's target.
    static func loading(_ request: HTTPRequest, partition: String) throws(LoadError) -> CacheKey {
        try loading(
            "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")", partition: partition)
    }
}

extension HTTPRequest {
    /// A GET of the URL that a key stands for.
    init(key: CacheKey, fields: HTTPFields) {
        // The text of a key is `scheme://authority/…`.
        let parts = key.text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        self.init(
            method: .get, scheme: String(parts[0].dropLast()), authority: String(parts[2]), path: "/" + parts[3],
            headerFields: fields)
    }
}
