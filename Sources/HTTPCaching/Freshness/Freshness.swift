/// The freshness lifetime and age of a stored response (RFC 9111 §4.2).
///
/// The initializer computes everything independent of the current time, in one pass over the fields.
public struct Freshness: Sendable {
    /// The freshness lifetime in seconds, at least 0.
    public let lifetime: Int64
    /// The time of generation: `Date`, or the time of receipt without a usable `Date`.
    public let date: HTTPDate
    /// The cache directives of the response, from `Cache-Control` or a targeted field.
    public let cacheControl: CacheControl
    /// Whether the response may be served stale: to a request that allows it, or while the origin is unreachable.
    ///
    /// RFC 9111 §4.2.4: an "explicit in-protocol directive" can prohibit stale responses.
    public let allowsStale: Bool

    private let initialAge: Int64
    private let responseTime: HTTPDate

    /// The largest backward step of the clock, in seconds, that leaves ages credible. Covers the small corrections of
    /// clock synchronization, but not a clock set back by hand.
    package static let clockTolerance: Int64 = 5

    /// Computes the lifetime and the initial age of `response` in a cache with this policy.
    public init(of response: StoredResponse, policy: CachePolicy) {
        let stated = StatedTimes(response, policy: policy)
        cacheControl = stated.cacheControl
        date = stated.date
        responseTime = response.responseTime

        // RFC 9111 §4.2.3:
        //     apparent_age = max(0, response_time - date_value);
        //     response_delay = response_time - request_time;
        //     corrected_age_value = age_value + response_delay;
        //     corrected_initial_age = max(apparent_age, corrected_age_value);
        let apparentAge = max(0, response.responseTime.seconds(since: stated.date))
        let responseDelay = max(0, response.responseTime.seconds(since: response.requestTime))
        initialAge = max(apparentAge, stated.age.saturatingAdding(responseDelay))

        lifetime = stated.lifetime(of: response, policy: policy)

        // §5.2.2.10: in a shared cache, s-maxage implies proxy-revalidate.
        let control = stated.cacheControl
        let forbidsStaleWhenShared = control.proxyRevalidate || control.sharedMaxAge != .absent
        allowsStale = !(control.noCache || control.mustRevalidate || (policy.isShared && forbidsStaleWhenShared))
    }

    /// Whether every use requires validation, fresh or not (RFC 9111 §5.2.2.4).
    public var alwaysNeedsValidation: Bool { cacheControl.noCache }

    /// Returns the current age in seconds.
    public func age(at now: HTTPDate) -> Int64 {
        // RFC 9111 §4.2.3: current_age = corrected_initial_age + resident_time. A clock that steps back must not make
        // the response younger than on receipt.
        initialAge.saturatingAdding(max(0, now.seconds(since: responseTime)))
    }

    /// Whether the lifetime is greater than the age (RFC 9111 §4.2). If they are equal, the response is stale.
    ///
    /// A clock set back would extend the freshness of a response, so a response received in the future is stale. No
    /// response is fresh at ``HTTPDate/distantPast`` (§4: a cache without a clock has to validate on every use).
    public func isFresh(at now: HTTPDate) -> Bool {
        lifetime > age(at: now) && isClockUsable(now)
    }

    /// Returns the number of seconds since the response became stale. Zero while fresh, `Int64.max` without a usable
    /// clock.
    public func staleness(at now: HTTPDate) -> Int64 {
        guard isClockUsable(now) else { return .max }
        return max(0, age(at: now).saturatingSubtracting(lifetime))
    }

    /// Whether the response is stale, but may answer while it is validated (RFC 5861 §3).
    func isWithinStaleWhileRevalidate(at now: HTTPDate) -> Bool {
        allowsStale && !isFresh(at: now) && cacheControl.staleWhileRevalidate.permits(staleness: staleness(at: now))
    }

    /// Whether the response may be a compression dictionary. RFC 9842 §2.2.1: "the dictionary resource MUST be either
    /// fresh or allowed to be served stale (see RFC5861)". So the response must be fresh or within
    /// stale-while-revalidate. stale-if-error does not apply: it requires a failure, and a request that names its
    /// dictionary has not failed.
    package func permitsUseAsDictionary(at now: HTTPDate) -> Bool {
        isFresh(at: now) || isWithinStaleWhileRevalidate(at: now)
    }

    /// The time at which the response becomes stale, or `nil` for a response that always needs validation.
    public var expiry: HTTPDate? {
        guard lifetime > initialAge, !alwaysNeedsValidation else { return nil }
        return responseTime.advanced(by: lifetime - initialAge)
    }

    private func isClockUsable(_ now: HTTPDate) -> Bool {
        now != .distantPast && responseTime.seconds(since: now) <= Self.clockTolerance
    }
}

/// The times and directives that a response states, read in one pass.
struct StatedTimes {
    private(set) var cacheControl = CacheControl()
    private(set) var date: HTTPDate
    private(set) var age: Int64 = 0
    // Indices instead of fields, because copying six strings costs more than parsing one.
    private(set) var expires: Int?
    private var hasTwoExpires = false
    private(set) var lastModified: Int?

