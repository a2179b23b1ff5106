internal import CacheFoundation
internal import CacheStore

/// The request of one redirect step, of a load or of a cache that follows redirects.
struct RedirectRequest: Sendable {
    private(set) var target: LoadTarget
    private(set) var method: HTTPRequest.Method
    private(set) var content: RequestContent?
    private(set) var headerFields: HTTPFields
    /// The number of redirects that led to the request.
    private(set) var number = 0

    init(_ target: LoadTarget, _ method: HTTPRequest.Method, _ headerFields: HTTPFields, content: RequestContent?) {
        self.target = target
        self.method = method
        self.headerFields = headerFields
        self.content = content
    }

    /// Changes the request as a redirect demands (RFC 9110 §15.4).
    mutating func follow(_ status: HTTPResponse.Status, to next: CacheKey) {
        if !Redirect.isSameOrigin(target.url, next) { Redirect.removeCredentials(from: &headerFields) }
        let nextMethod = Redirect.method(after: method, status: status)
        if nextMethod != method {
            content = nil
            Redirect.removeContentFields(from: &headerFields)
        }
        method = nextMethod
        target = LoadTarget(next)
        number += 1
    }

    /// Takes redirect steps until one has content. Returns `nil` after too many redirects. Stored redirects can form a
    /// cycle that the origins no longer have. After too many redirects, repeats the steps from the first stored one
    /// without the store, but not the requests before it. The second argument of `step` is true if the step must not
    /// use the store.
    func follow<Content, Failure>(
        atMost limit: Int, _ step: (RedirectRequest, Bool) async throws(Failure) -> RedirectStep<Content>
    ) async throws(Failure) -> Content? {
        var start: RedirectRequest? = self
        for bypassesStore in [false, true] {
            guard var request = start else { break }
            start = nil
            while request.number <= max(0, limit) {
                switch try await step(request, bypassesStore) {
                case .content(let content): return content
                case .redirect(let status, let next, let isStored):
                    if start == nil, isStored { start = request }
                    request.follow(status, to: next)
                }
            }
        }
        return nil
    }
}

enum RedirectStep<Content> {
    case content(Content)
    /// A redirect, with its status and its target. `isStored` is true if the store answered without the origin.
    case redirect(HTTPResponse.Status, to: CacheKey, isStored: Bool)
}
