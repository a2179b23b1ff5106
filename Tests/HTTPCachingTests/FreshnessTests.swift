internal import TestSupport

/// Fields of a response that arrives at 0, with this Date by default.
private struct Case: Sendable, CustomTestStringConvertible {
    let lines: [String]
    let status: HTTPResponse.Status
    let expected: Int64

    init(_ lines: String..., status: HTTPResponse.Status = .ok, expect expected: Int64) {
        self.lines = lines
        self.status = status
        self.expected = expected
    }

    var testDescription: String { "\(status.code) \(lines.joined(separator: " | "))" }

    func lifetime(_ policy: CachePolicy = CachePolicy()) -> Int64 { Freshness(of: response, policy: policy).lifetime }

    var response: StoredResponse {
        var response = Sample.stored(status: status)
        let fields = Sample.fields(lines)
        if fields.contains(.date) { response.fields[.date] = nil }
        response.fields.append(contentsOf: fields)
        return response
    }
}

private let epoch = "Sun, 06 Nov 1994 08:49:37 GMT"
private let minuteLater = "Sun, 06 Nov 1994 08:50:37 GMT"
private let minuteBefore = "Sun, 06 Nov 1994 08:48:37 GMT"
private let thousandSecondsBefore = "Sun, 06 Nov 1994 08:32:57 GMT"

@Suite struct FreshnessTests {
    private func freshness(_ response: StoredResponse, _ policy: CachePolicy = CachePolicy()) -> Freshness {
        Freshness(of: response, policy: policy)
    }

    // MARK: Lifetime

    @Test("RFC 9111 §4.2: fresh while the lifetime exceeds the age; stale when equal", .requirement("F01", "B1"))
    func boundary() {
        let sixty = freshness(Sample.stored("Cache-Control: max-age=60"))
        #expect(sixty.isFresh(at: Sample.time(59)))
        #expect(!sixty.isFresh(at: Sample.time(60)))
        #expect(sixty.staleness(at: Sample.time(59)) == 0)
        #expect(sixty.staleness(at: Sample.time(60)) == 0)
        #expect(sixty.staleness(at: Sample.time(61)) == 1)
        #expect(sixty.expiry == Sample.time(60))
        let none = freshness(Sample.stored("Cache-Control: max-age=0"))
        #expect(!none.isFresh(at: Sample.time(0)))
        #expect(none.expiry == nil)
    }

