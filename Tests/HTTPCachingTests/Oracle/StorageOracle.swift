/// The rules of RFC 9111 §3 for storing a response, by a literal reading of the lines.
struct StorageOracle {
    /// Whether it must not be stored.
    let isForbidden: Bool
    /// Whether the rules permit storing and no reading forbids it.
    let isPlainlyAllowed: Bool

    init(_ example: OracleCase) {
        let request = OracleDirectives(example.request("cache-control"))
        let response = OracleDirectives(example.response("cache-control"))
        let isUnderstood = Self.understood.contains(example.status)
        let statesUnderstanding = response.states("must-understand")

        var isForbidden = example.method != "GET" && example.method != "POST"
        // RFC 9110 §9.3.3
        if example.method == "POST" { isForbidden = isForbidden || example.response("content-location").isEmpty }
        isForbidden = isForbidden || !(200...599).contains(example.status) || [206, 304].contains(example.status)
        // §5.2.2.3, §5.2.2.5
        isForbidden =
            isForbidden || response.mentions("no-store") && !statesUnderstanding || statesUnderstanding && !isUnderstood
        isForbidden = isForbidden || request.mentions("no-store")
        let isSharedAge = if case .number = response.seconds("s-maxage") { true } else { false }
        if example.isShared {
            isForbidden = isForbidden || response.restrictsAll("private")
            // §3.5
            let isShareable = isSharedAge || response.states("public") || response.states("must-revalidate")
            isForbidden = isForbidden || !example.request("authorization").isEmpty && !isShareable
        }
        let hasAge = if case .number = response.seconds("max-age") { true } else { false }
        let hasReason =
            hasAge || response.states("public") || (example.isShared ? isSharedAge : response.states("private"))
            || !example.response("expires").isEmpty
            || [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(example.status)
        isForbidden = isForbidden || !hasReason

        self.isForbidden = isForbidden
        isPlainlyAllowed =
            !isForbidden && example.method == "GET" && response.isWellFormed && request.isWellFormed
            && !(example.isShared && response.mentions("private")) && !response.mentions("must-understand")
            // The reply to the condition or the range of one request answers no other request.
            && ![412, 416].contains(example.status)
    }

    /// RFC 9110 §15, of the statuses that ``OracleGenerator`` uses.
    private static let understood = [
        200, 201, 203, 204, 301, 302, 307, 308, 404, 410, 412, 416, 421, 500, 501, 503, 504,
    ]
}
