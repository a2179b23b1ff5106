package import HTTPTypes

extension StoredResponse {
    /// `request` made conditional on this response; `nil` when there is nothing to ask about, or no body that a 304 could
    /// confirm.
    ///
    /// RFC 9111 §4.3.1: both validators, if there are two, to the letter. A date that the origin did not give is not
    /// invented: its `If-Modified-Since` would be compared with a clock that is not ours.
    package func conditionalRequest(from request: HTTPRequest) -> HTTPRequest? {
        guard hasIntactBody else { return nil }
        var request = request
        var hasValidator = false
        for (validator, precondition) in Self.preconditions {
            guard var field = fields.first(where: { $0.name == validator }), !field.isBlank else { continue }
            field.name = precondition
            request.headerFields[fields: precondition] = [field]
            hasValidator = true
        }
        return hasValidator ? request : nil
    }

    private static let preconditions: [(validator: HTTPField.Name, precondition: HTTPField.Name)] = [
        (.eTag, .ifNoneMatch), (.lastModified, .ifModifiedSince),
    ]
}

extension HTTPField {
    /// Whether there is nothing in it.
    fileprivate var isBlank: Bool { withUnsafeBytesOfValue { $0.trimmed.isEmpty } }
}
