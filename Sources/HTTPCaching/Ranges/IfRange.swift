/// `If-Range` requests a range only if the client's stored part is still current (RFC 9110 §13.1.5).
package enum IfRange {
    /// Whether the `Range` of `request` applies to the stored response with these fields. Otherwise the cache answers
    /// with the whole representation. Without `If-Range`, the range applies. `responseTime` is the time when the stored
    /// response arrived.
    package static func permitsRange(
        _ request: HTTPRequest, stored fields: HTTPFields, responseTime: HTTPDate
    ) -> Bool {
        guard request.headerFields.contains(.ifRange) else { return true }
        // An empty line or several lines match nothing.
        let lines = request.headerFields.filledLines(.ifRange)
        guard lines.count == 1 else { return false }
        let value = lines[0].trimmedBytes
        if value.isStrongEntityTag {
            // True if the value "exactly matches the ETag field value […] using the strong comparison function".
            let tags = fields.filledLines(.eTag)
            return tags.count == 1 && tags[0].trimmedBytes == value
        }
        // Requires a strong HTTP-date that "exactly matches the Last-Modified field value". Checking the stored value
        // is enough, because an equal value is also a strong date. A stored ETag does not matter: the client chooses
        // between tag and date.
        return StrongValidator.strongLastModified(of: fields, responseTime: responseTime) == value
    }
}
