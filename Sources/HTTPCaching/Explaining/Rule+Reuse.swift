/// The reasons why a stored response answers a request or does not.
extension Rule {
    static let unsafeMethod = Rule("RFC 9111 §4", "the method is written through to the origin")
    package static let policyBypass = Rule("policy", "stored responses are not used")
    static let foreignCondition = Rule(
        "RFC 9111 §4.3.2", "If-Match and If-Unmodified-Since are for the origin to evaluate")
    static let tooManyRequestFields = Rule("limit", "the request has too many fields")
    static let nothingStored = Rule("RFC 9111 §4", "nothing is stored for the target URI")
    static let varyMismatch = Rule("RFC 9111 §4.1", "no stored response has the request fields that its Vary nominates")
    static let bodyGone = Rule("RFC 9111 §3.3", "the stored body is not there any more")
    /// The stored part lacks bytes that the request asks for.
    static let incomplete = Rule("RFC 9111 §3.3", "what is stored is incomplete")
    static let requestNoCache = Rule("RFC 9111 §5.2.1.4", "the request says no-cache")
    static let responseNoCache = Rule("RFC 9111 §5.2.2.4", "the response says no-cache")
    static let requestMaxAge = Rule("RFC 9111 §5.2.1.1", "older than the request's max-age")
    static let requestMinFresh = Rule("RFC 9111 §5.2.1.3", "not fresh for the request's min-fresh")
    static let requestMaxStale = Rule("RFC 9111 §5.2.1.2", "stale within the request's max-stale")
    static let immutable = Rule("RFC 8246 §2", "fresh and immutable")
    package static let fresh = Rule("RFC 9111 §4.2", "the freshness lifetime is greater than the age")
    static let stale = Rule("RFC 9111 §4.2", "the age has reached the freshness lifetime")
    static let staleForbidden = Rule("RFC 9111 §4.2.4", "stale, and the response prohibits stale use")
    static let staleWhileRevalidate = Rule("RFC 5861 §3", "stale within stale-while-revalidate")
    package static let staleIfError = Rule("RFC 5861 §4", "stale within stale-if-error")
    package static let disconnected = Rule("RFC 9111 §4.2.4", "stale, and the origin cannot be reached")
    static let resumable = Rule("RFC 9111 §3.4", "the rest of a stored part is asked for")
    static let onlyIfCached = Rule(
        "RFC 9111 §5.2.1.7", "the request says only-if-cached, and nothing stored can answer")
}
