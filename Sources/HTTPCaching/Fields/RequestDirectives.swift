internal import HTTPTypes

/// What a request asks of the cache: in its own fields (RFC 9111 §5.2.1), and by the policy it is made under.
struct RequestDirectives {
    /// Whether a stored response may answer without the origin being asked.
    enum Permission {
        case refused(Rule)
        /// It may; the rule says why.
        case granted(Rule, isStale: Bool)
        /// It may, and is to be validated behind the caller's back (RFC 5861 §3).
        case grantedWhileRevalidating
    }

    /// Whether it may only be answered after validation.
    private(set) var noCache = false
    /// Whether its response must not be stored.
    private(set) var noStore = false
    /// Whether the origin must not be asked.
    private(set) var onlyIfCached = false
    /// Whether it carries `Range`.
    private(set) var hasRange = false
    /// Whether it carries a condition that a cache may judge: `If-None-Match` or `If-Modified-Since`.
    private(set) var isConditional = false
    /// Whether it carries a condition that only the origin may judge (RFC 9111 §4.3.2).
    private(set) var mustBeForwarded = false
    /// Whether it wants an error rather than a stale response: it asked for a validated one, or for a fresh one.
    private(set) var refusesStale = false
    /// `stale-if-error` (RFC 5861 §4)
    private(set) var staleIfError = DeltaSeconds.absent

    private var maxAge = DeltaSeconds.absent
    private var minFresh = DeltaSeconds.absent
    private var maxStale = DeltaSeconds.absent
    private let respectsImmutable: Bool

    init(_ request: HTTPRequest, mode: CachePolicy.Mode) {
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
        // A max-stale that cannot be read permits nothing.
        let permitsNoStale = maxStale == .absent || maxStale == .malformed
        refusesStale = noCache || (permitsNoStale && (maxAge != .absent || minFresh != .absent))
        // RFC 8246 §3: immutable is to be ignored on a channel that others may write to. Only a reload has to know.
        respectsImmutable = maxAge == .seconds(0) && request.scheme?.lowercased() == "https"

        switch mode {
        case .http, .remoteOnly: break
        case .cacheFirst: maxStale = .seconds(.max)
        case .revalidateAlways: noCache = true
        case .cacheOnly:
            maxStale = .seconds(.max)
            onlyIfCached = true
        }
    }

    /// Whether a stored response may answer at `now` without the origin being asked (RFC 9111 §4).
    func permission(_ stored: Freshness, at now: HTTPDate) -> Permission {
        if noCache { return .refused(.requestNoCache) }
        if stored.alwaysNeedsValidation { return .refused(.responseNoCache) }
        let isFresh = stored.isFresh(at: now)
        let age = stored.age(at: now)

        // §5.2.1.1. An age of 0 can be most of a second, which is more than max-age=0 allows; so that is always a reload,
        // which an immutable response need not heed while it is fresh (RFC 8246 §2).
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
        // What the response forbids no request can allow (§4.2.4).
        guard stored.allowsStale else { return .refused(.staleForbidden) }
        let staleness = stored.staleness(at: now)
        // §5.2.1.2
        if case .seconds(let limit) = maxStale, staleness <= limit { return .granted(.requestMaxStale, isStale: true) }
        // RFC 5861 §3, unless the request wants a fresh one, or has said itself how stale it may be.
        if !refusesStale, maxStale == .absent, case .seconds(let limit) = stored.cacheControl.staleWhileRevalidate,
            staleness <= limit
        {
            return onlyIfCached ? .granted(.staleWhileRevalidate, isStale: true) : .grantedWhileRevalidating
        }
        return .refused(.stale)
    }
}
