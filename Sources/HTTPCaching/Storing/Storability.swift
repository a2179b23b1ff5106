/// Whether the reply to a request may be stored (RFC 9111 §3). The result of a ``StorageDecision``.
public enum Storability: Hashable, Sendable {
    /// The reply may be stored.
    ///
    /// Freshness and validators decide about reuse. A response with neither can answer only
    /// ``CachePolicy/Mode/cacheFirst`` and ``CachePolicy/Mode/cacheOnly``. The response to a POST answers GET and HEAD,
    /// and never a POST.
    case storable
    /// The reply must not be stored. With `removesStored`, the stored responses for the same key must be removed too.
    case notStorable(removesStored: Bool)

    /// The most fields of a stored response. No real origin sends more, and merging takes quadratic time.
    package static let maxFieldCount = 1000
}
