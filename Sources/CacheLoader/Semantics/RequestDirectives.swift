internal import HTTPTypes

/// What a request asks of the cache: in its own fields (RFC 9111 §5.2.1), and by the policy it is made under.
struct RequestDirectives {
    /// Whether it may only be answered after validation.
    private(set) var noCache = false
    /// Whether its response must not be stored.
    private(set) var noStore = false
    /// Whether the origin must not be asked.
    private(set) var onlyIfCached = false
    /// Whether it carries a range or a precondition of its own, which the origin is to judge.
    private(set) var isConditional = false

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
            case 5 where name == .range, 8 where name == .ifRange || name == .ifMatch, 13 where name == .ifNoneMatch,
                17 where name == .ifModifiedSince, 19 where name == .ifUnmodifiedSince:
                isConditional = true
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
    func permit(_ stored: Freshness, at now: HTTPDate) -> Bool {
        if noCache || stored.alwaysNeedsValidation { return false }
        let isFresh = stored.isFresh(at: now)
        let age = stored.age(at: now)

        // §5.2.1.1. An age of 0 can be most of a second, which is more than max-age=0 allows; so that is always a reload,
        // which an immutable response need not heed while it is fresh (RFC 8246 §2).
        switch maxAge {
        case .absent: break
        case .malformed: return false
        case .seconds(0):
            guard isFresh, respectsImmutable, stored.cacheControl.isImmutable else { return false }
        case .seconds(let limit):
            guard age <= limit else { return false }
        }

        // §5.2.1.3
        switch minFresh {
        case .absent: break
        case .malformed: return false
        case .seconds(let margin):
            guard stored.lifetime >= age.saturatingAdding(margin) else { return false }
        }

        if isFresh { return true }
        // §5.2.1.2. What the response forbids no request can allow (§4.2.4).
        guard stored.allowsStale, case .seconds(let limit) = maxStale else { return false }
        return stored.staleness(at: now) <= limit
    }
}
