package import HTTPTypes

/// A response as the cache holds it, and what must be known to use it again. The body is elsewhere.
package struct StoredResponse: Hashable, Sendable {
    /// The status.
    package var status: HTTPResponse.Status
    /// The fields as stored: without those that belong to a connection or a proxy, and always with a usable `Date`.
    package var fields: HTTPFields
    /// When the request was sent that stored or last validated it.
    package var requestTime: HTTPDate
    /// When the response to that arrived.
    package var responseTime: HTTPDate
    /// What `Vary` nominated in that request.
    package var selection: RequestSelection
    /// Whether the body is there, and whole. Without it nothing can be answered, nor validated.
    package var hasIntactBody: Bool
    /// Whether a content coding was removed from the body on its way here.
    package var isBodyDecoded: Bool
    /// Which bytes the body is, when it is not the whole. The fields are those of the whole all the same: without
    /// `Content-Range`, and with the `Content-Length` of the whole if that is known.
    package var part: StoredPart?

    /// Creates a stored response.
    package init(
        status: HTTPResponse.Status, fields: HTTPFields, requestTime: HTTPDate, responseTime: HTTPDate,
        selection: RequestSelection = RequestSelection(text: ""), hasIntactBody: Bool = true,
        isBodyDecoded: Bool = false, part: StoredPart? = nil
    ) {
        self.status = status
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.selection = selection
        self.hasIntactBody = hasIntactBody
        self.isBodyDecoded = isBodyDecoded
        self.part = part
    }
}

extension StoredResponse {
    /// The head that answers a request with this response.
    ///
    /// `Date` and all else stay as they were stored.
    ///
    /// - Parameters:
    ///   - age: The current age; `nil` when the origin has validated the response for this very request.
    ///   - policy: Says in which fields the response speaks to this cache.
    package consuming func head(age: Int64?, policy: CachePolicy = CachePolicy()) -> HTTPResponse {
        if let age {
            // RFC 9111 §5.2.2.4: the fields that no-cache="…" lists are not to be used without validation.
            let targeted =
                policy.targetedFields.isEmpty ? nil : CacheControl(targeted: fields, names: policy.targetedFields)
            let withheld = (targeted ?? CacheControl(fields)).noCacheFields
            if !withheld.isEmpty, !policy.ignoresDirectives(of: status) { fields.remove(named: Set(withheld)) }
            // §4: "When a stored response is used to satisfy a request without validation, a cache MUST generate an Age
            // header field, replacing any present in the response with a value equal to the stored response's current_age".
            fields[.age] = String(age)
        }
        return HTTPResponse(status: status, headerFields: fields)
    }
}
