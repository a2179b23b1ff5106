internal import HTTPTypes

/// How long a stored response is fresh, and how old it is (RFC 9111 §4.2).
///
/// Everything but the current time is worked out once, when it is created.
package struct Freshness: Sendable {
    /// The freshness lifetime in seconds; never negative.
    package let lifetime: Int64
    /// When the response was generated: its `Date`, else when it arrived.
    package let date: HTTPDate
    /// What the response says in `Cache-Control`.
    package let cacheControl: CacheControl
    /// Whether it may be served stale: to a request that allows it, or when the origin cannot be reached.
    ///
    /// RFC 9111 §4.2.4: not if an "explicit in-protocol directive" prohibits it.
    package let allowsStale: Bool

    private let initialAge: Int64
    private let responseTime: HTTPDate

    /// How far the clock may go back before ages are no longer believed: what keeping it right does to a clock, not what
    /// setting it does.
    package static let clockTolerance: Int64 = 5

    /// Works out the freshness of `response` under `policy`.
    package init(of response: StoredResponse, policy: CachePolicy) {
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

        // §5.2.2.10: in a shared cache s-maxage says what proxy-revalidate says, too.
        let control = stated.cacheControl
        let forbidsStaleWhenShared = control.proxyRevalidate || control.sharedMaxAge != .absent
        allowsStale = !(control.noCache || control.mustRevalidate || (policy.isShared && forbidsStaleWhenShared))
    }

    /// Whether it must be validated before each use, fresh or not (RFC 9111 §5.2.2.4).
    package var alwaysNeedsValidation: Bool { cacheControl.noCache }

    /// The current age in seconds.
    package func age(at now: HTTPDate) -> Int64 {
        // RFC 9111 §4.2.3: current_age = corrected_initial_age + resident_time. A clock that was set back must not make it
        // younger than it was on arrival.
        initialAge.saturatingAdding(max(0, now.seconds(since: responseTime)))
    }

    /// Whether the lifetime is longer than the age (RFC 9111 §4.2), equal being stale.
    ///
    /// A clock that is set back would keep a response fresh for longer than its lifetime, so what arrived in the future is
    /// stale. And nothing is fresh in the ``HTTPDate/distantPast`` (§4: a cache without a clock has to validate on every
    /// use).
    package func isFresh(at now: HTTPDate) -> Bool {
        lifetime > age(at: now) && isClockUsable(now)
    }

    /// For how many seconds it has been stale; zero while fresh, and the largest number when there is no telling.
    package func staleness(at now: HTTPDate) -> Int64 {
        guard isClockUsable(now) else { return .max }
        return max(0, age(at: now).saturatingSubtracting(lifetime))
    }

    /// When it turns stale; `nil` when it never answers without being validated.
    package var expiry: HTTPDate? {
        guard lifetime > initialAge, !alwaysNeedsValidation else { return nil }
        return responseTime.advanced(by: lifetime - initialAge)
    }

    private func isClockUsable(_ now: HTTPDate) -> Bool {
        now != .distantPast && responseTime.seconds(since: now) <= Self.clockTolerance
    }
}

/// What a response states about its times, read in one pass.
struct StatedTimes {
    private(set) var cacheControl = CacheControl()
    private(set) var date: HTTPDate
    private(set) var age: Int64 = 0
    // Places, not fields: to carry six strings about costs more than to parse one.
    private(set) var expires: Int?
    private var hasTwoExpires = false
    private(set) var lastModified: Int?

    init(_ response: StoredResponse, policy: CachePolicy) {
        date = response.responseTime
        var hasAge = false
        var hasDate = false
        for (index, field) in response.fields.enumerated() {
            // Lengths first: comparing each of some twenty names with five others costs more than all the parsing.
            switch field.name.canonicalName.utf8.count {
            case 3 where field.name == .age && !hasAge:
                if let member = field.withUnsafeBytesOfValue(Self.age) {
                    hasAge = true
                    age = member
                }
            case 4 where field.name == .date && !hasDate:
                hasDate = true
                // An unusable Date is that of receipt (RFC 9110 §6.6.1).
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
        // RFC 9213 §2.2: then Cache-Control and Expires are ignored.
        if !policy.targetedFields.isEmpty,
            let targeted = CacheControl(targeted: response.fields, names: policy.targetedFields)
        {
            cacheControl = targeted
            expires = nil
            hasTwoExpires = false
        }
    }

    /// RFC 9111 §5.1: of a list "a cache SHOULD use the first" member; what is no number is ignored. `nil` when the line has
    /// no member: then the first is in one of the next.
    private static func age(_ bytes: FieldBytes) -> Int64? {
        var scanner = FieldScanner(bytes)
        guard scanner.skipToElement() else { return nil }
        let digits = scanner.token()
        guard scanner.isAtEndOfElement(), case .seconds(let age) = DeltaSeconds(digits) else { return 0 }
        return age
    }

    /// The first of these that is there: override, `s-maxage` if shared, `max-age`, `Expires`, heuristic, default.
    func lifetime(of response: StoredResponse, policy: CachePolicy) -> Int64 {
        if case .fixed(let lifetime) = policy.lifetimeOverride { return max(0, lifetime.components.seconds) }

        // RFC 9111 §4.2.1: "Caches are encouraged to consider responses that have invalid freshness information to be
        // stale": a malformed number must not let the next rule decide.
        if policy.isShared, let lifetime = cacheControl.sharedMaxAge.lifetime { return lifetime }
        if let lifetime = cacheControl.maxAge.lifetime { return lifetime }
        if let expires {
            // §4.2.1 leaves the first of two or stale: two that contradict each other are no promise. §5.3: an invalid one,
            // "especially including the value 0", is in the past.
            guard !hasTwoExpires, let expires = HTTPDate(response.fields[expires], now: response.responseTime) else {
                return 0
            }
            return max(0, expires.seconds(since: date))
        }

        // §4.2.2: no heuristic beside an explicit expiration time, nor for other statuses unless public.
        guard response.status.isHeuristicallyCacheable || cacheControl.isPublic else { return 0 }
        if let lastModified, policy.heuristicFraction > 0,
            let lastModified = HTTPDate(lenient: response.fields[lastModified], now: response.responseTime)
        {
            let limit = max(0, policy.heuristicLimit.components.seconds)
            let guess = Double(date.seconds(since: lastModified)) * policy.heuristicFraction
            return guess < Double(limit) ? Int64(max(0, guess)) : limit
        }
        return max(0, policy.defaultLifetime.components.seconds)
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
