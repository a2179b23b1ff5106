/// Determines how a cache stores and reuses responses.
///
/// The default is a private cache that follows RFC 9111 without extensions.
public struct CachePolicy: Hashable, Sendable {
    /// Determines when a stored response may answer.
    @nonexhaustive
    public enum Mode: Hashable, Sendable {
        /// A fresh stored response answers. The cache validates any other stored response first.
        case http

        /// A stored response answers, fresh or stale, as if the request had `max-stale`.
        ///
        /// The cache still validates a response that must not be served stale: always with `no-cache`, and once stale
        /// with `must-revalidate`.
        case cacheFirst

        /// The cache validates every stored response before reuse, even an `immutable` one, as if the request had
        /// `no-cache`.
        case revalidateAlways

        /// The cache forwards every request without adding a condition, and stores the response.
        case remoteOnly

        /// The cache never contacts the origin. Only a stored response answers, fresh or stale.
        ///
        /// The request behaves as if it had `only-if-cached` and `max-stale`. As with ``cacheFirst``, a response that
        /// must not be served stale does not answer.
        case cacheOnly
    }

    /// Determines whether the policy replaces the freshness lifetime of a response.
    @nonexhaustive
    public enum LifetimeOverride: Hashable, Sendable {
        /// Uses the freshness lifetime of the response.
        case serverPolicy

        /// Makes every stored response fresh until its age reaches this duration, in whole seconds.
        ///
        /// The response still determines whether the cache may store it, and whether `no-cache` demands validation.
        /// With zero, every response is stale as soon as it is stored. A negative duration means ``doNotStore``.
        case fixed(Duration)

        /// Stores every response with status 200, 203, 204 or 206, and makes it fresh until its age reaches this
        /// duration, in whole seconds.
        ///
        /// Use it for content that the program knows to be immutable, or to change more rarely than its origin states.
        /// Ignores the directives of the response, which deviates from RFC 9111: `no-store` (§3), `no-cache`
        /// (§5.2.2.4), `must-revalidate` (§5.2.2.2), `must-understand` (§5.2.2.3) and `max-age` (§4.2.1). The store can
        /// then hold personal data, and outdated responses count as fresh.
        ///
        /// The directives of the request, `Vary` and invalidation (§4.4) keep their meaning. In a shared cache,
        /// `private` (§3) and `Authorization` (§3.5) still prevent storing. Responses with other statuses, such as
        /// redirects and errors, follow ``serverPolicy``. Under ``serverPolicy`` a stored response with `no-store` is
        /// stale. Zero and negative durations mean the same as in ``fixed(_:)``.
        case forced(Duration)

        /// Stores no response. A request removes the stored responses for its URL.
        case doNotStore

        /// Stores a response for reuse without validation: ``forced(_:)`` with the longest duration.
        public static let immutable = LifetimeOverride.forced(.seconds(Int64.max))
    }

    /// Determines when a stored response may answer. Default: ``Mode/http``.
    public var mode: Mode

    /// Replaces the freshness lifetime of a response. Default: ``LifetimeOverride/serverPolicy``, which keeps it.
    public var lifetimeOverride: LifetimeOverride

    /// The freshness lifetime of a response without a stated lifetime and without `Last-Modified`, in whole seconds.
    /// Default: zero.
    ///
    /// Like heuristic freshness, the default applies to heuristically cacheable statuses and to responses with
    /// `public`.
    public var defaultLifetime: Duration

    /// The fraction of the time since `Last-Modified` that becomes the heuristic freshness lifetime of a response
    /// without a stated lifetime (RFC 9111 §4.2.2).
    ///
    /// Default: 0.1. Zero disables heuristic freshness.
    public var heuristicFraction: Double

    /// The longest heuristic freshness lifetime, in whole seconds. Default: one week.
    public var heuristicLimit: Duration

    /// Whether several users share the cache. Default: `false`.
    ///
    /// A shared cache obeys `s-maxage` and `proxy-revalidate`, and does not store a response with `private`. It stores
    /// the response to a request with `Authorization` only if the response has `public`, `must-revalidate` or
    /// `s-maxage` (RFC 9111 §3.5).
    public var isShared: Bool

    /// The longest time after its freshness lifetime during which a stored response may replace a server error of its
    /// origin. Zero: never. Default: `nil`, as long as a `stale-if-error` of the response or of the request permits.
    ///
    /// The strictest of these limits applies. RFC 5861 §4 names 500, 502, 503 and 504; the cache includes every status
    /// from 500 to 599.
    public var staleIfError: Duration?

