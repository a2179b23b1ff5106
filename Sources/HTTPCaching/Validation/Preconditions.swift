/// The preconditions of a GET or HEAD request (RFC 9110 §13.1). Excludes `If-Range`, which belongs to the range request
/// (§13.1.5).
package struct Preconditions: Sendable {
    package var isEmpty: Bool {
        ifNoneMatch == nil && modifiedSinceCount == 0 && !mustBeForwarded
    }

    /// Whether only the origin may evaluate the preconditions, because of an `If-Match` or `If-Unmodified-Since`. RFC
    /// 9111 §4.3.2: "A cache MUST NOT evaluate conditional header fields that only apply to an origin server".
    package private(set) var mustBeForwarded = false

    private var ifNoneMatch: EntityTagList?
    private var ifModifiedSince: HTTPField?
    private var modifiedSinceCount = 0
    private let isSelecting: Bool

    package init(_ request: HTTPRequest) {
        isSelecting = request.method == .get || request.method == .head
        for field in request.headerFields {
            let name = field.name
            // Compares lengths first: the loop runs on every hit, and few requests have preconditions.
            switch name.canonicalName.utf8.count {
            case 8 where name == .ifMatch, 19 where name == .ifUnmodifiedSince:
                mustBeForwarded = true
            case 13 where name == .ifNoneMatch:
                var list = ifNoneMatch ?? EntityTagList()
                list.combine(field)
                ifNoneMatch = list
            case 17 where name == .ifModifiedSince:
                modifiedSinceCount += 1
                ifModifiedSince = field
            default:
                break
            }
        }
    }

    /// The elements of `If-None-Match` in order, byte for byte. `*` counts as an element.
    package var entityTags: [EntityTag] { ifNoneMatch?.tags ?? [] }

    /// Whether a 304 answers the request instead of `stored`, a response that may answer it (RFC 9111 §4.3.2). Ignores
    /// preconditions that only the origin may evaluate; see ``mustBeForwarded``.
    package func isNotModified(_ stored: StoredResponse) -> Bool {
        // §4.3.2: a cache evaluates the preconditions of a request that "can be satisfied by reusing a stored 200 (OK)
        // or 206 (Partial Content) response". Preconditions of a request "with semantics that cannot be satisfied with
        // a cached response" are for an inbound server.
        guard isSelecting, stored.status == .ok || stored.status == .partialContent else { return false }
        // RFC 9110 §13.2.2: If-None-Match, with any value, overrides If-Modified-Since.
        guard let ifNoneMatch else { return isUnmodified(stored) }
        if ifNoneMatch.isAny { return true }
        guard let tag = EntityTag(stored.fields) else { return false }
        // §13.1.2: "A recipient MUST use the weak comparison function".
        return ifNoneMatch.tags.contains { $0.isWeaklyEqual(to: tag) }
    }

    /// RFC 9111 §4.3.2: whether the stored date is not later than the condition. The stored date is `Last-Modified`,
    /// else `Date`, else the time of receipt.
    private func isUnmodified(_ stored: StoredResponse) -> Bool {
        // RFC 9110 §13.1.3: a recipient ignores a field that is "not a valid HTTP-date" or that "has more than one
        // member".
        guard modifiedSinceCount == 1, let ifModifiedSince,
            let limit = HTTPDate(ifModifiedSince, now: stored.responseTime)
        else { return false }
        if let field = stored.fields.first(where: { $0.name == .lastModified }) {
            // An unreadable Last-Modified does not count as absent: the origin has stated a date that the cache cannot
            // read.
            guard let lastModified = HTTPDate(lenient: field, now: stored.responseTime) else { return false }
            return lastModified <= limit
        }
        return stored.date <= limit
    }

    /// Returns `request` with one `If-None-Match`: the tags of `request`, then the missing tags of `stored`. A 304 then
    /// confirms a response of the sender or a stored response, as its `ETag` tells (RFC 9111 §4.3.1). Omits a tag that
    /// no list can contain: one with a comma outside quotes, or with an open quote. Returns `request` unchanged if
    /// nothing can be added: no tag can follow `*` or an unclosed quote.
    package func adding(_ stored: [StoredResponse], to request: HTTPRequest) -> HTTPRequest {
        var list = ifNoneMatch ?? EntityTagList()
        let count = list.tags.count
        list.append(stored.lazy.compactMap { EntityTag($0.fields) })
        guard list.tags.count > count else { return request }
        var request = request
        request.headerFields[fields: .ifNoneMatch] = [list.field]
        return request
    }
}