    @Test("The stated and the heuristic lifetime", .requirement("F02", "F03", "F04", "F06"), arguments: lifetimes)
    fileprivate func lifetime(_ example: Case) { #expect(example.lifetime() == example.expected) }

    private static let lifetimes = [
        // RFC 9111 §5.3: max-age overrides Expires, longer or shorter, valid or not.
        Case("Cache-Control: max-age=10", "Expires: \(minuteLater)", expect: 10),
        Case("Cache-Control: max-age=3600", "Expires: \(minuteLater)", expect: 3600),
        Case("Cache-Control: max-age=3600", "Expires: 0", expect: 3600),
        Case("Cache-Control: max-age=0", "Expires: \(minuteLater)", expect: 0),
        Case("Expires: \(minuteLater)", "Cache-Control: max-age=10", expect: 10),
        // §4.2.1: Expires counts from Date, otherwise from receipt.
        Case("Date: \(epoch)", "Expires: \(minuteLater)", expect: 60),
        Case("Date: \(minuteBefore)", "Expires: \(minuteLater)", expect: 120),
        Case("Date: \(minuteBefore)", "Expires: \(epoch)", expect: 60),
        Case("Date: nonsense", "Expires: \(minuteLater)", expect: 60),
        Case("Date: \(minuteLater)", "Expires: \(epoch)", expect: 0),
        Case("Date: \(epoch)", "Expires: \(epoch)", expect: 0),
        Case("Date: \(epoch)", "Expires: Sunday, 06-Nov-94 08:50:37 GMT", expect: 60),
        Case("Date: \(epoch)", "Expires: Sun Nov  6 08:50:37 1994", expect: 60),
        // §4.2.2: no heuristic with an explicit expiration time, valid or not.
        Case("Last-Modified: \(thousandSecondsBefore)", "Expires: 0", expect: 0),
        Case("Last-Modified: \(thousandSecondsBefore)", "Expires: \(minuteBefore)", expect: 0),
        Case("Last-Modified: \(thousandSecondsBefore)", "Cache-Control: max-age=0", expect: 0),
        Case("Last-Modified: \(thousandSecondsBefore)", "Cache-Control: max-age=x", expect: 0),
        // §4.2.2: the heuristic lifetime is a tenth of Date − Last-Modified, rounded down.
        Case("Last-Modified: \(thousandSecondsBefore)", expect: 100),
        Case("Last-Modified: Sun, 06 Nov 1994 08:49:18 GMT", expect: 1),
        Case("Last-Modified: Sun, 06 Nov 1994 08:49:28 GMT", expect: 0),
        Case("Last-Modified: Sun, 6 Nov 1994 8:32:57", expect: 100),
        Case("Last-Modified: \(epoch)", expect: 0),
        Case("Last-Modified: \(minuteLater)", expect: 0),
        Case("Last-Modified: nonsense", expect: 0),
        Case("Last-Modified: \(thousandSecondsBefore)", "Last-Modified: \(epoch)", expect: 100),
        Case("Date: \(minuteBefore)", "Last-Modified: \(thousandSecondsBefore)", expect: 94),
        Case("Last-Modified: Wed, 02 Jan 1980 00:00:00 GMT", expect: 604_800),
        // Archives and package stores give files such dates, regardless of their age.
        Case("Last-Modified: Tue, 01 Jan 1980 23:59:59 GMT", expect: 0),
        Case("Last-Modified: Tue, 01 Jan 1980 00:00:00 GMT", expect: 0),
        Case("Last-Modified: Thu, 01 Jan 1970 00:00:01 GMT", expect: 0),
        Case("Last-Modified: Thu, 06 Nov 1924 08:49:37 GMT", expect: 0),
    ]

    @Test(
        "RFC 9111 §4.2.1: a malformed max-age is stale, and no other source replaces it", .requirement("P08"),
        arguments: ["a100", "100a", "1.5", "-1", "'60'", ""])
    func malformedMaxAge(value: String) {
        let example = Case(
            "Cache-Control: public, max-age=\(value)", "Expires: \(minuteLater)",
            "Last-Modified: \(thousandSecondsBefore)", expect: 0)
        #expect(example.lifetime() == 0)
        #expect(example.lifetime(CachePolicy(defaultLifetime: .seconds(60))) == 0)
    }

    @Test("Expires without any Date", .requirement("F03"))
    func expiresWithoutDate() {
        var response = Sample.stored("Expires: \(minuteLater)", received: 10)
        response.fields[.date] = nil
        #expect(freshness(response).lifetime == 50)
    }

    @Test(
        "RFC 9111 §5.3: an invalid Expires is in the past", .requirement("P22"),
        arguments: [
            "0", "-1", "", "Sun 06 Nov 1994 08:50:37 GMT", "Sun, 06  Nov 1994 08:50:37 GMT",
            "Sun, 06-Nov-1994 08:50:37 GMT", "Sun, 06 Nov 1994 08.50.37 GMT", "Sun, 06 Nov 1994 8:50:37 GMT",
            "Sun, 06 Nov 1994 08:50:37 UTC", "Sun, 06 Nov 1994 08:50:37 +0000",
        ])
    func invalidExpires(value: String) {
        #expect(Case("Expires: \(value)", expect: 0).lifetime(CachePolicy(defaultLifetime: .seconds(60))) == 0)
    }

    @Test("RFC 9111 §4.2.1: two Expires lines are stale, in any order", .requirement("P23"))
    func twoExpires() {
        let later = "Sun, 06 Nov 1994 08:59:37 GMT"
        #expect(Case("Expires: \(minuteLater)", "Expires: \(later)", expect: 0).lifetime() == 0)
        #expect(Case("Expires: \(later)", "Expires: \(minuteLater)", expect: 0).lifetime() == 0)
        #expect(Case("Expires: \(later)", "Expires: \(later)", "Expires: \(later)", expect: 0).lifetime() == 0)
    }

    @Test(
        "RFC 9111 §5.3: Expires in far years", .requirement("P24"),
        arguments: [
            Case("Expires: Tue, 19 Jan 2038 03:14:08 GMT", expect: 2_147_483_648 - 784_111_777),
            Case("Expires: Sun, 07 Feb 2106 06:28:16 GMT", expect: 4_294_967_296 - 784_111_777),
            Case("Expires: Fri, 31 Dec 9999 23:59:59 GMT", expect: 253_402_300_799 - 784_111_777),
            Case("Expires: Sun, 06 Nov 1994 08:50:60 GMT", expect: 82),
        ])
    fileprivate func farExpires(_ example: Case) {
        #expect(example.lifetime() == example.expected)
        #expect(freshness(example.response).isFresh(at: Sample.time(example.expected - 1)))
        #expect(!freshness(example.response).isFresh(at: Sample.time(example.expected)))
    }

    @Test("RFC 9111 §4.2.2: heuristic for statuses cacheable by default, others only if public", .requirement("F05"))
    func heuristicStatuses() {
        let cacheable: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
        for code in 200...599 {
            let status = HTTPResponse.Status(code: code)
            let plain = Case("Last-Modified: \(thousandSecondsBefore)", status: status, expect: 100)
            #expect(plain.lifetime() == (cacheable.contains(code) ? 100 : 0), "\(code)")
            let isPublic = Case(
                "Last-Modified: \(thousandSecondsBefore)", "Cache-Control: public", status: status, expect: 100)
            #expect(isPublic.lifetime() == 100, "\(code)")
            let isPrivate = Case(
                "Last-Modified: \(thousandSecondsBefore)", "Cache-Control: private", status: status, expect: 100)
            #expect(isPrivate.lifetime() == (cacheable.contains(code) ? 100 : 0), "\(code)")
        }
    }

    @Test("The policy sets any fraction and limit", .requirement("F06"))
    func heuristicPolicy() {
        let example = Case("Last-Modified: \(thousandSecondsBefore)", expect: 100)
        #expect(example.lifetime(CachePolicy(heuristicFraction: 0.5)) == 500)
        #expect(example.lifetime(CachePolicy(heuristicFraction: 0)) == 0)
        #expect(example.lifetime(CachePolicy(heuristicFraction: -1)) == 0)
        #expect(example.lifetime(CachePolicy(heuristicFraction: .nan)) == 0)
        #expect(example.lifetime(CachePolicy(heuristicFraction: .infinity)) == 604_800)
        #expect(example.lifetime(CachePolicy(heuristicLimit: .seconds(99))) == 99)
        #expect(example.lifetime(CachePolicy(heuristicLimit: .seconds(-1))) == 0)
        let unlimited = CachePolicy(heuristicFraction: .infinity, heuristicLimit: .seconds(Int64.max))
        #expect(example.lifetime(unlimited) == .max)
    }

    @Test(
        "Each rung counts when the rungs above are absent", .requirement("B3"),
        arguments: [
            (["Cache-Control: max-age=10, s-maxage=20", "Expires: \(minuteLater)"], CachePolicy(), 10),
            (["Cache-Control: max-age=10"], CachePolicy(lifetimeOverride: .fixed(.seconds(5))), 5),
            (["Cache-Control: max-age=10, s-maxage=20"], .shared, 20),
            (["Cache-Control: max-age=10, s-maxage=x"], .shared, 0),
            (["Cache-Control: max-age=10"], .shared, 10),
            (["Expires: \(minuteLater)", "Last-Modified: \(thousandSecondsBefore)"], CachePolicy(), 60),
            (["Last-Modified: \(thousandSecondsBefore)"], CachePolicy(defaultLifetime: .seconds(3600)), 100),
            (["X: y"], CachePolicy(defaultLifetime: .seconds(3600)), 3600),
            (["X: y"], CachePolicy(defaultLifetime: .seconds(-1)), 0),
            (["X: y"], CachePolicy(), 0),
            (["Cache-Control: max-age=10"], CachePolicy(lifetimeOverride: .fixed(.milliseconds(1999))), 1),
            (["Cache-Control: max-age=10"], CachePolicy(lifetimeOverride: .fixed(.zero)), 0),
        ] as [([String], CachePolicy, Int64)])
    func rungs(lines: [String], policy: CachePolicy, lifetime: Int64) {
        var response = Sample.stored()
        response.fields.append(contentsOf: Sample.fields(lines))
        #expect(freshness(response, policy).lifetime == lifetime)
    }

    @Test("RFC 9111 §5.2.2.10: only a shared cache obeys s-maxage and proxy-revalidate", .requirement("S20"))
    func sharedDirectives() {
        let response = Sample.stored(
            "Cache-Control: s-maxage=10, proxy-revalidate", "Last-Modified: \(thousandSecondsBefore)")
        #expect(freshness(response).lifetime == 100)
        #expect(freshness(response).allowsStale)
        #expect(freshness(response, .shared).lifetime == 10)
        #expect(!freshness(response, .shared).allowsStale)
        let sharedAge = Sample.stored("Cache-Control: s-maxage=10")
        #expect(freshness(sharedAge).allowsStale)
        #expect(!freshness(sharedAge, .shared).allowsStale)
    }

    @Test(
        "RFC 9111 §4.2.4: the directives that forbid serving a response stale", .requirement("R01"),
        arguments: [
            ("max-age=1", true), ("max-age=1, no-cache", false), ("max-age=1, must-revalidate", false),
            ("max-age=1, no-cache=\"a\"", true), ("max-age=1, proxy-revalidate", true), ("max-age=1, no-store", true),
        ])
    func staleness(control: String, isAllowed: Bool) {
        #expect(freshness(Sample.stored("Cache-Control: \(control)")).allowsStale == isAllowed)
    }

    @Test("no-cache needs validation even if fresh; must-revalidate does not", .requirement("F08", "F11"))
    func alwaysNeedsValidation() {
        let noCache = freshness(Sample.stored("Cache-Control: no-cache, max-age=60"))
        #expect(noCache.alwaysNeedsValidation)
        #expect(noCache.isFresh(at: Sample.time(0)))
        #expect(noCache.expiry == nil)
        let mustRevalidate = freshness(Sample.stored("Cache-Control: must-revalidate, max-age=60"))
        #expect(!mustRevalidate.alwaysNeedsValidation)
        #expect(mustRevalidate.expiry == Sample.time(60))
    }

    // MARK: Age

    @Test(
        "RFC 9111 §4.2.3: the age on arrival is the greater of two", .requirement("A02", "A03", "A04"),
        arguments: [
            // (Date, Age, requested, received) → age on arrival
            (0, nil, 0, 0, 0),
            (0, nil, 0, 10, 10),
            // If the server's clock is ahead, the age is 0.
            (100, nil, 0, 10, 10),
            (100, nil, 10, 10, 0),
            (-30, nil, 10, 10, 40),
            (10, 5, 10, 10, 5),
            // A slow response arrives with an age.
            (10, 5, 3, 10, 12),
            (-30, 5, 3, 10, 40),
            // The clock was set back between request and response.
            (10, 5, 20, 10, 5),
        ] as [(Int64, Int64?, Int64, Int64, Int64)])
    func initialAge(date: Int64, age: Int64?, requested: Int64, received: Int64, expected: Int64) {
        var response = Sample.stored("Date: \(Sample.time(date))", requested: requested, received: received)
        if let age { response.fields[.age] = String(age) }
        #expect(freshness(response).age(at: Sample.time(received)) == expected)
        #expect(freshness(response).age(at: Sample.time(received + 7)) == expected + 7)
    }

    @Test(
        "RFC 9111 §5.1: the first member of a list counts; a non-numeric member is ignored", .requirement("P25"),
        arguments: [
            (["7"], 7), (["7, 100"], 7), (["7", "100"], 7), ([" 7 "], 7), (["007"], 7), ([", 7"], 7),
            (["abc"], 0), (["-7200"], 0), (["7200.0"], 0), ([""], 0), (["7 8"], 0), (["7;x"], 0), (["\"7\""], 0),
            (["abc, 7"], 0), (["abc", "7"], 0), (["+7"], 0), (["", "7"], 7), ([",", "7"], 7),
        ] as [([String], Int64)])
    func ageField(values: [String], expected: Int64) {
        var response = Sample.stored()
        response.fields.append(contentsOf: Sample.fields(values.map { "Age: \($0)" }))
        #expect(freshness(response).age(at: Sample.time(0)) == expected)
    }

    @Test(
        "RFC 9111 §1.2.2: an Age of 2^31 or more is 2^31, and stale", .requirement("P26"),
        arguments: ["2147483648", "2147483649", "99999999999999999999999"])
    func hugeAge(value: String) {
        let huge = freshness(Sample.stored("Age: \(value)", "Cache-Control: max-age=99999999999"))
        #expect(huge.age(at: Sample.time(0)) == 2_147_483_648)
        #expect(!huge.isFresh(at: Sample.time(0)))
        let large = freshness(Sample.stored("Age: 2147483647", "Cache-Control: max-age=99999999999"))
        #expect(large.isFresh(at: Sample.time(0)))
        #expect(!large.isFresh(at: Sample.time(1)))
    }

    @Test("RFC 9111 §1.2.2: ages and lifetimes saturate", .requirement("P09"))
    func saturation() {
        let end = HTTPDate(secondsSince1970: .max)
        let response = Sample.stored("Age: 2147483648", "Cache-Control: max-age=1")
        #expect(freshness(response).age(at: end) == .max)
        #expect(freshness(response).staleness(at: end) == .max - 1)
        var late = response
        late.responseTime = end
        late.requestTime = .distantPast
        #expect(freshness(late).age(at: end) == .max)
        let forever = CachePolicy(lifetimeOverride: .fixed(.seconds(Int64.max)))
        var young = Sample.stored()
        young.requestTime = end
        young.responseTime = end
        young.fields[.date] = "Fri, 31 Dec 9999 23:59:59 GMT"
        #expect(freshness(young, forever).expiry == end)
    }

    @Test("Setting the clock back makes no response fresher", .requirement("A07", "B1"))
    func clockSetBack() {
        let stored = freshness(Sample.stored("Cache-Control: max-age=60", received: 1000))
        #expect(stored.isFresh(at: Sample.time(1030)))
        #expect(stored.age(at: Sample.time(1030)) == 30)
        // Within the tolerance, its age is the age on arrival.
        #expect(stored.age(at: Sample.time(995)) == 0)
        #expect(stored.isFresh(at: Sample.time(995)))
        #expect(!stored.isFresh(at: Sample.time(994)))
        #expect(!stored.isFresh(at: Sample.time(-100_000)))
        #expect(stored.age(at: Sample.time(-100_000)) == 0)
        #expect(stored.staleness(at: Sample.time(994)) == .max)
        #expect(Freshness.clockTolerance == 5)
    }

    @Test("RFC 9111 §4: without a clock no response is fresh", .requirement("A08"))
    func noClock() {
        var response = Sample.stored("Cache-Control: max-age=60")
        #expect(!freshness(response).isFresh(at: .distantPast))
        response.requestTime = .distantPast
        response.responseTime = .distantPast
        #expect(!freshness(response).isFresh(at: .distantPast))
    }
}
