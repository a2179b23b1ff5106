internal import CacheFoundation
internal import CacheStore
internal import HTTPTypes

extension RedirectRequest {
    /// Creates the request of the first step. `method` replaces the method of the load.
    init(_ load: Load, method: HTTPRequest.Method? = nil) {
        self.init(
            load.target, method ?? load.method, load.headerFields, content: load.content.map { RequestContent($0) })
    }
}

extension ResourceLoader {
    /// Returns the transaction for the first redirect step of a load.
    func transaction(_ load: Load) -> CacheTransaction {
        transaction(load, RedirectRequest(load))
    }

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
            policy: policy, keepsErrors: false, contentTypeFilter: settings.configuration.contentTypeFilter,
            isBackground: load.isBackground, snapshot: load.snapshot)
        transaction.request.addLoaderFields(decodesContent: settings.configuration.decodesContent)
        return transaction
    }
}
