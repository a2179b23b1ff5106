/// The 304 with which a cache answers a conditional request (RFC 9110 §15.4.5).
package enum NotModified {
    /// Returns the fields of a 304 in place of a response with the fields `stored`. Pass the fields as delivered: with
    /// `Age`, and without the fields that `no-cache="…"` withholds. RFC 9110 §15.4.5 requires `Cache-Control`,
    /// `Content-Location`, `Date`, `ETag`, `Expires` and `Vary`, and no other "representation metadata". Includes
    /// fields about anything else, such as `Age`, `Link` or `Content-Security-Policy`, because they may have changed
    /// since the receiver stored them.
    package static func head(of stored: HTTPFields) -> HTTPFields {
        var fields = stored
        fields.remove(named: representationMetadata)
        // "Last-Modified might be useful if the response does not have an ETag field".
        if EntityTag(stored) != nil { fields[fields: .lastModified] = [] }
        return fields
    }

    /// The fields that describe or frame the content, which a 304 lacks (RFC 9110 §8 and §14.4, RFC 9530, RFC 6266).
    private static let representationMetadata: Set<String> = [
        "content-digest", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-md5", "content-range", "content-type", "digest", "repr-digest", "trailer", "transfer-encoding",
        "unencoded-digest",
    ]
}
