/// The reuse of one stored response that RFC 9111 §4, RFC 5861 and RFC 8246 allow, by a literal reading of the lines.
struct ReuseOracle {
    /// The ways in which a stored response may answer.
    enum Answer: Hashable {
        case fresh
        /// Stale, because the request allows it or accepts only a stored response.
        case stale
        /// Stale, and validated in the background.
        case staleAndValidated
        /// Only after contact with the origin.
        case none
    }

    /// The most permissive answer that is allowed.
    let answer: Answer
    /// The current age.
    let age: Int64
    /// Whether the lines have a single reading. Then a cache that uses every permission returns exactly `answer`.
    let isCertain: Bool
    /// The fields that must not go out without validation.
    let withheld: [String]
    /// Whether the response may be served stale instead of an error status; `false` is certain.
    let mayServeStaleForStatus: Bool
    /// Whether the response may answer when the origin is unreachable; `false` is a prohibition.
    let mayServeStaleWhenDisconnected: Bool

    init(_ example: OracleCase) {
        let reading = Reading(example)
        age = reading.age
        answer = reading.answer
        isCertain = reading.isCertain
        withheld = reading.response.fields(of: "no-cache")
        mayServeStaleForStatus = reading.mayServeStale(isDisconnected: false)
        mayServeStaleWhenDisconnected = reading.mayServeStale(isDisconnected: true)
    }
}

private struct Reading {
    let example: OracleCase
    let request: OracleDirectives
    let response: OracleDirectives
    let age: Int64
    let lifetime: Int64

    init(_ example: OracleCase) {
        self.example = example
        request = OracleDirectives(example.request("cache-control"))
        response = OracleDirectives(example.response("cache-control"))
        age = Self.age(example)
        lifetime = Self.lifetime(example, response)
    }

    private var isFresh: Bool { lifetime > age && isClockRight }
    private var staleness: Int64 { max(0, age - lifetime) }

    /// A response from the future has an unknown age.
    private var isClockRight: Bool { example.now >= example.responseTime - 5 }

    // MARK: RFC 9111 §4.2.3

    private static func age(_ example: OracleCase) -> Int64 {
        let date = example.response("date").first.flatMap(example.date) ?? example.responseTime
        let apparent = max(0, example.responseTime - date)
        let corrected = statedAge(example) + max(0, example.responseTime - example.requestTime)
        return max(apparent, corrected) + max(0, example.now - example.responseTime)
    }

    /// §5.1: the first member of the combined list counts; a non-numeric member is ignored.
    private static func statedAge(_ example: OracleCase) -> Int64 {
        let members = example.response("age").joined(separator: ",").split(separator: ",").map {
            OracleCase.trim(String($0))
        }
        guard let first = members.first(where: { !$0.isEmpty }), first.utf8.allSatisfy({ (48...57).contains($0) })
        else { return 0 }
        return min(Int64(first) ?? .max, 2_147_483_648)
    }

    // MARK: RFC 9111 §4.2.1, §4.2.2

    private static func lifetime(_ example: OracleCase, _ response: OracleDirectives) -> Int64 {
        // §3: only a policy that ignores directives stores such a response. Under any other policy it is stale.
        if response.mentions("no-store"), !response.states("must-understand") { return 0 }
        for name in example.isShared ? ["s-maxage", "max-age"] : ["max-age"] {
            switch response.seconds(name) {
            case .absent: break
            case .unreadable: return 0
            case .number(let seconds): return seconds
            }
        }
        let date = example.response("date").first.flatMap(example.date) ?? example.responseTime
        let expires = example.response("expires")
        if !expires.isEmpty {
            guard expires.count == 1, let expires = example.date(expires[0]) else { return 0 }
            return max(0, expires - date)
        }
        let mayGuess = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(example.status)
        guard mayGuess || response.states("public"),
            let modified = example.response("last-modified").first.flatMap(example.date)
        else { return 0 }
        return min(max(0, (date - modified) / 10), 7 * 86_400)
    }

    // MARK: RFC 9111 §4