    /// The longest time after its freshness lifetime during which a stored response may answer while its origin is
    /// unreachable. Default: unlimited, as RFC 9111 §4.2.4 allows. Zero: never.
    ///
    /// A stricter `stale-if-error` of the response or of the request takes precedence. Never applies to a response with
    /// `no-cache`, nor to a stale response with `must-revalidate`.
    public var staleWhenDisconnected: Duration

    /// Names of targeted fields, such as `CDN-Cache-Control`, in order of precedence (RFC 9213). Default: none, for a
    /// cache that no targeted field addresses.
    ///
    /// The first valid field in a response replaces `Cache-Control` and `Expires`.
    public var targetedFields: [String]

    /// Whether the key of a response includes the content of a POST or GET, as it does for QUERY. Default: `false`.
    ///
    /// For an API that reads with POST, such as GraphQL, search or a model: set it only for the URLs of that API. A
    /// stored response then answers an equal request, and the request invalidates nothing. If such a request changes
    /// something, the origin does not receive its repetitions. The response must permit storing, or the policy must
    /// give it a lifetime. The cache forwards content without a `Content-Type`, of more than 64 KiB or from a stream.
    ///
    /// With `false`, the cache forwards a GET with content and does not store its response, because the key cannot
    /// distinguish two such requests (RFC 9110 §9.3.1).
    public var contentKeys: Bool

    /// Whether the cache verifies the digests of received content (RFC 9530): `sha-256` and `sha-512` in
    /// `Content-Digest`, `Repr-Digest` and `Unencoded-Digest`. Default: `false`.
    ///
    /// The cache stores no content that differs from a digest, and reading such content fails at its end. `Repr-Digest`
    /// covers the whole representation, so the cache verifies parts once they are combined. `Unencoded-Digest` covers
    /// content without a coding, including content whose coding the transport or a loader has removed. The other two
    /// fields do not cover decoded content. Stored responses are not verified.
    public var verifiesDigests: Bool

    /// Whether the cache offers stored responses as compression dictionaries (RFC 9842). Default: `false`.
    ///
    /// A request names the SHA-256 of a stored response of the same origin and partition. Its `Use-As-Dictionary` must
    /// match the URL, and it must be fresh or within `stale-while-revalidate`. The cache decodes an answer in the
    /// coding `dcz` or `dcb` before storing it. `CacheLoader` needs the trait `Zstd` for `dcz`, and the trait `Brotli`
    /// with libbrotli 1.1 for `dcb`. Cannot be combined with ``verifiesDigests``, whose digests cover encoded bytes.
    public var usesDictionaries: Bool

    /// Creates a policy; each parameter has the default of its property.
    public init(
        mode: Mode = .http,
        lifetimeOverride: LifetimeOverride = .serverPolicy,
        defaultLifetime: Duration = .zero,
        heuristicFraction: Double = 0.1,
        heuristicLimit: Duration = .seconds(7 * 86_400),
        isShared: Bool = false,
        staleIfError: Duration? = nil,
        staleWhenDisconnected: Duration = .seconds(Int64.max),
        targetedFields: [String] = [],
        contentKeys: Bool = false,
        verifiesDigests: Bool = false,
        usesDictionaries: Bool = false
    ) {
        self.mode = mode
        self.lifetimeOverride = lifetimeOverride
        self.defaultLifetime = defaultLifetime
        self.heuristicFraction = heuristicFraction
        self.heuristicLimit = heuristicLimit
        self.isShared = isShared
        self.staleIfError = staleIfError
        self.staleWhenDisconnected = staleWhenDisconnected
        self.targetedFields = targetedFields
        self.contentKeys = contentKeys
        self.verifiesDigests = verifiesDigests
        self.usesDictionaries = usesDictionaries
    }

    /// The policy of a shared cache, such as a proxy, with defaults for all other properties.
    public static let shared = CachePolicy(isShared: true)
}

extension CachePolicy {
    /// Whether the cache stores no responses and removes stored ones.
    package var storesNothing: Bool {
        switch lifetimeOverride {
        case .serverPolicy: false
        case .fixed(let lifetime), .forced(let lifetime): lifetime < .zero
        case .doNotStore: true
        }
    }

    /// Whether the policy ignores the cache directives of a response with this status.
    package func ignoresDirectives(of status: HTTPResponse.Status) -> Bool {
        guard case .forced = lifetimeOverride else { return false }
        return status.kind == .successful && status.isHeuristicallyCacheable
    }

    /// The freshness lifetime, in seconds, that replaces the stated one, or `nil` for a status without override.
    func overridingLifetime(for status: HTTPResponse.Status) -> Int64? {
        switch lifetimeOverride {
        case .fixed(let lifetime): max(0, lifetime.components.seconds)
        case .forced(let lifetime): ignoresDirectives(of: status) ? max(0, lifetime.components.seconds) : nil
        case .serverPolicy, .doNotStore: nil
        }
    }
}
