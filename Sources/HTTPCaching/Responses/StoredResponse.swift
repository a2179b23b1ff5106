// The folder `Responses/` has the head of a stored response, the exchange from which it comes, and the digests of
// content. The folder may use `Fields/`, `Ranges/`, `Rules/` and `Vary/`. The owner of the cache keeps the body. The
// folder does not decide whether a response answers or is stored.

/// The head of a stored response, and the facts that later decisions need. The owner of the cache keeps the body.
///
/// ``ReplyDecision`` creates stored responses. To persist a response, encode it, or store its properties and pass them
/// to the initializer.
public struct StoredResponse: Hashable, Sendable {
    /// The status.
    public var status: HTTPResponse.Status
    /// The stored fields: without fields for one connection or proxy (RFC 9111 §3.1), and with a usable `Date`.
    public var fields: HTTPFields
    /// The time of the request that stored or last validated the response.
    public var requestTime: HTTPDate
    /// The time when the reply to that request arrived.
    public var responseTime: HTTPDate
    /// That request's fields that `Vary` nominates.
    public var varyKey: VaryKey
    /// Whether the body is present and whole. A response without its body can neither answer nor be validated.
    public var hasIntactBody: Bool
    /// Whether the transport removed a content coding from the body.
    public var isBodyDecoded: Bool
    /// The stored range of bytes, or `nil` for the whole.
    ///
    /// The fields always describe the whole: without `Content-Range`, and with the `Content-Length` of the whole, if
    /// known.
    public var part: StoredPart?

    /// Creates a stored response from its parts.
    public init(
        status: HTTPResponse.Status, fields: HTTPFields, requestTime: HTTPDate, responseTime: HTTPDate,
        varyKey: VaryKey = VaryKey(text: ""), hasIntactBody: Bool = true, isBodyDecoded: Bool = false,
        part: StoredPart? = nil
    ) {
        self.status = status
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.varyKey = varyKey
        self.hasIntactBody = hasIntactBody
        self.isBodyDecoded = isBodyDecoded
        self.part = part
    }
}

extension StoredResponse {
    /// The time of generation: `Date`, or the time of receipt without a usable `Date` (RFC 9110 §6.6.1).
    var date: HTTPDate { fields.date(receivedAt: responseTime) ?? responseTime }

    /// Returns the head that answers a request with the whole response. ``StoredAnswer`` also supports conditions and
    /// ranges.
    ///
    /// `Date` and all other fields stay as stored. With an age, sets `Age` and withholds the fields that `no-cache="…"`
    /// lists (RFC 9111 §5.2.2.4).
    ///
    /// - Parameters:
    ///   - age: The current age, or `nil` for a response that the origin validated for this request.
    ///   - policy: Names the targeted fields that address the cache.
    public consuming func head(age: Int64?, policy: CachePolicy = CachePolicy()) -> HTTPResponse {
        if let age {
            if !policy.ignoresDirectives(of: status) { fields.removeWithheld(by: policy) }
            // §4: "When a stored response is used to satisfy a request without validation, a cache MUST generate an Age
            // header field, replacing any present in the response with a value equal to the stored response's
            // current_age".
            // Copies once, with room for Cache-Status.
            fields.reserveCapacity(fields.count + 2)
            fields[.age] = String(age)
        }
        return HTTPResponse(status: status, headerFields: fields)
    }
}

extension HTTPFields {
    /// Removes the fields that `no-cache="…"` lists, which must not be used without validation (RFC 9111 §5.2.2.4).
    package mutating func removeWithheld(by policy: CachePolicy) {
        let control = CacheControl(targeted: self, names: policy.targetedFields) ?? CacheControl(self)
        let withheld = control.noCacheFields
        if !withheld.isEmpty { remove(named: Set(withheld)) }
    }
}
