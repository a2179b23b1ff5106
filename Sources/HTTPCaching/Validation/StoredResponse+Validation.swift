// The folder `Validation/` has conditional requests and their results: preconditions, entity tags, and the updates by a
// 304 or by the reply to a HEAD. The folder may use `Fields/`, stored responses, policies, freshness, `Vary` and
// `StorageDecision`. The folder sends no request, and does not choose the response that answers.

extension StoredResponse {
    /// Returns `request` made conditional on this response. Returns `nil` without a validator, or without a body that a
    /// 304 could confirm. RFC 9111 §4.3.1: sends both validators of a response byte for byte. With `Range`, a request
    /// carries the date only without another validator. Does not use a date that the origin did not send: the origin
    /// would compare it with a different clock. If `request` already `isConditional`, the result also has its entity
    /// tags.
    package func conditionalRequest(from request: HTTPRequest, isConditional: Bool = false) -> HTTPRequest? {
        guard hasIntactBody else { return nil }
        let original = request
        var request = request
        let ownTags = isConditional ? Preconditions(request) : nil
        var hasValidator = false
        for (validator, precondition) in Self.preconditions {
            if hasValidator, request.headerFields.contains(.range) { break }
            guard var field = fields.first(where: { $0.name == validator }), !field.isBlank else { continue }
            if validator == .eTag, EntityTag(fields) == nil { continue }
            field.name = precondition
            request.headerFields[fields: precondition] = [field]
            hasValidator = true
        }
        guard hasValidator else { return nil }
        guard let ownTags, !ownTags.entityTags.isEmpty else { return request }
        return ownTags.adding([self], to: original)
    }

    private static let preconditions: [(validator: HTTPField.Name, precondition: HTTPField.Name)] = [
        (.eTag, .ifNoneMatch), (.lastModified, .ifModifiedSince),
    ]
}

extension HTTPField {
    fileprivate var isBlank: Bool { withUnsafeBytesOfValue { $0.trimmed.isEmpty } }
}