    var answer: ReuseOracle.Answer {
        guard isSelected, !isOfOneUser, !wantsOrigin, !response.restrictsAll("no-cache") else { return .none }
        switch request.seconds("max-age") {
        case .absent: break
        case .unreadable: return .none
        // RFC 8246 §2: a reload does not validate a fresh immutable response.
        case .number(0): return isFresh && response.mentions("immutable") ? .fresh : .none
        case .number(let limit): if age > limit { return .none }
        }
        switch request.seconds("min-fresh") {
        case .absent: break
        case .unreadable: return .none
        case .number(let margin): if lifetime - age < margin { return .none }
        }
        if isFresh { return .fresh }
        guard !isStaleForbidden else { return .none }
        switch request.seconds("max-stale") {
        case .number(let limit):
            return isClockRight && staleness <= limit ? .stale : .none
        case .unreadable:
            return permitsStale ? .stale : .none
        case .absent:
            guard case .number(let window) = response.seconds("stale-while-revalidate"), isClockRight,
                staleness <= window, !wantsFresh
            else { return .none }
            return request.mentions("only-if-cached") ? .stale : .staleAndValidated
        }
    }

    /// RFC 9111 §5.2.1.1, §5.2.1.3: a request with these and without max-stale "is not willing to accept a stale
    /// response".
    private var wantsFresh: Bool { (request.mentions("max-age") || request.mentions("min-fresh")) && !permitsStale }

    /// Without an argument, max-stale allows any staleness. A malformed max-stale allows none.
    private var permitsStale: Bool {
        if case .number = request.seconds("max-stale") { return true }
        return request.members.first { $0.name == "max-stale" }?.argument == OracleDirectives.Argument.none
    }

    private var isStaleForbidden: Bool {
        response.restrictsAll("no-cache") || response.mentions("must-revalidate")
            || example.isShared && (response.mentions("proxy-revalidate") || response.mentions("s-maxage"))
    }

    private var wantsOrigin: Bool {
        let pragma = example.request("pragma").flatMap { $0.split(separator: ",") }.map {
            OracleDirectives.lowercased(OracleDirectives.trim(Array($0.utf8)))
        }
        return !["GET", "HEAD"].contains(example.method) || request.mentions("no-cache")
            || (example.request("cache-control").isEmpty && pragma.contains("no-cache"))
            || !example.request("if-match").isEmpty || !example.request("if-unmodified-since").isEmpty
    }

    /// RFC 9111 §4.1. In addition, a private cache does not serve one account's response to another account.
    private var isSelected: Bool {
        var nominated = example.response("vary").flatMap { $0.split(separator: ",") }.map {
            OracleDirectives.lowercased(OracleDirectives.trim(Array($0.utf8)))
        }
        if !example.isShared { nominated.append("authorization") }
        return nominated.allSatisfy {
            OracleCase.combined($0, example.request) == OracleCase.combined($0, example.storedRequest)
        }
    }

    /// RFC 9111 §5.2.2.7: a shared cache must not store the response, but may find it in a store shared with a private
    /// cache.
    private var isOfOneUser: Bool { example.isShared && response.mentions("private") }

    // MARK: RFC 9111 §4.2.4, RFC 5861 §4

    func mayServeStale(isDisconnected: Bool) -> Bool {
        guard isSelected, !isOfOneUser, !wantsOrigin, !wantsFresh, !response.restrictsAll("no-cache") else {
            return false
        }
        if isFresh { return true }
        guard !isStaleForbidden else { return false }
        let windows = [request.seconds("stale-if-error"), response.seconds("stale-if-error")].filter { $0 != .absent }
        guard !windows.isEmpty else { return isDisconnected }
        return windows.allSatisfy { window in
            if case .number(let seconds) = window { isClockRight && staleness <= seconds } else { false }
        }
    }

    // MARK: Certainty

    /// Whether the lines have a single reading.
    var isCertain: Bool {
        let control = [request, response]
        let numbers = ["max-age", "s-maxage", "min-fresh", "stale-while-revalidate", "stale-if-error"]
        let flags = ["public", "immutable", "must-revalidate", "proxy-revalidate", "only-if-cached", "must-understand"]
        return control.allSatisfy { control in
            control.isWellFormed && !control.hasEscapedNames
                && numbers.allSatisfy { control.seconds($0) != .unreadable }
                && control.members.allSatisfy { !flags.contains($0.name) || $0.argument == .none }
        } && example.response("date").count <= 1 && (isClockRight == (example.now >= example.responseTime))
    }
}
