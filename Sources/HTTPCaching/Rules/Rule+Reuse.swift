/// The reasons why a stored response answers a request, or why not.
extension Rule {
    static let unsafeMethod = Rule("RFC 9111 §4", "only GET and HEAD are answered from stored responses")
    package static let policyBypass = Rule("policy", "the policy uses no stored responses")
    package static let contentOutsideKey = Rule(
        "RFC 9110 §9.3.1", "the request has content that is not a part of the key")
    static let foreignCondition = Rule(
        "RFC 9111 §4.3.2", "only the origin may evaluate If-Match and If-Unmodified-Since")
    static let tooManyRequestFields = Rule("limit", "the request has too many fields")
    static let nothingStored = Rule("RFC 9111 §4", "no response is stored for the target URI")
    static let varyMismatch = Rule("RFC 9111 §4.1", "no stored response matches the request in the fields of its Vary")
    static let bodyGone = Rule("RFC 9111 §3.3", "the body of the stored response is missing")
    static let incomplete = Rule("RFC 9111 §3.3", "the stored part lacks bytes that the request asks for")
    static let requestNoCache = Rule("RFC 9111 §5.2.1.4", "the request has no-cache")
    static let responseNoCache = Rule("RFC 9111 §5.2.2.4", "the response has no-cache")
    static let requestMaxAge = Rule("RFC 9111 §5.2.1.1", "the age exceeds the max-age of the request")
    static let requestMinFresh = Rule(
        "RFC 9111 §5.2.1.3", "the remaining lifetime is less than the min-fresh of the request")
    static let requestMaxStale = Rule("RFC 9111 §5.2.1.2", "stale, but within the max-stale of the request")
    static let immutable = Rule("RFC 8246 §2", "fresh and immutable")
    package static let fresh = Rule("RFC 9111 §4.2", "the freshness lifetime is greater than the age")
    static let stale = Rule("RFC 9111 §4.2", "the age has reached the freshness lifetime")
    static let staleForbidden = Rule("RFC 9111 §4.2.4", "stale, and the response must not be served stale")
    static let staleWhileRevalidate = Rule("RFC 5861 §3", "stale, but within stale-while-revalidate")
    package static let staleIfError = Rule("RFC 5861 §4", "stale, but within stale-if-error")
    package static let disconnected = Rule("RFC 9111 §4.2.4", "stale, but the origin is unreachable")
    static let resumable = Rule("RFC 9111 §3.4", "the stored part can be completed")
    static let onlyIfCached = Rule(
        "RFC 9111 §5.2.1.7", "the request has only-if-cached, and no stored response can answer")
}
