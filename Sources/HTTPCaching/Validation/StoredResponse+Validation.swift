package import HTTPTypes

extension StoredResponse {
    /// `request` made conditional on this response; `nil` when there is nothing to ask about, or no body that a 304 could
    /// confirm.
    ///
    /// RFC 9111 §4.3.1: both validators, if there are two, to the letter. A date that the origin did not give is not
    /// invented: its `If-Modified-Since` would be compared with a clock that is not ours. §4.3.1 limits the date to a
    /// validation that is not about a range, unless there is nothing else.
    ///
    /// - Parameter isConditional: Whether `request` has conditions of its own. Then its entity-tags are asked about, too.
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
    /// Whether there is nothing in it.
    fileprivate var isBlank: Bool { withUnsafeBytesOfValue { $0.trimmed.isEmpty } }
}
