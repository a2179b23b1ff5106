internal import HTTPTypes

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