    /// 1980-01-02T00:00:00Z. Reproducible builds date all files in an archive or package store to the first day of FAT
    /// and ZIP, in any time zone. Such a date says nothing about how often a file changes.
    private static let firstMeaningfulDate = HTTPDate(secondsSince1970: 315_619_200)

    init(_ response: StoredResponse, policy: CachePolicy) {
        date = response.responseTime
        var hasAge = false
        var hasDate = false
        for (index, field) in response.fields.enumerated() {
            // Compares lengths first: comparing about twenty names with five constants costs more than all the parsing.
            switch field.name.canonicalName.utf8.count {
            case 3 where field.name == .age && !hasAge:
                if let member = field.withUnsafeBytesOfValue(Self.age) {
                    hasAge = true
                    age = member
                }
            case 4 where field.name == .date && !hasDate:
                hasDate = true
                // RFC 9110 §6.6.1: the time of receipt replaces an unusable Date.
                date = HTTPDate(field, now: response.responseTime) ?? response.responseTime
            case 7 where field.name == .expires:
                hasTwoExpires = expires != nil
                expires = index
            case 13 where field.name == .cacheControl:
                cacheControl.combine(field)
            case 13 where field.name == .lastModified && lastModified == nil:
                lastModified = index
            default:
                break
            }
        }
        // RFC 9213 §2.2: a valid targeted field replaces Cache-Control and Expires.
        if let targeted = CacheControl(targeted: response.fields, names: policy.targetedFields) {
            cacheControl = targeted
            expires = nil
            hasTwoExpires = false
        }
        if policy.ignoresDirectives(of: response.status) {
            // RFC 9111 §5.2.2.7: a private cache may have stored a private response in the store of a shared cache.
            let isPrivate = cacheControl.isPrivate
            cacheControl = CacheControl()
            cacheControl.isPrivate = isPrivate
        }
    }

    /// Returns the first member of an `Age` line, as RFC 9111 §5.1 recommends for a list, or 0 if that member is not a
    /// number. Returns `nil` for a line without members. The next line may contain the first member.
    fileprivate static func age(_ bytes: FieldBytes) -> Int64? {
        var scanner = FieldScanner(bytes)
        guard scanner.skipToElement() else { return nil }
        let digits = scanner.token()
        guard scanner.isAtEndOfElement(), case .seconds(let age) = DeltaSeconds(digits) else { return 0 }
        return age
    }

    /// Returns the first available lifetime: override, `s-maxage` if shared, `max-age`, `Expires`, heuristic, default.
    func lifetime(of response: StoredResponse, policy: CachePolicy) -> Int64 {
        // RFC 9111 §3: another policy, which ignores directives, stored this response. This policy must not find it
        // fresh.
        if cacheControl.forbidsStoring { return 0 }
        if let lifetime = policy.overridingLifetime(for: response.status) { return lifetime }

        // RFC 9111 §4.2.1: "Caches are encouraged to consider responses that have invalid freshness information to be
        // stale". So a malformed number must not let the next rule decide.
        if policy.isShared, let lifetime = cacheControl.sharedMaxAge.lifetime { return lifetime }
        if let lifetime = cacheControl.maxAge.lifetime { return lifetime }
        if let expires {
            // §4.2.1: for two Expires lines, a cache uses the first or considers the response stale. This cache
            // considers it stale, because the lines may contradict each other. §5.3: an invalid Expires, "especially
            // including the value 0", is in the past.
            guard !hasTwoExpires, let expires = HTTPDate(response.fields[expires], now: response.responseTime) else {
                return 0
            }
            return max(0, expires.seconds(since: date))
        }

        // §4.2.2: no heuristic with an explicit expiration time. Statuses not heuristically cacheable require public.
        guard response.status.isHeuristicallyCacheable || cacheControl.isPublic else { return 0 }
        if let lastModified = heuristicBase(of: response, policy: policy) {
            let limit = max(0, policy.heuristicLimit.components.seconds)
            let guess = Double(date.seconds(since: lastModified)) * policy.heuristicFraction
            return guess < Double(limit) ? Int64(max(0, guess)) : limit
        }
        return max(0, policy.defaultLifetime.components.seconds)
    }

    /// Returns the `Last-Modified` from which the policy guesses a lifetime. `nil` for a missing or meaningless date.
    func heuristicBase(of response: StoredResponse, policy: CachePolicy) -> HTTPDate? {
        guard let lastModified, policy.heuristicFraction > 0,
            let date = HTTPDate(lenient: response.fields[lastModified], now: response.responseTime),
            date >= Self.firstMeaningfulDate
        else { return nil }
        return date
    }
}

extension DeltaSeconds {
    fileprivate var lifetime: Int64? {
        switch self {
        case .absent: nil
        case .malformed: 0
        case .seconds(let seconds): seconds
        }
    }
}

extension HTTPFields {
    /// The seconds in the first member of `Age` (RFC 9111 §5.1), or 0 without a number.
    package var statedAge: Int64 {
        for field in self where field.name == .age {
            if let age = field.withUnsafeBytesOfValue(StatedTimes.age) { return age }
        }
        return 0
    }
}
