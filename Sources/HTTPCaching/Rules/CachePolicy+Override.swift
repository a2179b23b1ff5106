extension CachePolicy {
    /// Changes properties of a policy for one request.
    ///
    /// A `nil` property keeps the value of the configuration. Properties of the cache, such as ``CachePolicy/isShared``
    /// and ``CachePolicy/targetedFields``, cannot change for a single request.
    ///
    /// ```swift
    /// let reload = ResourceRequest("https://example.com/feed.json", policy: .remoteOnly)
    /// let strict = ResourceRequest("https://example.com/feed.json", policy: .init(staleIfError: .zero))
    /// ```
    public struct Override: Hashable, Sendable {
        /// See ``CachePolicy/mode``.
        public var mode: Mode?

        /// See ``CachePolicy/lifetimeOverride``.
        public var lifetimeOverride: LifetimeOverride?

        /// See ``CachePolicy/defaultLifetime``.
        public var defaultLifetime: Duration?

        /// See ``CachePolicy/heuristicFraction``.
        public var heuristicFraction: Double?

        /// See ``CachePolicy/heuristicLimit``.
        public var heuristicLimit: Duration?

        /// See ``CachePolicy/staleIfError``.
        public var staleIfError: Duration?

        /// See ``CachePolicy/staleWhenDisconnected``.
        public var staleWhenDisconnected: Duration?

        /// See ``CachePolicy/contentKeys``.
        public var contentKeys: Bool?
        /// See ``CachePolicy/verifiesDigests``.
        public var verifiesDigests: Bool?

        /// See ``CachePolicy/usesDictionaries``.
        public var usesDictionaries: Bool?

        /// Creates an override of the given properties.
        public init(
            mode: Mode? = nil,
            lifetimeOverride: LifetimeOverride? = nil,
            defaultLifetime: Duration? = nil,
            heuristicFraction: Double? = nil,
            heuristicLimit: Duration? = nil,
            staleIfError: Duration? = nil,
            staleWhenDisconnected: Duration? = nil,
            contentKeys: Bool? = nil,
            verifiesDigests: Bool? = nil,
            usesDictionaries: Bool? = nil
        ) {
            self.mode = mode
            self.lifetimeOverride = lifetimeOverride
            self.defaultLifetime = defaultLifetime
            self.heuristicFraction = heuristicFraction
            self.heuristicLimit = heuristicLimit
            self.staleIfError = staleIfError
            self.staleWhenDisconnected = staleWhenDisconnected
            self.contentKeys = contentKeys
            self.verifiesDigests = verifiesDigests
            self.usesDictionaries = usesDictionaries
        }

        /// Changes only the mode: ``CachePolicy/Mode/http``.
        public static let http = Override(mode: .http)

        /// Changes only the mode: ``CachePolicy/Mode/cacheFirst``.
        public static let cacheFirst = Override(mode: .cacheFirst)

        /// Changes only the mode: ``CachePolicy/Mode/revalidateAlways``.
        public static let revalidateAlways = Override(mode: .revalidateAlways)

        /// Changes only the mode: ``CachePolicy/Mode/remoteOnly``.
        public static let remoteOnly = Override(mode: .remoteOnly)

        /// Changes only the mode: ``CachePolicy/Mode/cacheOnly``.
        public static let cacheOnly = Override(mode: .cacheOnly)

        /// Changes only the lifetime: ``CachePolicy/LifetimeOverride/immutable``.
        public static let immutable = Override(lifetimeOverride: .immutable)
    }
}

extension CachePolicy {
    /// Returns this policy with the properties that `override` changes.
    public func applying(_ override: Override) -> CachePolicy {
        var policy = self
        if let mode = override.mode { policy.mode = mode }
        if let lifetime = override.lifetimeOverride { policy.lifetimeOverride = lifetime }
        if let lifetime = override.defaultLifetime { policy.defaultLifetime = lifetime }
        if let fraction = override.heuristicFraction { policy.heuristicFraction = fraction }
        if let limit = override.heuristicLimit { policy.heuristicLimit = limit }
        if let allowance = override.staleIfError { policy.staleIfError = allowance }
        if let allowance = override.staleWhenDisconnected { policy.staleWhenDisconnected = allowance }
        if let keys = override.contentKeys { policy.contentKeys = keys }
        if let verifies = override.verifiesDigests { policy.verifiesDigests = verifies }
        if let uses = override.usesDictionaries { policy.usesDictionaries = uses }
        return policy
    }
}

extension CachePolicy.Override {
    /// Returns this override combined with `other`, which takes precedence.
    public func applying(_ other: CachePolicy.Override) -> CachePolicy.Override {
        CachePolicy.Override(
            mode: other.mode ?? mode,
            lifetimeOverride: other.lifetimeOverride ?? lifetimeOverride,
            defaultLifetime: other.defaultLifetime ?? defaultLifetime,
            heuristicFraction: other.heuristicFraction ?? heuristicFraction,
            heuristicLimit: other.heuristicLimit ?? heuristicLimit,
            staleIfError: other.staleIfError ?? staleIfError,
            staleWhenDisconnected: other.staleWhenDisconnected ?? staleWhenDisconnected,
            contentKeys: other.contentKeys ?? contentKeys,
            verifiesDigests: other.verifiesDigests ?? verifiesDigests,
            usesDictionaries: other.usesDictionaries ?? usesDictionaries)
    }
}
