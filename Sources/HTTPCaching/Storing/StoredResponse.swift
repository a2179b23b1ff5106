package import HTTPTypes

/// A response in the cache, with the data that its reuse requires. The body is stored separately.
package struct StoredResponse: Hashable, Sendable {
    package var status: HTTPResponse.Status
    /// The fields as stored: without those for a connection or a proxy, and always with a usable `Date`.
    package var fields: HTTPFields
    /// The time when the request that stored or last validated the response was sent.
    package var requestTime: HTTPDate
    /// The time when the response to that request arrived.
    package var responseTime: HTTPDate
    /// The fields of that request that `Vary` nominated.
    package var selection: RequestSelection
    /// Whether the body is present and undamaged. Without such a body, the response can neither answer nor be
    /// validated.
    package var hasIntactBody: Bool
    /// Whether the transport removed a content coding from the body.
    package var isBodyDecoded: Bool
    /// The bytes that the body has; `nil` for the whole. The fields of a part are those of the whole: without
    /// `Content-Range`, and with the whole `Content-Length` if known.
    package var part: StoredPart?

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
    /// Returns the head that answers a request with this response.
    ///
    /// Leaves `Date` and all other fields as stored, except as `age` requires.
    ///
    /// - Parameters:
    ///   - age: The current age; `nil` when the origin has validated the response for this very request.
    ///   - policy: The policy, which names the targeted fields for this cache.
    package consuming func head(age: Int64?, policy: CachePolicy = CachePolicy()) -> HTTPResponse {
        if let age {
            if !policy.ignoresDirectives(of: status) { fields.removeWithheld(by: policy) }
            // §4: "When a stored response is used to satisfy a request without validation, a cache MUST generate an Age
            // header field, replacing any present in the response with a value equal to the stored response's
            // current_age".
            fields[.age] = String(age)
        }
        return HTTPResponse(status: status, headerFields: fields)
    }
}

extension HTTPFields {
    /// Removes the fields that `no-cache="…"` lists. They must not be used without validation (RFC 9111 §5.2.2.4).
    package mutating func removeWithheld(by policy: CachePolicy) {
        let targeted =
            policy.targetedFields.isEmpty ? nil : CacheControl(targeted: self, names: policy.targetedFields)
        let withheld = (targeted ?? CacheControl(self)).noCacheFields
        if !withheld.isEmpty { remove(named: Set(withheld)) }
    }
}
