internal import CacheStore
internal import HTTPTypes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What one hop of a load asks for.
struct HopRequest: Sendable {
    private(set) var target: LoadTarget
    private(set) var method: HTTPRequest.Method
    private(set) var content: Data?
    private(set) var headerFields: HTTPFields

    /// The first.
    init(_ load: Load) {
        target = load.target
        method = load.method
        content = load.content
        headerFields = load.headerFields
    }

    /// Becomes what a redirect makes of it (RFC 9110 §15.4).
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
    func transaction(_ load: Load, _ request: HopRequest) -> CacheTransaction {
        transaction(load, request.target, request.headerFields, request.method, request.content)
    }

    func transaction(
        _ load: Load, _ target: LoadTarget, _ fields: HTTPFields, _ method: HTTPRequest.Method = .get,
        _ content: Data? = nil
    ) -> CacheTransaction {
        var fields = fields
        if !load.configuration.credentials.isEmpty, !fields.contains(.authorization) {
            fields[.authorization] = target.url.origin.flatMap { load.configuration.credentials[$0]?.fieldValue }
        }
        var transaction = CacheTransaction(
            HTTPRequest(method, key: target.url, fields: fields), content: content.map { RequestContent($0) },
            key: target.key, target: target.url, context: context, configuration: load.settings.cache,
            policy: load.policy, keepsErrors: false)
        transaction.contentTypes = load.configuration.contentTypes
        // A transport that decodes says so itself. Ranges count encoded bytes.
        if load.configuration.decodesContent, method == .get, fields[.range] == nil,
            !transaction.request.headerFields.contains(.acceptEncoding)
        {
            transaction.request.headerFields[.acceptEncoding] = ContentCoding.accepted
        }
        return transaction
    }
}
