/// The reasons why a response is not stored.
extension Rule {
    package static let localConfiguration = Rule(
        "RFC 9111 §2", "when no requirement or local configuration prevents it")
    package static let methodNotUnderstood = Rule("RFC 9111 §3", "the request method is understood by the cache")
    package static let statusNotFinal = Rule("RFC 9111 §3", "the response status code is final")
    /// A 206 or 304 is not a response by itself.
    package static let statusNotUnderstood = Rule(
        "RFC 9111 §3", "if the response status code is 206 or 304 …: the cache understands the response status code")
    package static let mustUnderstand = Rule(
        "RFC 9111 §5.2.2.3", "limits caching of the response to a cache that understands … that response's status code")
    package static let noStore = Rule("RFC 9111 §3", "the no-store cache directive is not present in the response")
    package static let requestNoStore = Rule(
        "RFC 9111 §5.2.1.5", "a cache MUST NOT store any part of either this request or any response to it")
    package static let privateInSharedCache = Rule(
        "RFC 9111 §3", "if the cache is shared: the private response directive is … not present")
    package static let authorizationInSharedCache = Rule(
        "RFC 9111 §3",
        "if the cache is shared: the Authorization header field is not present in the request … or a response "
            + "directive is present that explicitly allows shared caching")
    package static let preconditionFailed = Rule(
        "RFC 9110 §15.5.13", "one or more conditions given in the request header fields evaluated to false")
    package static let rangeNotSatisfiable = Rule(
        "RFC 9110 §15.5.17", "the set of ranges in the request's Range header field … has been rejected")
    /// The response has no explicit freshness information, and its status is not heuristically cacheable.
    package static let nothingAllowsStoring = Rule(
        "RFC 9111 §3", "the response contains at least one of the following")
    /// The response has more fields than ``StorageDecision/maxFieldCount``.
    package static let tooManyFields = Rule(
        "RFC 9110 §5.4",
        "HTTP does not place a predefined limit on the length … of a header or trailer section as a whole")
    package static let postNotCacheable = Rule(
        "RFC 9110 §9.3.3",
        "Responses to POST requests are only cacheable when they include explicit freshness information … and a "
            + "Content-Location header field that has the same value as the POST's target URI")
}

/// The reasons why a storable response is not stored.
extension Rule {
    /// A `Vary` with "*", a malformed one, or one with too many field names.
    package static let varyMatchesNothing = Rule("RFC 9111 §4.1", "no request can match the Vary of the response")
    package static let largerThanLimit = Rule("limit", "the body is larger than the store accepts")
    /// The request stores no errors, or only other content types.
    package static let notWanted = Rule("policy", "the request does not store such responses")
    package static let replyWithoutBody = Rule("RFC 9110 §6.4.1", "the reply never includes content")
    /// A 206 that does not answer the range of the request, or is decoded already.
    package static let unusablePart = Rule("RFC 9111 §3.3", "the reply is no part that can be stored")
}

/// The reasons why a stored response changes.
extension Rule {
    package static let freshenedByReply = Rule(
        "RFC 9111 §4.3.4", "the stored response is updated with the fields of the reply")
    package static let staleOnError = Rule("RFC 5861 §4", "a stored response answers in place of an error")
}

extension Rule {
    /// The reply answers the question of the cache, and not the request of the caller.
    package static let nothingAnswers = Rule(
        "RFC 9111 §4.3.3", "neither the reply nor a stored response can answer the request")
}

/// The reasons why a response is stored.
extension Rule {
    package static let publicDirective = Rule("RFC 9111 §3", "a public response directive")
    package static let privateDirective = Rule(
        "RFC 9111 §3", "a private response directive, if the cache is not shared")
    package static let expiresField = Rule("RFC 9111 §3", "an Expires header field")
    package static let maxAgeDirective = Rule("RFC 9111 §3", "a max-age response directive")
    package static let sharedMaxAgeDirective = Rule(
        "RFC 9111 §3", "if the cache is shared: an s-maxage response directive")
    package static let heuristicallyCacheable = Rule(
        "RFC 9111 §3", "a status code that is defined as heuristically cacheable")
    package static let postCacheable = Rule(
        "RFC 9110 §9.3.3", "A cached POST response can be reused to satisfy a later GET or HEAD request")
}
