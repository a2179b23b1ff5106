internal import CacheFoundation
internal import CacheStore
internal import HTTPTypes

/// The request of one redirect step, of a load or of a cache that follows redirects.
struct RedirectRequest: Sendable {
    private(set) var target: LoadTarget
    private(set) var method: HTTPRequest.Method
    private(set) var content: RequestContent?
    private(set) var headerFields: HTTPFields

    /// Creates the request of the first step.
    ///
    /// - Parameter method: Replaces the method of the load.
    init(_ load: Load, method: HTTPRequest.Method? = nil) {
        self.init(
            load.target, method ?? load.method, load.headerFields, content: load.content.map { RequestContent($0) })
    }

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
    }
}

extension ResourceLoader {
    /// Returns the transaction for the first redirect step of a load.
    func transaction(_ load: Load) -> CacheTransaction {
        transaction(load, RedirectRequest(load))
    }

    /// Returns the transaction for one redirect step of a load.
    func transaction(_ load: Load, _ step: RedirectRequest) -> CacheTransaction {
        let (settings, url) = (load.settings, step.target.url)
        var fields = step.headerFields
        if !settings.configuration.credentials.isEmpty, !fields.contains(.authorization) {
            fields[.authorization] = url.origin.flatMap { settings.configuration.credentials[$0]?.fieldValue }
        }
        let (request, policy) = (HTTPRequest(step.method, key: url, fields: fields), load.policy(for: url))
        // The key of a redirected QUERY depends on its new URL.
        let key = step.target.key == url ? url.key(for: request, step.content, policy) : step.target.key
        var transaction = CacheTransaction(
            request, content: step.content, key: key, target: url, context: context, settings: settings.cache,
            policy: policy, keepsErrors: false)
        transaction.contentTypeFilter = settings.configuration.contentTypeFilter
        transaction.isBackground = load.isBackground
        transaction.request.addLoaderFields(decodesContent: settings.configuration.decodesContent)
        return transaction
    }
}

extension HTTPRequest {
    /// Adds the fields that a loader sends unless the program or the transport has set them.
    package mutating func addLoaderFields(decodesContent: Bool) {
        headerFields.reserveCapacity(headerFields.count + 2)
        // RFC 9110 §10.1.5: a user agent should send `User-Agent`. Some origins refuse requests without one.
        if !headerFields.contains(.userAgent) { headerFields[.userAgent] = "CacheStore" }
        // A transport that decodes has set `Accept-Encoding` itself. Ranges count encoded bytes.
        guard decodesContent, method == .get, headerFields[.range] == nil, !headerFields.contains(.acceptEncoding)
        else { return }
        headerFields[.acceptEncoding] = ContentCoding.accepted
    }
}
