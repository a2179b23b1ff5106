/// Decides whether the reply to a request may be stored, and names the deciding rule (RFC 9111 §3).
///
/// A pure function of its arguments, safe on any thread.
package struct StorageDecision: Hashable, Sendable {
    /// Whether the reply may be stored.
    ///
    /// Freshness and validators decide about reuse. A response with neither can answer only
    /// ``CachePolicy/Mode/cacheFirst`` and ``CachePolicy/Mode/cacheOnly``. The response to a POST answers GET and HEAD,
    /// and never a POST.
    package let isStorable: Bool
    /// Whether the reply must not be stored, and the stored responses for the same key must be removed too.
    package let removesStored: Bool
    /// The first reason against storing, or the most explicit of several reasons for it.
    package let rule: Rule

    /// The most fields of a stored response. No real origin sends more, and merging takes quadratic time.
    package static let maxFieldCount = 1000

    /// Decides about a response with this status and these fields. `request` is the request as sent.
    ///
    /// For a 206, pass 200: the rules for the whole apply to a part (§3.3).
    package init(status: HTTPResponse.Status, fields: HTTPFields, request: HTTPRequest, policy: CachePolicy) {
        self = Self.make(status, fields, request, policy)
    }

    private init(isStorable: Bool, removesStored: Bool = false, rule: Rule) {
        self.isStorable = isStorable
        self.removesStored = removesStored
        self.rule = rule
    }

    private static func make(
        _ status: HTTPResponse.Status, _ fields: HTTPFields, _ request: HTTPRequest, _ policy: CachePolicy
    ) -> StorageDecision {
        // RFC 9213 §2.2: a targeted field overrides Cache-Control and Expires.
        let targeted = CacheControl(targeted: fields, names: policy.targetedFields)
        let response = Received(
            status: status, fields: fields, control: targeted ?? CacheControl(fields),
            hasExpires: targeted == nil && fields.contains(.expires), request: request, isShared: policy.isShared)

        // RFC 9111 §3: "the request method is understood by the cache"
        guard request.method == .get || request.method == .post else { return refuse(.methodNotUnderstood) }
        let isPOST = request.method == .post
        guard !isPOST || response.isReusableAsGET else { return refuse(.postNotCacheable) }

        guard !policy.storesNothing else { return refuse(.localConfiguration, removesStored: true) }
        if !policy.ignoresDirectives(of: status), let rule = response.ruleOfNoStore {
            // §5.2.2.5 does not say whether to remove an older response. A no-store withdraws the origin's earlier
            // permission to store. But an error that must not be stored says nothing about the last good response.
            return refuse(rule, removesStored: response.control.noStore && status.code < 400)
        }
        if let rule = response.ruleOfStatus { return refuse(rule) }
        // §5.2.1.5
        guard !CacheControl(request.headerFields).noStore else { return refuse(.requestNoStore) }
        if policy.isShared, let rule = response.ruleOfSharedCache { return refuse(rule) }
        guard let permission = response.permission else { return refuse(.nothingAllowsStoring) }
        guard fields.count <= maxFieldCount else { return refuse(.tooManyFields) }
        return StorageDecision(isStorable: true, rule: isPOST ? .postCacheable : permission)
    }

    private static func refuse(_ rule: Rule, removesStored: Bool = false) -> StorageDecision {
        StorageDecision(isStorable: false, removesStored: removesStored, rule: rule)
    }
}

/// A received response, with the rules that forbid or permit storing it, group by group.
private struct Received {
    let status: HTTPResponse.Status
    let fields: HTTPFields
    let control: CacheControl
    let hasExpires: Bool
    let request: HTTPRequest
    let isShared: Bool

    /// RFC 9111 §5.2.2.3: with `must-understand`, `no-store` applies only to caches that do not understand the status.
    var ruleOfNoStore: Rule? {
        if control.mustUnderstand { return status.isUnderstood ? nil : .mustUnderstand }
        return control.noStore ? .noStore : nil
    }

    var ruleOfStatus: Rule? {
        guard (200...599).contains(status.code) else { return .statusNotFinal }
        // A 206 has only a part of a body, and a 304 has none. Neither is reusable by itself.
        if status == .partialContent || status == .notModified { return .statusNotUnderstood }
        // These statuses concern the preconditions and the range of one request, and answer no other request.
        if status == .preconditionFailed { return .preconditionFailed }
        if status == .rangeNotSatisfiable { return .rangeNotSatisfiable }
        return nil
    }

    var ruleOfSharedCache: Rule? {
        // §5.2.2.7 lets a shared cache store the fields that private="…" does not list. This cache does not.
        if control.isPrivate { return .privateInSharedCache }
        // §3.5
        guard control.allowsSharing || !request.headerFields.contains(.authorization) else {
            return .authorizationInSharedCache
        }
        return nil
    }

    /// RFC 9111 §3: "the response contains at least one of the following". Returns the most decisive permission. An
    /// unreadable directive can restrict, but never permits.
    var permission: Rule? {
        // §5.2.2.10: a private cache ignores s-maxage.
        if isShared, case .seconds = control.sharedMaxAge { return .sharedMaxAgeDirective }
        if case .seconds = control.maxAge { return .maxAgeDirective }
        if hasExpires { return .expiresField }
        if control.isPublic { return .publicDirective }
        if !isShared, control.isPrivate, !control.privateIsMalformed { return .privateDirective }
        return status.isHeuristicallyCacheable ? .heuristicallyCacheable : nil
    }

    /// Whether this response to a POST could answer a GET of the same target (RFC 9110 §9.3.3). `Content-Location` must
    /// equal the target, which has this meaning only in a 2xx (§8.7). Of the 2xx statuses, this cache accepts only 200
    /// as the answer to a GET.
    var isReusableAsGET: Bool {
        guard status == .ok, hasExplicitFreshness else { return false }
        // Several lines are ambiguous.
        guard let location = fields.onlyLine(.contentLocation),
            let reference = location.withUnsafeBytesOfValue({ URIReference($0.trimmed) }),
            let target = URIReference(target: request)
        else { return false }
        return reference.resolved(against: target).isEquivalent(to: target)
    }

    /// Whether the response states its freshness lifetime (RFC 9111 §4.2.1). Heuristics (§4.2.2) and unreadable numbers
    /// do not count.
    private var hasExplicitFreshness: Bool {
        if isShared, case .seconds = control.sharedMaxAge { return true }
        if case .seconds = control.maxAge { return true }
        return control.maxAge == .absent && hasExpires
    }
}

extension URIReference {
    /// The target URI of `request`, or `nil` without a scheme or an authority.
    fileprivate init?(target request: HTTPRequest) {
        guard let scheme = request.scheme, let authority = request.authority else { return nil }
        self.init("\(scheme)://\(authority)\(request.path ?? "")".utf8)
    }
}
