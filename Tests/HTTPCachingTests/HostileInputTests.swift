internal import TestSupport

/// Passes malformed input to every parser: no parser may trap, and every result must be in range.
@Suite struct HostileInputTests {
    private static let rounds = 4000

    /// Random bytes, or random pieces of real fields, which get further into a parser.
    private func value(_ generator: inout SeededGenerator) -> [UInt8] {
        let pieces = [
            "max-age", "no-cache", "no-store", "private", "s-maxage", "immutable", "must-understand", "max-stale",
            "=", ",", ";", "\"", "\\", " ", "\t", "60", "-1", "99999999999999999999", "*", "W/", "Accept", "Cookie",
            "Sun", "Sunday", ", ", "06", "6", "-", "Nov", "94", "1994", "08:49:37", "8:9", ":", "GMT", "+0000", "\u{0}",
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "é",
        ]
        var value: [UInt8] = []
        if Bool.random(using: &generator) {
            for _ in 0..<Int.random(in: 0...40, using: &generator) {
                value.append(.random(in: .min ... .max, using: &generator))
            }
        } else {
            for _ in 0..<Int.random(in: 0...10, using: &generator) {
                value += Array((pieces.randomElement(using: &generator) ?? "").utf8)
            }
        }
        // Changes one byte.
        if !value.isEmpty, Int.random(in: 0..<4, using: &generator) == 0 {
            value[.random(in: value.indices, using: &generator)] = .random(in: .min ... .max, using: &generator)
        }
        return value
    }

    private func fields(_ names: [HTTPField.Name], _ generator: inout SeededGenerator) -> HTTPFields {
        var fields = HTTPFields()
        for name in names where Bool.random(using: &generator) {
            for _ in 0...Int.random(in: 0...1, using: &generator) {
                fields.append(HTTPField(name: name, lenientValue: value(&generator)))
            }
        }
        return fields
    }

    private func moment(_ generator: inout SeededGenerator) -> HTTPDate {
        let moments: [Int64] = [.min, .min + 1, -1, 0, 784_111_777, 4_000_000_000, .max - 1, .max]
        return HTTPDate(secondsSince1970: moments.randomElement(using: &generator) ?? 0)
    }

    @Test("Random bytes never make a date parser trap", .requirement("P13", "P16", "P22"))
    func dates() {
        var generator = SeededGenerator()
        for _ in 0..<Self.rounds {
            let field = HTTPField(name: .date, lenientValue: value(&generator))
            let now = moment(&generator)
            let strict = HTTPDate(field, now: now)
            let lenient = HTTPDate(lenient: field, now: now)
            #expect(strict == nil || strict == lenient, "\(generator)")
            if let lenient {
                // The years 0 to 9999, and the century before for two digits.
                #expect(abs(lenient.secondsSince1970) < 320_000_000_000, "\(generator)")
                #expect(lenient.description.utf8.count == 29, "\(generator)")
            }
        }
    }

    @Test("The Cache-Control parser reads random bytes without a trap, and in range", .requirement("P09", "P13"))
    func cacheControl() {
        var generator = SeededGenerator()
        for _ in 0..<Self.rounds {
            let control = CacheControl(fields([.cacheControl], &generator))
            for seconds in [control.maxAge, control.sharedMaxAge, control.minFresh] {
                guard case .seconds(let number) = seconds else { continue }
                #expect((0...DeltaSeconds.limit).contains(number), "\(generator)")
            }
        }
    }

    @Test("no-store counts before, inside and after an unclosed quote", .requirement("P13"))
    func unclosedQuote() {
        var generator = SeededGenerator()
        for _ in 0..<Self.rounds {
            var bytes = value(&generator).filter { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            bytes += Array(",x=\"".utf8) + bytes + Array(",no-store".utf8)
            let control = CacheControl(HTTPFields([HTTPField(name: .cacheControl, lenientValue: bytes)]))
            #expect(control.noStore, "\(generator)")
        }
    }

    @Test("Decides on random requests and responses at random times")
    func decisions() {
        var generator = SeededGenerator()
        let names: [HTTPField.Name] = [
            .cacheControl, .date, .expires, .age, .lastModified, .eTag, .vary, .connection, .acceptLanguage, .cookie,
        ]
        let pragma = HTTPField.Name("Pragma").map { [$0] } ?? []
        let modes: [CachePolicy.Mode] = [.http, .cacheFirst, .revalidateAlways, .remoteOnly, .cacheOnly]
        for _ in 0..<Self.rounds / 4 {
            var request = Sample.request()
            request.headerFields = fields([.cacheControl, .acceptLanguage, .accept, .cookie] + pragma, &generator)
            var candidates: [StoredResponse] = []
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                candidates.append(
                    StoredResponse(
                        status: HTTPResponse.Status(code: .random(in: 0...999, using: &generator)),
                        fields: fields(names, &generator), requestTime: moment(&generator),
                        responseTime: moment(&generator),
                        varyKey: VaryKey(
                            text: Bool.random(using: &generator)
                                ? "" : String(decoding: value(&generator), as: UTF8.self)),
                        hasIntactBody: Int.random(in: 0..<8, using: &generator) > 0,
                        isBodyDecoded: Bool.random(using: &generator)))
            }
            let policy = CachePolicy(
                mode: modes.randomElement(using: &generator) ?? .http, heuristicFraction: .infinity,
                heuristicLimit: .seconds(Int64.max), isShared: Bool.random(using: &generator))
            let now = moment(&generator)
            let decision = ReuseDecision(
                for: request, candidates: candidates, policy: policy, now: now, fingerprint: Sample.fingerprint
            ).action
            check(decision, candidates, policy, now, "\(generator)")

            let exchange = Exchange(
                request: request,
                reply: HTTPResponse(
                    status: Bool.random(using: &generator)
                        ? .notModified : HTTPResponse.Status(code: .random(in: 0...999, using: &generator)),
                    headerFields: fields(names, &generator)),
                requestTime: moment(&generator), responseTime: moment(&generator))
            let place = Int.random(in: -1...3, using: &generator)
            let question = [ReplyDecision.Question.none, .validation(place), .rest(place)].randomElement(
                using: &generator)
            let reply = ReplyDecision(
                for: exchange, original: request, candidates: candidates, question: question ?? .none, policy: policy,
                fingerprint: Sample.fingerprint)
            check(reply.action, exchange, candidates, "\(generator)")
        }
    }

