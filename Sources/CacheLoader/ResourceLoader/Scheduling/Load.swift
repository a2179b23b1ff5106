internal import CacheFoundation
internal import CacheStore

/// A load, with its request and the configuration at its creation. Equal loads are coalesced.
struct Load: Hashable, Sendable {
    let target: LoadTarget
    let method: HTTPRequest.Method
    let content: Data?
    /// Equal regardless of the order of fields with different names.
    let headerFields: HTTPFields
    /// The policy for the URL of the load.
    let policy: CachePolicy
    /// The changes of the request to the configured policy.
    private let requested: CachePolicy.Override
    /// Whether ``requested`` also changes the policies of other URLs. Otherwise all redirect steps follow ``policy``.
    private let changesOtherPolicies: Bool
    /// Makes loads unequal that must not be coalesced.
    private let number: UInt64
    /// The number of cancellations before the load was created; see ``Cancellations``.
    let cancellations: UInt64
    /// The state of the key in the index before the load began, if the index was queried.
    var snapshot: KeySnapshot?
    /// The generation of the store before the load began or joined another one. `nil` for an unreadable store.
    var generation: StoreGeneration?
    /// The key of a stored response that was refused and removed before the load began. The next request for the key
    /// bypasses upstream caches.
    var refused: CacheKey?
    let settings: LoaderSettings
    let retry: RetryPolicy
    let timeout: Duration?
    /// Whether the load validates a stored response that a caller has received already.
    let isBackground: Bool

    init(_ request: ResourceRequest, _ settings: LoaderSettings, cancellations: UInt64) throws(LoadError) {
        let target = try LoadTarget(request, settings)
        self.init(request, target, settings, cancellations: cancellations)
    }

    /// `target` replaces the URL and the key of the request, and `policy` replaces its policy.
    init(
        _ request: ResourceRequest, _ target: LoadTarget, _ settings: LoaderSettings, cancellations: UInt64,
        isBackground: Bool = false, policy: CachePolicy? = nil
    ) {
        self.target = target
        self.isBackground = isBackground
        method = request.method
        content = request.content
        headerFields = request.headerFields
        self.policy = policy ?? settings.policy(for: target.url).applying(request.policy)
        requested = request.policy
        changesOtherPolicies = policy == nil && !settings.configuration.urlPolicies.isEmpty
        self.cancellations = cancellations
        self.settings = settings
        let isShareable = Self.isShareable(request.method, hasContent: request.content != nil, target)
        number = isShareable ? 0 : settings.nextNumber()
        // RFC 9110 §9.2.2: do not retry a request whose method is not idempotent.
        let isIdempotent = isShareable || request.method.isSafe || [.put, .delete].contains(request.method)
        retry = isIdempotent ? request.retry ?? settings.configuration.retry : .never
        timeout = request.timeout ?? settings.configuration.timeout
    }

    static func == (first: Load, second: Load) -> Bool {
        first.number == second.number && first.isBackground == second.isBackground && first.method == second.method
            && first.settings.generation == second.settings.generation && first.target == second.target
            && first.headerFields == second.headerFields && first.content == second.content
            && first.hasSamePolicies(as: second)
    }

    private func hasSamePolicies(as other: Load) -> Bool {
        policy == other.policy && changesOtherPolicies == other.changesOtherPolicies
            && (!changesOtherPolicies || requested == other.requested)
    }

    /// Hashes only properties that unequal loads of one key often differ in: each waiter hashes its load three times.
    func hash(into hasher: inout Hasher) {
        hasher.combine(target.key)
        hasher.combine(number)
        if !headerFields.isEmpty { hasher.combine(headerFields) }
    }

    /// Whether two loads have the same request, even if they are not coalesced: an unsafe method, or a change of the
    /// configuration between the two, makes them unequal.
    func hasSameRequest(as other: Load) -> Bool {
        isBackground == other.isBackground && method == other.method && target == other.target
            && headerFields == other.headerFields && content == other.content
            && (requested == other.requested || hasSamePolicies(as: other))
    }

    /// Returns the policy for a redirect step to a URL.
    func policy(for url: CacheKey) -> CachePolicy {
        guard changesOtherPolicies, url != target.url else { return policy }
        return settings.policy(for: url).applying(requested)
    }

    var configuration: ResourceLoader.Configuration { settings.configuration }

    var host: String { target.url.host ?? "" }

    /// Whether other loads may share the response.
    var isShareable: Bool { Self.isShareable(method, hasContent: content != nil, target) }

    private static func isShareable(_ method: HTTPRequest.Method, hasContent: Bool, _ target: LoadTarget) -> Bool {
        // Requests share a response to content only if the content is part of the key.
        if hasContent || method == .query { return target.key != target.url }
        return method == .get || method == .head
    }

    /// Whether a stored response may be the content that the load asks for.
    var mayBeStored: Bool { isShareable && method != .head }
}

/// A caller that waits for the result of a load.
struct LoadWaiter: Sendable {
    let plan: ProcessingPlan
    /// The key of the value in memory. `nil` when memory must not keep the value.
    let memoryKey: LoaderMemory.Key?
    /// Receives the events of the load, the end last. Called on any thread, without a lock.
    let receive: @Sendable (WaiterEvent) -> Void
}
