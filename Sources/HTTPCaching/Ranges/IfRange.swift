package import HTTPTypes

/// `If-Range`: a range only of the representation of which the client has the rest (RFC 9110 §13.1.5).
package enum IfRange {
    /// Whether the `Range` of `request` may be heeded for the stored response with these fields.
    ///
    /// `false` means that the `Range` is to be ignored, and the whole representation is the answer.
    ///
    /// - Parameters:
    ///   - request: The request; without an `If-Range` it permits the range.
    ///   - fields: The fields of the stored response.
    ///   - responseTime: When that arrived.
    package static func permitsRange(
        _ request: HTTPRequest, stored fields: HTTPFields, responseTime: HTTPDate
    ) -> Bool {
        guard request.headerFields.contains(.ifRange) else { return true }
        // An empty one, or two, can match nothing.
        let lines = request.headerFields.filledLines(.ifRange)
        guard lines.count == 1 else { return false }
        let value = lines[0].trimmedBytes
        if value.isStrongEntityTag {
            // True if it "exactly matches the ETag field value […] using the strong comparison function".
            let tags = fields.filledLines(.eTag)
            return tags.count == 1 && tags[0].trimmedBytes == value
        }
        // An HTTP-date that "exactly matches the Last-Modified field value" and is strong. That is asked of the stored one,
        // which then is a date as well. An ETag beside it does not matter here: it is for the client to prefer it.
        return StrongValidator.strongLastModified(of: fields, responseTime: responseTime) == value
    }

    /// The `If-Range` with which the rest of a stored response may be asked for; `nil` when none may.
    ///
    /// A client "MUST NOT generate an If-Range header field containing an entity tag that is marked as weak", nor "an
    /// HTTP-date unless […] the client has no entity tag […] and the date is a strong validator".
    package static func field(for fields: HTTPFields, responseTime: HTTPDate) -> HTTPField? {
        StrongValidator(fields, responseTime: responseTime)?.ifRange
    }
}
