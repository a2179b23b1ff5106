/// A request's requirements on the cache, from its fields (RFC 9111 §5.2.1) and its policy.
package struct RequestDirectives {
    /// Whether a stored response may answer without the origin.
    enum Permission {
        case refused(Rule)
        /// The stored response may answer, by this rule.
        case granted(Rule, isStale: Bool)
        /// The stored response may answer, and the cache must validate it in the background (RFC 5861 §3).
        case grantedWhileRevalidating
    }

    /// Whether only a validated response may answer.
    package private(set) var noCache = false
    package private(set) var noStore = false
    /// Whether the cache must not contact the origin.
    package private(set) var onlyIfCached = false
    package private(set) var hasRange = false
    /// Whether the request has a condition that a cache may evaluate: `If-None-Match` or `If-Modified-Since`.
    package private(set) var isConditional = false
    /// Whether the request has a condition that only the origin may evaluate (RFC 9111 §4.3.2).
    package private(set) var mustBeForwarded = false
    /// Whether the request prefers an error to a stale response, because it demands a validated or fresh response.
    private(set) var refusesStale = false
    /// `stale-if-error` (RFC 5861 §4)
    private(set) var staleIfError = DeltaSeconds.absent

    /// `max-age` (RFC 9111 §5.2.1.1)
    package private(set) var maxAge = DeltaSeconds.absent
    private var minFresh = DeltaSeconds.absent
    private var maxStale = DeltaSeconds.absent
    private let respectsImmutable: Bool

    package init(_ request: HTTPRequest, mode: CachePolicy.Mode) {
        var control = CacheControl()
        var hasCacheControl = false
        var pragmaNoCache = false
        for field in request.headerFields {
            let name = field.name
            switch name.canonicalName.utf8.count {
            case 13 where name == .cacheControl:
                hasCacheControl = true
                control.combine(field)
            case 6 where name.canonicalName == "pragma":
                let tokens = field.withUnsafeBytesOfValue(\.lowercasedTokens) ?? []
                pragmaNoCache = pragmaNoCache || tokens.contains("no-cache")
            case 5 where name == .range: hasRange = true
            case 13 where name == .ifNoneMatch, 17 where name == .ifModifiedSince: isConditional = true
            case 8 where name == .ifMatch, 19 where name == .ifUnmodifiedSince: mustBeForwarded = true
            default:
                break
            }
        }
        // RFC 9111 §5.4: Pragma counts only without Cache-Control.
        noCache = control.noCache || !control.noCacheFields.isEmpty || (pragmaNoCache && !hasCacheControl)
        noStore = control.noStore
        onlyIfCached = control.onlyIfCached
        maxAge = control.maxAge
        minFresh = control.minFresh
        maxStale = control.maxStale
        staleIfError = control.staleIfError
        // A malformed max-stale permits nothing.
        let permitsNoStale = maxStale == .absent || maxStale == .malformed
        refusesStale = noCache || (permitsNoStale && (maxAge != .absent || minFresh != .absent))
        // RFC 8246 §3: ignore immutable on a channel that an attacker can write to. Needed only for a reload.
        respectsImmutable = maxAge == .seconds(0) && request.scheme?.lowercased() == "https"

        switch mode {
        case .http, .remoteOnly: break
        case .cacheFirst: maxStale = .seconds(.max)
        case .revalidateAlways: (noCache, refusesStale) = (true, true)
        case .cacheOnly:
            maxStale = .seconds(.max)
            onlyIfCached = true
        }
    }

    /// Decides whether a stored response may answer at `now` without the origin (RFC 9111 §4).
    func permission(_ stored: Freshness, at now: HTTPDate) -> Permission {
        if noCache { return .refused(.requestNoCache) }
        if stored.alwaysNeedsValidation { return .refused(.responseNoCache) }
        let isFresh = stored.isFresh(at: now)
        let age = stored.age(at: now)

        // §5.2.1.1: a response of age 0 may be almost a second old, which exceeds max-age=0. So max-age=0 always means
        // a reload. A fresh immutable response may ignore a reload (RFC 8246 §2).
        switch maxAge {
        case .absent: break
        case .malformed: return .refused(.requestMaxAge)
        case .seconds(0):
            guard isFresh, respectsImmutable, stored.cacheControl.isImmutable else { return .refused(.requestMaxAge) }
            return .granted(.immutable, isStale: false)
        case .seconds(let limit):
            guard age <= limit else { return .refused(.requestMaxAge) }
        }

        // §5.2.1.3
        switch minFresh {
        case .absent: break
        case .malformed: return .refused(.requestMinFresh)
        case .seconds(let margin):
            guard stored.lifetime >= age.saturatingAdding(margin) else { return .refused(.requestMinFresh) }
        }

        if isFresh { return .granted(.fresh, isStale: false) }
        // §4.2.4: a request cannot allow stale use against the response's prohibition.
        guard stored.allowsStale else { return .refused(.staleForbidden) }
        // §5.2.1.2
        if maxStale.permits(staleness: stored.staleness(at: now)) { return .granted(.requestMaxStale, isStale: true) }
        // RFC 5861 §3, unless the request demands a fresh response or states a limit for staleness.
        if !refusesStale, maxStale == .absent, stored.isWithinStaleWhileRevalidate(at: now) {
            return onlyIfCached ? .granted(.staleWhileRevalidate, isStale: true) : .grantedWhileRevalidating
        }
        return .refused(.stale)
    }
}
