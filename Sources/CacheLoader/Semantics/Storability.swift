package import HTTPTypes

/// Whether the reply to a request may be stored (RFC 9111 §3).
package enum Storability: Hashable, Sendable {
    /// It may. Whether it may also be reused is for its freshness and validators to say: a response with neither can
    /// answer only ``CachePolicy/Mode/cacheFirst`` and ``CachePolicy/Mode/cacheOnly``.
    case storable
    /// It may not; `removesStored` when what is stored for the same key must go, too.
    case notStorable(removesStored: Bool)

    /// More fields than these are not stored: no origin in its senses sends them, and merging takes their square.
    package static let maxFieldCount = 1000

    /// Whether to store a response with this status and these fields that answers `request`, the request as it
    /// was sent.
    package init(status: HTTPResponse.Status, fields: HTTPFields, request: HTTPRequest, policy: CachePolicy) {
        self = .notStorable(removesStored: false)

        // "the request method is understood by the cache"
        guard request.method == .get else { return }
        guard !policy.storesNothing else {
            self = .notStorable(removesStored: true)
            return
        }
        let control = CacheControl(fields)
        // §5.2.2.3: beside must-understand, no-store is for those who do not know the status.
        if control.mustUnderstand ? !status.isUnderstood : control.noStore {
            // §5.2.2.5 leaves open what becomes of an older response: the origin has withdrawn what it let us store before.
            // But an error that is not to be stored says nothing about the last good response.
            self = .notStorable(removesStored: control.noStore && status.code < 400)
            return
        }
        // "the response status code is final". A part of a body, or none, is not a response that could be reused as such.
        guard (200...599).contains(status.code), status != .partialContent, status != .notModified else { return }
        // 412 and 416 are about the preconditions and the range of one request, and no answer to another.
        guard status != .preconditionFailed, status != .rangeNotSatisfiable else { return }
        // §5.2.1.5: a cache must not store "any part of either this request or any response to it".
        guard !CacheControl(request.headerFields).noStore else { return }

        if policy.isShared {
            guard !control.isPrivate else { return }
            // §3.5
            let permitsAuthorization = control.isPublic || control.mustRevalidate || control.sharedMaxAge != .absent
            guard permitsAuthorization || !request.headerFields.contains(.authorization) else { return }
        }

        // "the response contains at least one of the following"
        let isExplicitlyCacheable =
            control.isPublic || control.maxAge != .absent || fields.contains(.expires)
            || (policy.isShared ? control.sharedMaxAge != .absent : control.isPrivate)
        guard isExplicitlyCacheable || status.isHeuristicallyCacheable else { return }

        guard fields.count <= Self.maxFieldCount else { return }
        self = .storable
    }
}
