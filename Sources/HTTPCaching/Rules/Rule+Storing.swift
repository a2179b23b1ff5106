// MARK: - Why a response is not stored

extension Rule {
    /// The policy forbids storing.
    package static let localConfiguration = Rule(
        "RFC 9111 §2", "when no requirement or local configuration prevents it")

    /// The cache does not store responses to this method.
    package static let methodNotUnderstood = Rule("RFC 9111 §3", "the request method is understood by the cache")

    /// The status is interim or invalid.
    package static let statusNotFinal = Rule("RFC 9111 §3", "the response status code is final")

    /// A 206 or 304 is not a response by itself.
    package static let statusNotUnderstood = Rule(
        "RFC 9111 §3", "if the response status code is 206 or 304 …: the cache understands the response status code")

    /// The response has `must-understand`, but the cache does not understand the status.
    package static let mustUnderstand = Rule(
        "RFC 9111 §5.2.2.3", "limits caching of the response to a cache that understands … that response's status code")

    /// The response has `no-store`.
    package static let noStore = Rule(
        "RFC 9111 §3", "the no-store cache directive is not present in the response")

    /// The request has `no-store`.
    package static let requestNoStore = Rule(
        "RFC 9111 §5.2.1.5", "a cache MUST NOT store any part of either this request or any response to it")

    /// The response has `private`, and the cache is shared.
    package static let privateInSharedCache = Rule(
        "RFC 9111 §3", "if the cache is shared: the private response directive is … not present")

    /// The request has `Authorization`, the cache is shared, and no response directive allows sharing.
    package static let authorizationInSharedCache = Rule(
        "RFC 9111 §3",
        """
        if the cache is shared: the Authorization header field is not present in the request … or a response directive is \
        present that explicitly allows shared caching
        """
    )

    /// A 412 concerns the conditions of one request only.
    package static let preconditionFailed = Rule(
        "RFC 9110 §15.5.13", "one or more conditions given in the request header fields evaluated to false")

    /// A 416 concerns the range of one request only.
    package static let rangeNotSatisfiable = Rule(
        "RFC 9110 §15.5.17", "the set of ranges in the request's Range header field … has been rejected")

    /// The response has no explicit freshness information, and its status is not heuristically cacheable.
    package static let nothingAllowsStoring = Rule(
        "RFC 9111 §3", "the response contains at least one of the following")

    /// The response has more fields than ``Storability/maxFieldCount``.
    package static let tooManyFields = Rule(
        "RFC 9110 §5.4",
        "HTTP does not place a predefined limit on the length … of a header or trailer section as a whole"
    )

    /// The response to a POST lacks explicit freshness information, or a `Content-Location` equal to the target URI.
    package static let postNotCacheable = Rule(
        "RFC 9110 §9.3.3",
        """
        Responses to POST requests are only cacheable when they include explicit freshness information … and a \
        Content-Location header field that has the same value as the POST's target URI
        """
    )
}

// MARK: - Why a storable response is not stored

extension Rule {
    /// `Vary` has the member `*`.
    package static let varyOnEverything = Rule(
        "RFC 9111 §4.1",
        "a stored response with a Vary header field value containing a member \"*\" always fails to match")

    /// The body is larger than the limits of the store allow.
    package static let largerThanLimit = Rule("limit", "the body is larger than the store accepts")

    /// The request stores no errors, or only other content types.
    package static let notWanted = Rule("policy", "the request does not store such responses")

    /// A HEAD or a 304 has no body to store.
    package static let replyWithoutBody = Rule("RFC 9110 §6.4.1", "the reply never includes content")

    /// A 206 that does not answer the range of the request, or is decoded already.
    package static let unusablePart = Rule("RFC 9111 §3.3", "the reply is no part that can be stored")
}

// MARK: - Why a stored response changes

extension Rule {
    package static let freshenedByReply = Rule(
        "RFC 9111 §4.3.4", "the stored response is updated with the fields of the reply")

    package static let staleOnError = Rule("RFC 5861 §4", "a stored response answers in place of an error")
}

// MARK: - Why a response is stored

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
