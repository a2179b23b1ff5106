extension HTTPCache {
    /// Explains how ``response(for:content:policy:onInterimResponse:)`` would answer a request now, and by which rule.
    ///
    /// Ignores responses that are still arriving for another request. Sends no request, and counts neither as a request
    /// nor as a use of a stored response. Changes nothing, except that it quarantines a damaged index, as every lookup
    /// does.
    ///
    /// Runs on the calling thread. Costs one lookup, and a check of the body file of each response stored for the URL.
    /// Verifies the digest of a file that this process has not read yet, as for an answer.
    ///
    /// - Parameters:
    ///   - request: The head, with scheme, authority and path.
    ///   - content: The content of the request, which matters for the method QUERY, or `nil` for none.
    ///   - policy: Changes properties of the configured policy for this request.
    /// - Throws: ``LoadError/invalidURL(_:reason:)``; ``LoadError/store(_:)`` if the store cannot be read. In the
    ///   second case, ``response(for:content:policy:onInterimResponse:)`` would ask the origin.
    public func explanation(
        of request: HTTPRequest, content: RequestContent? = nil, policy: CachePolicy.Override = .init()
    ) throws(LoadError) -> Explanation {
        try transaction(for: request, content: content, policy: policy).explanation()
    }
}
