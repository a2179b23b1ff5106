extension OriginReply {
    /// Answers `request` with a resource: 304 if the request's condition matches, otherwise 200.
    ///
    /// RFC 9110 §13.2.2: `If-None-Match` takes precedence over `If-Modified-Since`. Methods other than GET and HEAD
    /// receive the 200.
    ///
    /// - Parameters:
    ///   - body: The content of the 200.
    ///   - request: The request to answer.
    ///   - etag: The entity tag with its quotes, and with `W/` if weak.
    ///   - lastModified: An IMF-fixdate.
    ///   - cacheControl: The `Cache-Control` of both, if any.
    ///   - contentType: The `Content-Type` of the 200, if any.
    public static func resource(
        _ body: some Sequence<UInt8>,
        for request: OriginRequest,
        etag: String? = nil,
        lastModified: String? = nil,
        cacheControl: String? = nil,
        contentType: String? = nil
    ) -> OriginReply {
        if matches(request, etag: etag, lastModified: lastModified) {
            return .notModified(etag: etag, lastModified: lastModified, cacheControl: cacheControl)
        }
        return .ok(
            body, cacheControl: cacheControl, etag: etag, lastModified: lastModified, contentType: contentType)
    }

    private static func matches(_ request: OriginRequest, etag: String?, lastModified: String?) -> Bool {
        guard request.method == .get || request.method == .head else { return false }
        if let condition = request.fields[.ifNoneMatch] {
            return EntityTagCondition(condition).matches(etag)
        }
        guard
            let condition = request.fields[.ifModifiedSince].flatMap(OriginDate.seconds(of:)),
            let modified = lastModified.flatMap(OriginDate.seconds(of:))
        else { return false }
        return modified <= condition
    }
}

/// The value of an `If-None-Match` field.
private struct EntityTagCondition {
    private let isAny: Bool
    /// The tags without their quotes and `W/`.
    private let opaqueTags: Set<Substring>

    init(_ value: String) {
        isAny = value.filter { $0 != " " && $0 != "\t" } == "*"
        // A tag may contain a comma (RFC 9110 §8.8.3), so split at quotes: every second part is a tag.
        let parts = value.split(separator: "\"", omittingEmptySubsequences: false)
        opaqueTags = Set(parts.indices.filter { $0 % 2 == 1 && $0 + 1 < parts.count }.map { parts[$0] })
    }

    /// RFC 9110 §8.8.3.2: weak comparison ignores `W/` and compares the opaque tags.
    func matches(_ etag: String?) -> Bool {
        if isAny { return true }
        guard let parts = etag?.split(separator: "\"", omittingEmptySubsequences: false), parts.count == 3 else {
            return false
        }
        return opaqueTags.contains(parts[1])
    }
}
