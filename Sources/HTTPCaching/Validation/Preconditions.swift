package import HTTPTypes

/// The conditions that the sender of a GET or HEAD put on it itself (RFC 9110 §13.1).
///
/// `If-Range` is not among them: it is part of asking for a range (§13.1.5).
package struct Preconditions: Sendable {
    /// Whether there is none.
    package var isEmpty: Bool {
        ifNoneMatch == nil && modifiedSinceCount == 0 && !mustBeForwarded
    }

    /// Whether only the origin may judge them: there is an `If-Match` or `If-Unmodified-Since`.
    ///
    /// RFC 9111 §4.3.2: "A cache MUST NOT evaluate conditional header fields that only apply to an origin server".
    package private(set) var mustBeForwarded = false

    /// The `If-None-Match`; `nil` without one.
    private var ifNoneMatch: EntityTagList?
    private var ifModifiedSince: HTTPField?
    private var modifiedSinceCount = 0
    private let isSelecting: Bool

    /// The conditions of `request`.
    package init(_ request: HTTPRequest) {
        isSelecting = request.method == .get || request.method == .head
        for field in request.headerFields {
            let name = field.name
            // Lengths first: this runs on every hit, and few requests have conditions.
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

    /// The elements of `If-None-Match` in order, to the letter; empty without one. `*` is one, too.
    package var entityTags: [EntityTag] { ifNoneMatch?.tags ?? [] }

    /// Whether ``adding(_:to:)`` can add anything: not behind `*`, nor behind a quote that is never closed.
    package var admitsMoreTags: Bool {
        guard let ifNoneMatch else { return true }
        return !ifNoneMatch.isAny && !ifNoneMatch.isUnterminated
    }

    /// Whether a 304 answers the request in place of `stored`, which may be used for it (RFC 9111 §4.3.2).
    ///
    /// Conditions that only the origin may judge are left out of account: see ``mustBeForwarded``.
    package func isNotModified(_ stored: StoredResponse) -> Bool {
        // §4.3.2: conditions are for a request that "can be satisfied by reusing a stored 200 (OK) or 206 (Partial Content)
        // response"; those of one "with semantics that cannot be satisfied with a cached response" are for somebody else.
        guard isSelecting, stored.status == .ok || stored.status == .partialContent else { return false }
        // RFC 9110 §13.2.2: with If-None-Match, whatever is in it, If-Modified-Since is not looked at.
        guard let ifNoneMatch else { return isUnmodified(stored) }
        if ifNoneMatch.isAny { return true }
        guard let tag = EntityTag(stored.fields) else { return false }
        // §13.1.2: "A recipient MUST use the weak comparison function".
        return ifNoneMatch.tags.contains { $0.isWeaklyEqual(to: tag) }
    }

    /// RFC 9111 §4.3.2: `Last-Modified`, without it `Date`, and without that the time of receipt, is not later than the
    /// condition.
    private func isUnmodified(_ stored: StoredResponse) -> Bool {
        // RFC 9110 §13.1.3: to be ignored if "not a valid HTTP-date" or if it "has more than one member".
        guard modifiedSinceCount == 1, let ifModifiedSince,
            let limit = HTTPDate(ifModifiedSince, now: stored.responseTime)
        else { return false }
        if let field = stored.fields.first(where: { $0.name == .lastModified }) {
            // One that cannot be read does not count as none: the origin has said something, and nobody knows what.
            guard let lastModified = HTTPDate(lenient: field, now: stored.responseTime) else { return false }
            return lastModified <= limit
        }
        let date = stored.fields.first { $0.name == .date }.flatMap { HTTPDate($0, now: stored.responseTime) }
        return date ?? stored.responseTime <= limit
    }

    /// `request` with one `If-None-Match`: what it lists itself comes first, then the tags of `stored` that it lacks.
    ///
    /// A 304 then means that what the sender has, or what is stored, is still good; its `ETag` tells which (RFC 9111 §4.3.1).
    /// A tag that no list can hold, one with a comma outside quotes or an open quote, is left out. The request comes back
    /// as it was if there is nothing to add, or ``admitsMoreTags`` is false.
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
