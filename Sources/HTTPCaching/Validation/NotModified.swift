package import HTTPTypes

/// The 304 with which a cache answers a condition itself (RFC 9110 §15.4.5).
package enum NotModified {
    /// The fields of a 304 that stands for a response with the fields `stored`, as that would have been delivered: with
    /// `Age`, and without what `no-cache="…"` withholds.
    ///
    /// RFC 9110 §15.4.5 asks for `Cache-Control`, `Content-Location`, `Date`, `ETag`, `Expires` and `Vary`, and for no
    /// other "representation metadata"; fields that are not about the representation, such as `Age`, `Link` or
    /// `Content-Security-Policy`, come along, since they may have changed since the receiver stored them.
    package static func head(of stored: HTTPFields) -> HTTPFields {
        var fields = stored
        fields.remove(named: representationMetadata)
        // "Last-Modified might be useful if the response does not have an ETag field".
        if EntityTag(stored) != nil { fields[fields: .lastModified] = [] }
        return fields
    }

    /// RFC 9110 §8 and §14.4, RFC 9530, RFC 6266: what describes the content, which a 304 has none of, and what frames it.
    private static let representationMetadata: Set<String> = [
        "content-digest", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-md5",
        "content-range", "content-type", "digest", "repr-digest", "trailer", "transfer-encoding",
    ]
}
