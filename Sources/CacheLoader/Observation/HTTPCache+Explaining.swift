public import HTTPCaching
public import HTTPTypes

extension HTTPCache {
    /// What ``response(for:content:policy:)`` would do with a request now, and by which rule.
    ///
    /// Asks no origin and changes nothing: it is no use of what is stored, and counts as no request. Runs on the calling
    /// thread, and takes a lookup and a look at the file of each response that is stored for the URL; one that this process
    /// has not read yet is held against its digest first, as for an answer. Only an index that turns out to be damaged is
    /// set aside, as by every lookup.
    ///
    /// - Parameters:
    ///   - request: The head, with scheme, authority and path.
    ///   - policy: Takes the place of the configured one for this request.
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, and ``LoadError/store(_:)`` when the store cannot be read, where
    ///   ``response(for:content:policy:)`` would ask the origin.
    public func explanation(
        of request: HTTPRequest, policy: CachePolicy? = nil
    ) throws(LoadError) -> Explanation {
        try transaction(for: request, content: nil, policy: policy).explanation()
    }
}
