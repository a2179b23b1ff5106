/// Why a stored response answers a request, or does not.
extension Rule {
    /// The method is one that only the origin can answer.
    static let unsafeMethod = Rule("RFC 9111 §4", "the method is written through to the origin")
    /// The policy passes the cache by.
    static let policyBypass = Rule("policy", "stored responses are not used")
    /// Conditions for the origin to judge.
    static let foreignCondition = Rule(
        "RFC 9111 §4.3.2", "If-Match and If-Unmodified-Since are for the origin to evaluate")
    /// More fields than are looked at.
    static let tooManyRequestFields = Rule("limit", "the request has too many fields")
    /// Nothing stored.
    static let nothingStored = Rule("RFC 9111 §4", "nothing is stored for the target URI")
    /// Nothing for these fields.
    static let varyMismatch = Rule("RFC 9111 §4.1", "no stored response has the request fields that its Vary nominates")
    /// The bytes are gone.
    static let bodyGone = Rule("RFC 9111 §3.3", "the stored body is not there any more")
    /// Only other bytes of it.
    static let incomplete = Rule("RFC 9111 §3.3", "what is stored is incomplete")
    /// `no-cache` of the request.
    static let requestNoCache = Rule("RFC 9111 §5.2.1.4", "the request says no-cache")
    /// `no-cache` of the response.
    static let responseNoCache = Rule("RFC 9111 §5.2.2.4", "the response says no-cache")
    /// `max-age` of the request.
    static let requestMaxAge = Rule("RFC 9111 §5.2.1.1", "older than the request's max-age")
    /// `min-fresh` of the request.
    static let requestMinFresh = Rule("RFC 9111 §5.2.1.3", "not fresh for the request's min-fresh")
    /// `max-stale` of the request.
    static let requestMaxStale = Rule("RFC 9111 §5.2.1.2", "stale within the request's max-stale")
    /// `immutable` of the response.
    static let immutable = Rule("RFC 8246 §2", "fresh and immutable")
    /// Fresh.
    static let fresh = Rule("RFC 9111 §4.2", "the freshness lifetime is greater than the age")
    /// Stale.
    static let stale = Rule("RFC 9111 §4.2", "the age has reached the freshness lifetime")
    /// Stale, and must not be used so.
    static let staleForbidden = Rule("RFC 9111 §4.2.4", "stale, and the response prohibits stale use")
    /// `stale-while-revalidate`.
    static let staleWhileRevalidate = Rule("RFC 5861 §3", "stale within stale-while-revalidate")
    /// `stale-if-error`.
    static let staleIfError = Rule("RFC 5861 §4", "stale within stale-if-error")
    /// No contact.
    static let disconnected = Rule("RFC 9111 §4.2.4", "stale, and the origin cannot be reached")
    /// Part of it is there.
    static let resumable = Rule("RFC 9111 §3.4", "the rest of a stored part is asked for")
    /// `only-if-cached`.
    static let onlyIfCached = Rule(
        "RFC 9111 §5.2.1.7", "the request says only-if-cached, and nothing stored can answer")
}
