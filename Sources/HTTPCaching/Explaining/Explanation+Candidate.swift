internal import HTTPTypes

extension Explanation {
    /// A stored response that a request could be answered with.
    public struct Candidate: Hashable, Sendable {
        /// The URL that it is stored for: that of the request, or one that `No-Vary-Search` makes as good.
        public let url: String
        /// The status code.
        public let status: Int
        /// Whether this is the one that answers, or that the origin is asked about.
        public let isChosen: Bool
        /// Whether the request has the fields that its `Vary` nominates (RFC 9111 §4.1).
        public let isSelected: Bool
        /// The nominated fields that the request has otherwise; empty when it is selected.
        public let differences: [FieldDifference]
        /// What `Vary` nominated in the request that it answered, a line for each field: `accept-language: de`.
        public let variant: [String]
        /// The freshness lifetime in seconds.
        public let lifetime: Int64
        /// What says so.
        public let lifetimeSource: LifetimeSource
        /// How old it is.
        public let age: Age
        /// Whether its lifetime is greater than its age.
        public let isFresh: Bool
        /// For how many seconds it stays fresh; `nil` when it is stale.
        public let freshFor: Int64?
        /// For how many seconds it has been stale; `nil` when it is fresh, or when the clock is of no use.
        public let staleBy: Int64?
        /// Its `ETag`, to the letter.
        public let entityTag: String?
        /// Whether that is weak (RFC 9110 §8.8.3).
        public let isEntityTagWeak: Bool
        /// Its `Last-Modified`, to the letter.
        public let lastModified: String?
        /// The directives that say when it may be used again, as far as the cache heeds them: `no-cache`,
        /// `must-revalidate`, `proxy-revalidate`, `immutable`, `stale-while-revalidate=n`, `stale-if-error=n`.
        public let directives: [String]
        /// Which bytes of it are there; `nil` when it is whole.
        public let part: Part?
        /// The length of what is stored of its body.
        public let byteCount: Int64
        /// Whether its body is there. Without it nothing can be answered, nor validated.
        public let hasBody: Bool
    }

    /// A request field that `Vary` nominates and that a request has otherwise than the one that was answered.
    public struct FieldDifference: Hashable, Sendable {
        /// The name in lower case.
        public let name: String
        /// What it was; for credentials a fingerprint, `nil` when it was absent.
        public let stored: String?
        /// What it is now; for credentials a fingerprint, `nil` when it is absent.
        public let present: String?
    }

    /// What says how long a response is fresh (RFC 9111 §4.2.1).
    @nonexhaustive
    public enum LifetimeSource: Hashable, Sendable {
        /// The policy, in place of whatever the response says.
        case override
        /// `s-maxage`
        case sharedMaxAge
        /// `max-age`
        case maxAge
        /// A directive in the targeted field of this name (RFC 9213).
        case targeted(String)
        /// `Expires`, less `Date`.
        case expires
        /// A guess by `Last-Modified` (RFC 9111 §4.2.2).
        case heuristic
        /// The policy, because the response says nothing.
        case defaultLifetime
        /// Nothing does: it is stale at once.
        case unstated
    }

    /// How an age in seconds is made up (RFC 9111 §4.2.3).
    public struct Age: Hashable, Sendable {
        /// `current_age`
        public let total: Int64
        /// `corrected_initial_age`: how old it was on arrival.
        public let onArrival: Int64
        /// `apparent_age`: how long before its arrival its `Date` lies.
        public let apparent: Int64
        /// `age_value`: what its `Age` said.
        public let field: Int64
        /// `response_delay`: how long it took to arrive.
        public let responseDelay: Int64
        /// `resident_time`: how long it has been in the store.
        public let residentTime: Int64
    }

    /// Some bytes of a whole.
    public struct Part: Hashable, Sendable {
        /// The position of the first byte.
        public let first: Int64
        /// The position of the last byte.
        public let last: Int64
        /// The length of the whole; `nil` when it is not known.
        public let completeLength: Int64?
    }
}

extension Explanation.LifetimeSource: CustomStringConvertible {
    /// `s-maxage`, `max-age`, `Expires`, `heuristic`, `default`, `override`, `targeted field NAME` or `none`.
    public var description: String {
        switch self {
        case .override: "override"
        case .sharedMaxAge: "s-maxage"
        case .maxAge: "max-age"
        case .targeted(let name): "targeted field \(name)"
        case .expires: "Expires"
        case .heuristic: "heuristic"
        case .defaultLifetime: "default"
        case .unstated: "none"
        }
    }
}

extension Explanation.Candidate {
    init(
        _ stored: Explanation.Stored, isChosen: Bool, _ request: HTTPRequest,
        _ circumstances: Explanation.Circumstances
    ) {
        let (response, policy, now) = (stored.response, circumstances.policy, circumstances.now)
        url = stored.url
        status = response.status.code
        self.isChosen = isChosen
        isSelected = response.isSelected(by: request, policy: policy, fingerprint: circumstances.fingerprint)
        differences =
            isSelected
            ? []
            : response.selection.differences(
                from: request, fingerprint: circumstances.fingerprint, nominatesAuthorization: !policy.isShared)
        variant = response.selection.lines

        let explained = FreshnessExplanation(of: response, policy: policy)
        let freshness = explained.freshness
        lifetime = freshness.lifetime
        lifetimeSource = explained.source
        age = explained.age(at: now)
        isFresh = freshness.isFresh(at: now)
        freshFor = isFresh ? freshness.lifetime.saturatingSubtracting(age.total) : nil
        let staleness = freshness.staleness(at: now)
        staleBy = isFresh || staleness == .max ? nil : staleness
        directives = freshness.cacheControl.namesForReuse

        let tag = EntityTag(response.fields)
        entityTag = tag.map { String(decoding: $0.bytes, as: UTF8.self) }
        isEntityTagWeak = tag?.isWeak ?? false
        lastModified = response.fields.filledLines(.lastModified).first.map {
            String(decoding: $0.trimmedBytes, as: UTF8.self)
        }
        part = response.part.map {
            Explanation.Part(first: $0.range.first, last: $0.range.last, completeLength: $0.completeLength)
        }
        byteCount = stored.byteCount
        hasBody = response.hasIntactBody
    }
}

extension CacheControl {
    /// The directives that say when a stored response may be used again.
    fileprivate var namesForReuse: [String] {
        var names: [String] = []
        if noCache { names.append("no-cache") }
        if !noCacheFields.isEmpty { names.append("no-cache=\"\(noCacheFields.joined(separator: ", "))\"") }
        if mustRevalidate { names.append("must-revalidate") }
        if proxyRevalidate { names.append("proxy-revalidate") }
        if isImmutable { names.append("immutable") }
        if case .seconds(let window) = staleWhileRevalidate { names.append("stale-while-revalidate=\(window)") }
        if case .seconds(let window) = staleIfError { names.append("stale-if-error=\(window)") }
        return names
    }
}