    private func check(
        _ decision: ReuseDecision.Action, _ candidates: [StoredResponse], _ policy: CachePolicy, _ now: HTTPDate,
        _ seed: Comment
    ) {
        guard case .hit(let index, let age, let isStale) = decision else { return }
        let freshness = Freshness(of: candidates[index], policy: policy)
        #expect(candidates[index].hasIntactBody, seed)
        #expect(!freshness.alwaysNeedsValidation, seed)
        #expect(age >= 0, seed)
        #expect(freshness.lifetime >= 0, seed)
        #expect(isStale ? freshness.allowsStale : age < freshness.lifetime, seed)
        #expect(candidates[index].head(age: age).headerFields[values: .age] == [String(age)], seed)
    }

    private func check(
        _ action: ReplyDecision.Action, _ exchange: Exchange, _ candidates: [StoredResponse], _ seed: Comment
    ) {
        switch action {
        case .freshen(let updates, let answer, _):
            #expect(exchange.reply.status == .notModified, seed)
            #expect(updates[answer] != nil, seed)
            #expect(updates.keys.allSatisfy { candidates[$0].hasIntactBody }, seed)
        case .store(let response):
            #expect(response.fields.contains(.date), seed)
            #expect(!response.fields.contains(.connection), seed)
            #expect(response.varyKey.matches(exchange.request, fingerprint: Sample.fingerprint), seed)
        case .serveStale(let index):
            let freshness = Freshness(of: candidates[index], policy: CachePolicy())
            #expect(!freshness.alwaysNeedsValidation, seed)
            #expect(candidates[index].hasIntactBody, seed)
        case .storePart(let response):
            #expect(response.part != nil, seed)
            #expect(!response.isBodyDecoded, seed)
        case .complete(let index, let response):
            #expect(candidates[index].part != nil, seed)
            #expect(response.part == nil, seed)
        case .update(let updates, let removals):
            #expect(exchange.request.method == .head, seed)
            #expect(updates.keys.allSatisfy { !removals.contains($0) }, seed)
        case .relay, .retry:
            break
        }
    }

    @Test(
        "Parses a long field in linear time", .requirement("P13"),
        arguments: [
            "\"", "\\\"", "\"\\", ",", "a", "a,", "a=\"", "a=\"b\",", ";", " ", "no-cache=\"a\",", "no-cache=\"a",
            "06 ", "08:49:37 ", "*", "-", "9",
        ])
    func longField(piece: String) throws {
        let start = ThreadTime.now()
        // Quadratic work exceeds the limit in debug and in release builds.
        defer { #expect(ThreadTime.now() - start < .seconds(60)) }
        let byteCount = Repetitions.count(262_144, debug: 65_536)
        let bytes = Array(String(repeating: piece, count: byteCount / piece.utf8.count).utf8)
        func one(_ name: HTTPField.Name) -> HTTPFields { HTTPFields([HTTPField(name: name, lenientValue: bytes)]) }
        #expect(!CacheControl(one(.cacheControl)).isPublic)
        #expect(HTTPDate(HTTPField(name: .date, lenientValue: bytes), now: Sample.time()) == nil)
        #expect(HTTPDate(lenient: HTTPField(name: .date, lenientValue: bytes), now: Sample.time()) == nil)
        let varyKey = VaryKey(response: one(.vary), request: Sample.request(), fingerprint: Sample.fingerprint)
        #expect((varyKey?.text.utf8.count ?? 0) <= bytes.count)
        for name in [HTTPField.Name.accept, .acceptLanguage, .te] {
            var request = Sample.request()
            request.headerFields = one(name)
            let nominated = VaryKey(
                response: Sample.fields(["Vary: \(name)"]), request: request, fingerprint: Sample.fingerprint)
            // Another line changes the bytes, so that the comparison has to parse them.
            request.headerFields.append(Sample.field(name, ""))
            _ = nominated?.matches(request, fingerprint: Sample.fingerprint)
        }
        var conditional = Sample.request()
        conditional.headerFields = one(.ifNoneMatch)
        let tagged = Sample.stored("ETag: \"tag\"")
        #expect(!Preconditions(conditional).isNotModified(tagged))
        _ = Preconditions(conditional).adding([tagged], to: conditional)
        var exchange = Sample.exchange("X: y")
        exchange.reply.headerFields += one(.connection)
        let stored = try #require(Sample.decide(on: exchange).stored)
        #expect(!stored.fields.contains(.connection))
    }
}
