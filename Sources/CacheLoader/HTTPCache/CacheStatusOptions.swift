/// Options for the `Cache-Status` field of responses (RFC 9211).
public struct CacheStatusOptions: Hashable, Sendable {
    /// The name of the cache in the field; `CacheStore` by default.
    public var name: String
    /// Whether the field contains the key of the response. Off by default, because a key may be confidential.
    public var hasKey: Bool
    /// Whether the field contains, as `detail`, the rule that the cache applied, with its section. Off by default.
    public var hasDetail: Bool

    /// Creates options; each has its documented default.
    public init(name: String = "CacheStore", hasKey: Bool = false, hasDetail: Bool = false) {
        self.name = name
        self.hasKey = hasKey
        self.hasDetail = hasDetail
    }
}
