extension OriginReply {
    /// Returns a 200 with `body` and the given fields.
    public static func ok(
        _ body: some Sequence<UInt8> = [],
        cacheControl: String? = nil,
        etag: String? = nil,
        lastModified: String? = nil,
        contentType: String? = nil
    ) -> OriginReply {
        var fields = caching(cacheControl: cacheControl, etag: etag, lastModified: lastModified)
        fields[.contentType] = contentType
        return OriginReply(fields: fields, body: Array(body))
    }

    /// Returns a 304 with the given fields.
    public static func notModified(
        etag: String? = nil, lastModified: String? = nil, cacheControl: String? = nil
    ) -> OriginReply {
        OriginReply(
            status: .notModified, fields: caching(cacheControl: cacheControl, etag: etag, lastModified: lastModified))
    }

    /// Returns a reply with `status`, such as `.status(404)`.
    public static func status(
        _ status: HTTPResponse.Status, fields: HTTPFields = [:], body: some Sequence<UInt8> = []
    ) -> OriginReply {
        OriginReply(status: status, fields: fields, body: Array(body))
    }

    private static func caching(cacheControl: String?, etag: String?, lastModified: String?) -> HTTPFields {
        var fields = HTTPFields()
        fields[.cacheControl] = cacheControl
        fields[.eTag] = etag
        fields[.lastModified] = lastModified
        return fields
    }
}
