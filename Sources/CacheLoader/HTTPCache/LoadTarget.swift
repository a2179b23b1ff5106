internal import CacheStore

/// The URL of a load, and the key of its stored response.
struct LoadTarget: Hashable {
    /// The key of the stored response.
    let key: CacheKey
    /// The key of the requested URL.
    let url: CacheKey

    init(key: CacheKey, url: CacheKey) {
        self.key = key
        self.url = url
    }

    /// Creates a target whose response is stored under its URL, such as the target of a redirect.
    init(_ url: CacheKey) {
        self.init(key: url, url: url)
    }
}
