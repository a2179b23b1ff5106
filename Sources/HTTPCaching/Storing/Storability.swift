package import HTTPTypes

/// Whether the reply to a request may be stored (RFC 9111 §3).
package enum Storability: Hashable, Sendable {
    /// It may. Whether it may also be reused is for its freshness and validators to say: a response with neither can
    /// answer only ``CachePolicy/Mode/cacheFirst`` and ``CachePolicy/Mode/cacheOnly``.
    ///
    /// The response to a POST answers GET and HEAD, and never a POST.
    case storable
    /// It may not; `removesStored` when what is stored for the same key must go, too.
    case notStorable(removesStored: Bool)

    /// More fields than these are not stored: no origin in its senses sends them, and merging takes their square.
    package static let maxFieldCount = 1000

    /// Whether to store a response with this status and these fields that answers `request`, the request as it
    /// was sent.
    package init(status: HTTPResponse.Status, fields: HTTPFields, request: HTTPRequest, policy: CachePolicy) {
        self = StorageDecision.make(status: status, fields: fields, request: request, policy: policy).storability
    }
}
