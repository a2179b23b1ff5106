/// What responses tell of the cache in `Cache-Status` (RFC 9211).
public struct CacheStatusOptions: Hashable, Sendable {
    /// The name of the cache; `CacheStore` by default.
    public var name: String
    /// Whether the key of the response is told. Off by default: it may be nobody's business.
    public var hasKey: Bool
    /// Whether the rule is told that the cache has followed, with its section, as `detail`. Off by default.
    public var hasDetail: Bool

    /// Creates options; all have their documented defaults.
    public init(name: String = "CacheStore", hasKey: Bool = false, hasDetail: Bool = false) {
        self.name = name
        self.hasKey = hasKey
        self.hasDetail = hasDetail
    }
}
