/// How a cache uses what it has stored.
///
/// The default is a private cache that does what RFC 9111 says and nothing else.
public struct CachePolicy: Hashable, Sendable {
    /// When a stored response may answer.
    @nonexhaustive
    public enum Mode: Hashable, Sendable {
        /// A fresh stored response answers; any other is validated first.
        case http

        /// A stored response answers, stale or not, as if the request said `max-stale`.
        ///
        /// One that the origin forbids to serve stale is still validated: `no-cache` always, `must-revalidate` once stale.
        case cacheFirst

        /// A stored response answers only after the origin has validated it, `immutable` or not, as if the request said
        /// `no-cache`.
        case revalidateAlways

        /// The origin answers, without being asked whether anything has changed; its response is stored.
        case remoteOnly

        /// The origin is never asked: a stored response answers, stale or not, or none does.
        ///
        /// As if the request said `only-if-cached, max-stale`. One that the origin forbids to serve stale does not answer,
        /// as in ``cacheFirst``.
        case cacheOnly
    }

    /// What replaces the freshness lifetime that a response states.
    @nonexhaustive
    public enum LifetimeOverride: Hashable, Sendable {
        /// Nothing does.
        case serverPolicy

        /// Every stored response is fresh until its age reaches this, in whole seconds.
        ///
        /// What may be stored, and what `no-cache` demands, is still for the response to say. Zero makes every stored
        /// response stale at once; a negative duration means ``doNotStore``.
        case fixed(Duration)

        /// Nothing is stored, and a stored response is removed when it is asked for.
        case doNotStore
    }

    /// When a stored response may answer. Default: ``Mode/http``.
    public var mode: Mode

    /// What replaces the freshness lifetime that a response states. Default: ``LifetimeOverride/serverPolicy``.
    public var lifetimeOverride: LifetimeOverride

    /// The freshness lifetime of a response that states none and has no `Last-Modified` to guess one from, in whole
    /// seconds. Default: zero.
    ///
    /// As the guess, it holds for statuses that are cacheable by default and for responses that say `public`.
    public var defaultLifetime: Duration

    /// The part of the time since `Last-Modified` that a response which states no freshness lifetime is fresh for
    /// (RFC 9111 §4.2.2). Default: 0.1. Zero turns such guesses off.
    public var heuristicFraction: Double

    /// The longest freshness lifetime that is guessed, in whole seconds. Default: one week.
    public var heuristicLimit: Duration

    /// Whether the cache answers several users. Default: `false`.
    ///
    /// A shared cache heeds `s-maxage` and `proxy-revalidate`, does not store what is `private`, and stores the response to
    /// a request with `Authorization` only if that says `public`, `must-revalidate` or `s-maxage` (RFC 9111 §3.5).
    public var isShared: Bool

    /// How long beyond its lifetime a stored response may take the place of an error of its origin, which is a status of 500,
    /// 502, 503 or 504, when neither request nor response says with `stale-if-error` (RFC 5861 §4). Default: `nil`, not at
    /// all.
    public var staleIfError: Duration?

    /// How long beyond its lifetime a stored response may answer when its origin cannot be reached, and neither request nor
    /// response says with `stale-if-error`. Default: however long, as RFC 9111 §4.2.4 allows; `nil`: not at all.
    ///
    /// Never one that says `no-cache`, nor one that says `must-revalidate` once it is stale.
    public var staleWhenDisconnected: Duration?

    /// Names of response fields that take the place of `Cache-Control` and `Expires`, the first that is there before the
    /// others (RFC 9213), such as `CDN-Cache-Control`. Default: none, as becomes a cache that nobody has targeted.
    public var targetedFields: [String]

    /// Creates a policy; every part has its documented default.
    public init(
        mode: Mode = .http,
        lifetimeOverride: LifetimeOverride = .serverPolicy,
        defaultLifetime: Duration = .zero,
        heuristicFraction: Double = 0.1,
        heuristicLimit: Duration = .seconds(7 * 86_400),
        isShared: Bool = false,
        staleIfError: Duration? = nil,
        staleWhenDisconnected: Duration? = .seconds(Int64.max),
        targetedFields: [String] = []
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
    }

    /// The policy of a shared cache, such as a proxy; all else by default.
    public static let shared = CachePolicy(isShared: true)
}

extension CachePolicy {
    /// Whether nothing may be stored, and what is stored goes.
    var storesNothing: Bool {
        switch lifetimeOverride {
        case .serverPolicy: false
        case .fixed(let lifetime): lifetime < .zero
        case .doNotStore: true
        }
    }
}
