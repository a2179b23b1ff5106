package import HTTPTypes

/// Whether the reply to a request may be stored, and the rule that says so.
package struct StorageDecision: Hashable, Sendable {
    /// Whether it may.
    package let storability: Storability
    /// Of several reasons against it the first that was found; of several for it the most explicit.
    package let rule: Rule

    /// Decides about a response with this status and these fields that answers `request`, the request as it was sent.
    package static func make(
        status: HTTPResponse.Status, fields: HTTPFields, request: HTTPRequest, policy: CachePolicy
    ) -> StorageDecision {
        // RFC 9213 §2.2: beside a targeted field Cache-Control and Expires are ignored.
        let targeted =
            policy.targetedFields.isEmpty ? nil : CacheControl(targeted: fields, names: policy.targetedFields)
        let response = Received(
            status: status, fields: fields, control: targeted ?? CacheControl(fields),
            hasExpires: targeted == nil && fields.contains(.expires), request: request, isShared: policy.isShared)

        // RFC 9111 §3: "the request method is understood by the cache"
        guard request.method == .get || request.method == .post else { return refuse(.methodNotUnderstood) }
        let isPOST = request.method == .post
        guard !isPOST || response.isReusableAsGET else { return refuse(.postNotCacheable) }

        guard !policy.storesNothing else { return refuse(.localConfiguration, removesStored: true) }
        if let rule = response.ruleOfNoStore {
            // §5.2.2.5 leaves open what becomes of an older response: the origin has withdrawn what it let us store before.
            // But an error that is not to be stored says nothing about the last good response.
            return refuse(rule, removesStored: response.control.noStore && status.code < 400)
        }
        if let rule = response.ruleOfStatus { return refuse(rule) }
        // §5.2.1.5
        guard !CacheControl(request.headerFields).noStore else { return refuse(.requestNoStore) }
        if policy.isShared, let rule = response.ruleOfSharedCache { return refuse(rule) }
        guard let permission = response.permission else { return refuse(.nothingAllowsStoring) }
        guard fields.count <= Storability.maxFieldCount else { return refuse(.tooManyFields) }
        return StorageDecision(storability: .storable, rule: isPOST ? .postCacheable : permission)
    }

    private static func refuse(_ rule: Rule, removesStored: Bool = false) -> StorageDecision {
        StorageDecision(storability: .notStorable(removesStored: removesStored), rule: rule)
    }
}

/// A response that has just arrived, and what forbids or allows to store it, group by group.
private struct Received {
    let status: HTTPResponse.Status
    let fields: HTTPFields
    let control: CacheControl
    let hasExpires: Bool
    let request: HTTPRequest
    let isShared: Bool

    /// RFC 9111 §5.2.2.3: beside `must-understand`, `no-store` is for those who do not know the status.
    var ruleOfNoStore: Rule? {
        if control.mustUnderstand { return status.isUnderstood ? nil : .mustUnderstand }
        return control.noStore ? .noStore : nil
    }

    var ruleOfStatus: Rule? {
        guard (200...599).contains(status.code) else { return .statusNotFinal }
        // A part of a body, or none, is not a response that could be reused as such.
        if status == .partialContent || status == .notModified { return .statusNotUnderstood }
        // These are about the conditions and the range of one request, and no answer to another.
        if status == .preconditionFailed { return .preconditionFailed }
        if status == .rangeNotSatisfiable { return .rangeNotSatisfiable }
        return nil
    }

    var ruleOfSharedCache: Rule? {
        // §5.2.2.7 would let a shared cache store what private="…" does not list; this one does not.
        if control.isPrivate { return .privateInSharedCache }
        // §3.5
        guard control.allowsSharing || !request.headerFields.contains(.authorization) else {
            return .authorizationInSharedCache
        }
        return nil
    }

    /// RFC 9111 §3: "the response contains at least one of the following"; of several the one that decides most.
    ///
    /// A directive that cannot be read is none of them: what is left of it only restricts.
    var permission: Rule? {
        // §5.2.2.10: s-maxage means nothing to a private cache.
        if isShared, case .seconds = control.sharedMaxAge { return .sharedMaxAgeDirective }
        if case .seconds = control.maxAge { return .maxAgeDirective }
        if hasExpires { return .expiresField }
        if control.isPublic { return .publicDirective }
        if !isShared, control.privateIsReadable { return .privateDirective }
        return status.isHeuristicallyCacheable ? .heuristicallyCacheable : nil
    }

    /// Whether this response to a POST is what a GET of the same target would be answered (RFC 9110 §9.3.3).
    ///
    /// It has to say so by `Content-Location`, which says it only in a 2xx (§8.7); of those, this cache takes no other than
    /// 200 for the answer to a GET.
    var isReusableAsGET: Bool {
        guard status == .ok, hasExplicitFreshness else { return false }
        // Of several lines nobody can tell which was meant.
        var locations = fields.filter { $0.name == .contentLocation }[...]
        guard let location = locations.popFirst(), locations.isEmpty,
            let reference = location.withUnsafeBytesOfValue({ URIReference($0.trimmed) }),
            let target = URIReference(target: request)
        else { return false }
        return reference.resolved(against: target).isEquivalent(to: target)
    }

    /// RFC 9111 §4.2.1, without the guess of §4.2.2. A number that cannot be read is none.
    private var hasExplicitFreshness: Bool {
        if isShared, case .seconds = control.sharedMaxAge { return true }
        if case .seconds = control.maxAge { return true }
        return control.maxAge == .absent && hasExpires
    }
}

extension URIReference {
    /// The target URI of `request`; `nil` if it does not name one.
    fileprivate init?(target request: HTTPRequest) {
        guard let scheme = request.scheme, let authority = request.authority else { return nil }
        self.init("\(scheme)://\(authority)\(request.path ?? "")".utf8)
    }
}
