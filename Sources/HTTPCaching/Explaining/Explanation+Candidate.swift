extension Explanation {
    /// A stored response that could answer the request.
    public struct Candidate: Hashable, Sendable {
        /// The URL of the stored response: the URL of the request, or an equivalent URL by `No-Vary-Search`.
        public let url: String
        /// The status code.
        public let status: Int
        /// Whether the cache answers with this response or validates it.
        public let isChosen: Bool
        /// Whether the request matches the fields that the response's `Vary` nominates (RFC 9111 §4.1).
        public let isSelected: Bool
        /// The nominated fields that differ in the request. Empty for a selected response.
        public let differences: [FieldDifference]
        /// The nominated fields of the original request, one line each: `accept-language: de`.
        public let variant: [String]
        /// The freshness lifetime in seconds.
        public let lifetime: Int64
        /// The source of the freshness lifetime.
        public let lifetimeSource: LifetimeSource
        /// The current age.
        public let age: Age
        /// Whether the response is fresh: its lifetime is greater than its age, and the clock is usable.
        public let isFresh: Bool
        /// The remaining freshness lifetime in seconds, or `nil` for a stale response.
        public let freshFor: Int64?
        /// The seconds since the response became stale. `nil` for a fresh response, or without a usable clock.
        public let staleBy: Int64?
        /// The unchanged `ETag` of the response.
        public let entityTag: String?
        /// Whether the entity tag is weak (RFC 9110 §8.8.3).
        public let isEntityTagWeak: Bool
        /// The unchanged `Last-Modified` of the response.
        public let lastModified: String?
        /// The directives for reuse that the cache heeds: `no-cache`, `must-revalidate`, `proxy-revalidate`,
        /// `immutable`, `stale-while-revalidate=n`, `stale-if-error=n`.
        public let directives: [String]
        /// The stored byte range, or `nil` for a complete response.
        public let part: StoredPart?
        /// The length of the stored body.
        public let byteCount: Int64
        /// Whether the body is present. A response without its body can neither answer nor be validated.
        public let hasBody: Bool
    }

    /// A request field that `Vary` nominates and that differs from the original request.
    public struct FieldDifference: Hashable, Sendable {
        /// The name in lower case.
        public let name: String
        /// The value in the original request, or a fingerprint of credentials. `nil` for an absent field.
        public let stored: String?
        /// The value in the current request, or a fingerprint of credentials. `nil` for an absent field.
        public let present: String?
    }

    /// The source of a freshness lifetime (RFC 9111 §4.2.1).
    @nonexhaustive
    public enum LifetimeSource: Hashable, Sendable {
        /// The policy overrides the response.
        case override
        /// The `s-maxage` directive.
        case sharedMaxAge
        /// The `max-age` directive.
        case maxAge
        /// A directive in the targeted field with this name (RFC 9213).
        case targeted(String)
        /// `Expires` minus `Date`.
        case expires
        /// A heuristic based on `Last-Modified` (RFC 9111 §4.2.2).
        case heuristic
        /// The default of the policy, because the response states no lifetime.
        case defaultLifetime
        /// No source: the response is stale on receipt.
        case unstated
    }

    /// The terms of an age in seconds (RFC 9111 §4.2.3).
    public struct Age: Hashable, Sendable {
        /// `current_age`
        public let total: Int64
        /// `corrected_initial_age`: the age on receipt.
        public let onArrival: Int64
        /// `apparent_age`: the time from `Date` to receipt.
        public let apparent: Int64
        /// `age_value`: the value of the `Age` field.
        public let field: Int64
        /// `response_delay`: the time from the request to receipt.
        public let responseDelay: Int64
        /// `resident_time`: the time in the store.
        public let residentTime: Int64
    }
}

extension Explanation.LifetimeSource: CustomStringConvertible {
    /// One of `s-maxage`, `max-age`, `Expires`, `heuristic`, `default`, `override`, `targeted field NAME` and `none`.
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
    package init(
        _ stored: Explanation.Stored, isChosen: Bool, _ request: HTTPRequest, policy: CachePolicy, now: HTTPDate,
        fingerprint: VaryKey.Fingerprint
    ) {
        let response = stored.response
        url = stored.url
        status = response.status.code
        self.isChosen = isChosen
        isSelected = response.isSelected(by: request, policy: policy, fingerprint: fingerprint)
        differences =
            isSelected
            ? []
            : response.varyKey.differences(
                from: request, fingerprint: fingerprint, nominatesAuthorization: !policy.isShared)
        variant = response.varyKey.lines

        let stated = StatedTimes(response, policy: policy)
        let freshness = Freshness(of: response, policy: policy)
        lifetime = freshness.lifetime
        lifetimeSource = stated.lifetimeSource(of: response, policy: policy)
        age = Explanation.Age(of: response, freshness, field: stated.age, at: now)
        isFresh = freshness.isFresh(at: now)
        freshFor = isFresh ? freshness.lifetime.saturatingSubtracting(age.total) : nil
        let staleness = freshness.staleness(at: now)
        staleBy = isFresh || staleness == .max ? nil : staleness
        directives = freshness.cacheControl.namesForReuse

        let tag = EntityTag(response.fields)
        entityTag = tag.map(\.bytes.fieldText)
        isEntityTagWeak = tag?.isWeak ?? false
        lastModified = response.fields.filledLines(.lastModified).first.map(\.trimmedBytes.fieldText)
        part = response.part
        byteCount = stored.byteCount
        hasBody = response.hasIntactBody
    }
}

extension CacheControl {
    /// The directives that control reuse of a stored response.
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
