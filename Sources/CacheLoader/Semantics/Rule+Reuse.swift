/// Why a stored response answers a request, or does not.
extension Rule {
    /// The method is one that only the origin can answer.
    static let unsafeMethod = Rule(section: "RFC 9111 §4", phrase: "the method is written through to the origin")
    /// The policy passes the cache by.
    static let policyBypass = Rule(section: "policy", phrase: "stored responses are not used")
    /// Conditions for the origin to judge.
    static let foreignCondition = Rule(
        section: "RFC 9111 §4.3.2", phrase: "If-Match and If-Unmodified-Since are for the origin to evaluate")
    /// More fields than are looked at.
    static let tooManyRequestFields = Rule(section: "limit", phrase: "the request has too many fields")
    /// Nothing stored.
    static let nothingStored = Rule(section: "RFC 9111 §4", phrase: "nothing is stored for the target URI")
    /// Nothing for these fields.
    static let varyMismatch = Rule(
        section: "RFC 9111 §4.1", phrase: "no stored response has the request fields that its Vary nominates")
    /// The bytes are gone.
    static let bodyGone = Rule(section: "RFC 9111 §3.3", phrase: "the stored body is not there any more")
    /// Only other bytes of it.
    static let incomplete = Rule(section: "RFC 9111 §3.3", phrase: "what is stored is incomplete")
    /// `no-cache` of the request.
    static let requestNoCache = Rule(section: "RFC 9111 §5.2.1.4", phrase: "the request says no-cache")
    /// `no-cache` of the response.
    static let responseNoCache = Rule(section: "RFC 9111 §5.2.2.4", phrase: "the response says no-cache")
    /// `max-age` of the request.
    static let requestMaxAge = Rule(section: "RFC 9111 §5.2.1.1", phrase: "older than the request's max-age")
    /// `min-fresh` of the request.
    static let requestMinFresh = Rule(section: "RFC 9111 §5.2.1.3", phrase: "not fresh for the request's min-fresh")
    /// `max-stale` of the request.
    static let requestMaxStale = Rule(section: "RFC 9111 §5.2.1.2", phrase: "stale within the request's max-stale")
    /// `immutable` of the response.
    static let immutable = Rule(section: "RFC 8246 §2", phrase: "fresh and immutable")
    /// Fresh.
    static let fresh = Rule(section: "RFC 9111 §4.2", phrase: "the freshness lifetime is greater than the age")
    /// Stale.
    static let stale = Rule(section: "RFC 9111 §4.2", phrase: "the age has reached the freshness lifetime")
    /// Stale, and must not be used so.
    static let staleForbidden = Rule(
        section: "RFC 9111 §4.2.4", phrase: "stale, and the response prohibits stale use")
    /// `stale-while-revalidate`.
    static let staleWhileRevalidate = Rule(
        section: "RFC 5861 §3", phrase: "stale within stale-while-revalidate")
    /// `stale-if-error`.
    static let staleIfError = Rule(section: "RFC 5861 §4", phrase: "stale within stale-if-error")
    /// No contact.
    static let disconnected = Rule(
        section: "RFC 9111 §4.2.4", phrase: "stale, and the origin cannot be reached")
    /// Part of it is there.
    static let resumable = Rule(section: "RFC 9111 §3.4", phrase: "the rest of a stored part is asked for")
    /// `only-if-cached`.
    static let onlyIfCached = Rule(
        section: "RFC 9111 §5.2.1.7", phrase: "the request says only-if-cached, and nothing stored can answer")
}
