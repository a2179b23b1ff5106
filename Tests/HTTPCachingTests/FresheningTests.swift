internal import TestSupport

@Suite struct FresheningTests {
    /// A 304 that arrives 100 seconds after the stored response.
    private func notModified(_ lines: String..., to request: HTTPRequest = Sample.request()) -> Exchange {
        var exchange = Sample.exchange(status: .notModified, to: request, requested: 98, received: 100)
        exchange.reply.headerFields = Sample.fields(lines)
        return exchange
    }

    /// The indices of the candidates that a 304 updates, or `nil` for another action.
    private func updated(_ action: ReplyDecision.Action) -> Set<Int>? {
        guard case .freshen(let updates, _, _) = action else { return nil }
        return Set(updates.keys)
    }

    private func answer(_ action: ReplyDecision.Action) -> Int? {
        guard case .freshen(_, let index, _) = action else { return nil }
        return index
    }

    /// The only candidate, updated by the 304 to its validation.
    private func freshened(_ stored: StoredResponse, by exchange: Exchange) -> StoredResponse? {
        let decision = Sample.decide(on: exchange, stored, validated: 0)
        guard case .freshen(let updates, 0, false) = decision else { return nil }
        return updates[0]
    }

    // MARK: Selection

    @Test("RFC 9111 §4.3.4: a strong validator updates exactly the candidates that have it", .requirement("U01"))
    func strong() {
        let decision = Sample.decide(
            on: notModified("ETag: \"a\""),
            Sample.stored("ETag: \"a\""), Sample.stored("ETag: \"b\""), Sample.stored("ETag: \"a\"", received: 5),
            Sample.stored("ETag: W/\"a\""), Sample.stored(), validated: 0)
        #expect(updated(decision) == [0, 2])
        #expect(answer(decision) == 0)
    }

    @Test("If another candidate has the validator, it answers; the latest of several", .requirement("U01"))
    func strongOfOther() {
        let decision = Sample.decide(
            on: notModified("ETag: \"b\""),
            Sample.stored("ETag: \"a\""), Sample.stored("ETag: \"b\"", received: 7),
            Sample.stored("ETag: \"b\"", received: 5), validated: 0)
        #expect(updated(decision) == [1, 2])
        #expect(answer(decision) == 1)
    }

    @Test(
        "If no candidate has the validator, nothing is updated and the request is sent again", .requirement("U01"),
        arguments: ["ETag: \"b\"", "ETag: W/\"b\"", "Last-Modified: x", "ETag: a", "X: y"])
    func strongOfNone(stored: String) {
        let decision = Sample.decide(on: notModified("ETag: \"a\""), Sample.stored(stored), validated: 0)
        #expect(decision == .retry(removing: []))
    }

    @Test("A strong tag freshens the response with the same weak tag if only it was sent", .requirement("U01"))
    func strongOfWeak() throws {
        let reply = notModified("ETag: \"a\"", "Content-Encoding: identity", "X-New: y")
        let stored = Sample.stored("ETag: W/\"a\"", "Content-Encoding: gzip")
        let updated = try #require(freshened(stored, by: reply))
        // The stored bytes keep their coding and their weak tag.
        #expect(updated.fields[.eTag] == "W/\"a\"")
        #expect(updated.fields[.contentEncoding] == "gzip")
        #expect(updated.fields[try #require(.init("X-New"))] == "y")
        let original = Sample.request("If-None-Match: \"c\"")
        let decision = Sample.decide(on: reply, stored, validated: 0, original: original)
        #expect(decision == .retry(removing: []), "the caller's tag was asked about, too")
        let other = Sample.decide(on: reply, stored, Sample.stored("ETag: \"a\"", received: 5), validated: 0)
        #expect(self.updated(other) == [1], "a response with the tag itself comes first")
    }

    @Test(
        "A weak tag that only the 304 has freshens a response with the same Last-Modified", .requirement("U02"),
        arguments: [("x", true), ("y", false)])
    func weakTagOf304(lastModified: String, isFreshened: Bool) {
        let reply = notModified("ETag: W/\"a\"", "Last-Modified: x")
        let stored = Sample.stored("Last-Modified: \(lastModified)")
        #expect((freshened(stored, by: reply) != nil) == isFreshened)
        let strong = notModified("ETag: \"a\"", "Last-Modified: x")
        #expect(freshened(stored, by: strong) == nil)
    }

    @Test("RFC 9111 §4.3.4: a weak tag updates the most recent matching candidate", .requirement("U02"))
    func weak() {
        let weak = notModified("ETag: W/\"a\"")
        let decision = Sample.decide(
            on: weak,
            Sample.stored("ETag: W/\"a\""), Sample.stored("ETag: \"a\"", received: 5),
            Sample.stored("ETag: W/\"b\"", received: 9), validated: 0)
        #expect(updated(decision) == [1])
        #expect(answer(decision) == 1)
        #expect(Sample.decide(on: weak, Sample.stored("ETag: W/\"b\""), validated: 0) == .retry(removing: []))
        #expect(Sample.decide(on: weak, Sample.stored(), validated: 0) == .retry(removing: []))
    }

    @Test("Last-Modified alone is a weak validator", .requirement("U02"))
    func lastModified() {
        let reply = notModified("Last-Modified: x")
        let decision = Sample.decide(
            on: reply, Sample.stored("Last-Modified: x"), Sample.stored("Last-Modified: y", received: 9),
            Sample.stored("Last-Modified: x", received: 5), validated: 0)
        #expect(updated(decision) == [2])
        #expect(Sample.decide(on: reply, Sample.stored("Last-Modified: y"), validated: 0) == .retry(removing: []))
        #expect(Sample.decide(on: reply, Sample.stored("ETag: \"a\""), validated: 0) == .retry(removing: []))
    }

    @Test("Of two candidates with equal Last-Modified, the validated one is updated", .requirement("U02"))
    func lastModifiedOfTwo() {
        let decision = Sample.decide(
            on: notModified("Last-Modified: x"), Sample.stored("ETag: \"a\"", "Last-Modified: x"),
            Sample.stored("ETag: \"b\"", "Last-Modified: x", received: 5), validated: 0)
        #expect(updated(decision) == [0])
        #expect(answer(decision) == 0)
    }

    @Test("Decision 4: a 304 without a validator updates the validated response", .requirement("U03"))
    func none() {
        let decision = Sample.decide(
            on: notModified("Cache-Control: max-age=5"),
            Sample.stored("ETag: \"a\""), Sample.stored("ETag: \"b\"", received: 5), validated: 0)
        #expect(updated(decision) == [0])
        #expect(answer(decision) == 0)
        #expect(updated(Sample.decide(on: notModified("ETag:"), Sample.stored("ETag: \"a\""), validated: 0)) == [0])
    }

    @Test("RFC 9111 §4.3.4: responses that other requests selected stay unchanged", .requirement("U04"))
    func otherVariants() {
        let german = Sample.request("Accept-Language: de")
        let english = Sample.request("Accept-Language: en")
        let decision = Sample.decide(
            on: notModified("ETag: \"a\"", to: german),
            Sample.stored("ETag: \"a\"", "Vary: Accept-Language", for: german),
            Sample.stored("ETag: \"a\"", "Vary: Accept-Language", for: english),
            Sample.stored("ETag: \"a\"", hasIntactBody: false), validated: 0)
        #expect(updated(decision) == [0])
    }

    @Test("The 304 to a HEAD updates the stored response to GET", .requirement("R05"))
    func head() {
        let reply = notModified("ETag: \"a\"", to: Sample.request(method: .head))
        #expect(freshened(Sample.stored("ETag: \"a\""), by: reply)?.responseTime == Sample.time(100))
    }

    // MARK: Fields

    @Test("RFC 9111 §3.2: adds or replaces each field, with all of its lines; other fields stay", .requirement("U05"))
    func merge() {
        let stored = Sample.stored(
            "ETag: \"a\"", "X-Old: 1", "Link: </1>", "Link: </2>", "Content-Type: text/plain", "Set-Cookie: a=1")
        let updated = freshened(
            stored,
            by: notModified(
                "ETag: \"a\"", "x-new: 2", "LINK: </3>", "Set-Cookie: b=2", "Set-Cookie: c=3",
                "Date: Sun, 06 Nov 1994 08:51:17 GMT", "Content-Type: text/html"))
        #expect(
            updated?.fields
                == Sample.fields([
                    "ETag: \"a\"", "X-Old: 1", "LINK: </3>", "Content-Type: text/html", "Set-Cookie: b=2",
                    "Set-Cookie: c=3", "Date: Sun, 06 Nov 1994 08:51:17 GMT", "x-new: 2",
                ]))
        #expect(updated?.status == .ok)
    }

    @Test("RFC 9111 §3.2: Content-Length is never updated or added", .requirement("U06"))
    func contentLength() {
        let reply = notModified("ETag: \"a\"", "Content-Length: 0")
        let updated = freshened(Sample.stored("ETag: \"a\"", "Content-Length: 5"), by: reply)
        #expect(updated?.fields[.contentLength] == "5")
        #expect(freshened(Sample.stored("ETag: \"a\""), by: reply)?.fields.contains(.contentLength) == false)
    }

    @Test("RFC 9111 §3.2, decision 5: a decoded body keeps the fields that describe it", .requirement("U07"))
    func decodedBody() {
        let reply = notModified(
            "ETag: \"a\"", "Content-Encoding: gzip", "Content-Type: a/b", "Content-Range: bytes 0-1/2",
            "Content-Language: de")
        let decoded = freshened(Sample.stored("ETag: \"a\"", "Content-Type: c/d", isBodyDecoded: true), by: reply)
        #expect(decoded?.fields[.contentType] == "c/d")
        #expect(decoded?.fields[.contentEncoding] == nil)
        #expect(decoded?.fields[.contentRange] == nil)
        #expect(decoded?.fields[.contentLanguage] == "de")
        #expect(decoded?.isBodyDecoded == true)
        let intact = freshened(Sample.stored("ETag: \"a\"", "Content-Type: c/d"), by: reply)
        #expect(intact?.fields[.contentType] == "a/b")
        #expect(intact?.fields[.contentEncoding] == nil, "the stored bytes keep their coding")
    }

    @Test("RFC 9111 §3.1: fields of the connection and of a proxy are not merged", .requirement("U08"))
    func exceptedFields() {
        let updated = freshened(
            Sample.stored("ETag: \"a\"", "X-Hop: old"),
            by: notModified(
                "ETag: \"a\"", "Connection: X-Hop", "X-Hop: new", "Keep-Alive: 5", "Transfer-Encoding: chunked",
                "Upgrade: h2c", "Proxy-Authenticate: x", "TE: y", "Date: Sun, 06 Nov 1994 08:51:17 GMT"))
        #expect(updated?.fields == Sample.fields(["ETag: \"a\"", "X-Hop: old", "Date: Sun, 06 Nov 1994 08:51:17 GMT"]))
    }

    @Test("RFC 9111 §4.2.3: the times, Date and Age are those of the 304", .requirement("A05"))
    func times() throws {
        let stored = Sample.stored("ETag: \"a\"", "Age: 50", "Cache-Control: max-age=60", received: -1000)
        let plain = try #require(freshened(stored, by: notModified("ETag: \"a\"")))
        #expect(plain.requestTime == Sample.time(98))
        #expect(plain.responseTime == Sample.time(100))
        #expect(plain.fields[.date] == Sample.time(100).description)
        #expect(plain.fields[.age] == nil)
        // The response takes two seconds.
        #expect(Freshness(of: plain, policy: CachePolicy()).age(at: Sample.time(100)) == 2)

        let aged = try #require(freshened(stored, by: notModified("ETag: \"a\"", "Age: 7", "Date: \(Sample.time(96))")))
        #expect(aged.fields[values: .age] == ["7"])
        #expect(aged.fields[.date] == Sample.time(96).description)
        #expect(Freshness(of: aged, policy: CachePolicy()).age(at: Sample.time(100)) == 9)

        let unusable = try #require(freshened(stored, by: notModified("ETag: \"a\"", "Date: yesterday")))
        #expect(unusable.fields[values: .date] == [Sample.time(100).description])
    }

    @Test(
        "The Cache-Control of the 304 counts, then the stored one, then the default lifetime", .requirement("C4", "C3"),
        arguments: [
            ("Cache-Control: max-age=3600", "X: y", Duration.zero, 3600),
            ("Cache-Control: max-age=3600", "Cache-Control: max-age=60", .zero, 60),
            ("Cache-Control: max-age=3600", "Cache-Control: public", .zero, 0),
            ("X: y", "Cache-Control: max-age=60", .zero, 60),
            ("X: y", "X: z", .zero, 0),
            ("X: y", "X: z", .seconds(600), 600),
            ("Cache-Control: max-age=3600", "Expires: 0", .zero, 3600),
        ] as [(String, String, Duration, Int64)])
    func lifetimeAfter304(stored: String, reply: String, defaultLifetime: Duration, expected: Int64) throws {
        let policy = CachePolicy(defaultLifetime: defaultLifetime)
        var exchange = notModified(reply)
        exchange.requestTime = exchange.responseTime
        let updated = try #require(freshened(Sample.stored(stored, "ETag: \"a\""), by: exchange))
        #expect(Freshness(of: updated, policy: policy).lifetime == expected)
        let after = 100 + expected
        #expect(Outcome(Sample.decide(Sample.request(), updated, policy: policy, at: after)) == .validate)
        if expected > 0 {
            #expect(Outcome(Sample.decide(Sample.request(), updated, policy: policy, at: after - 1)) == .hit)
        }
    }

    @Test("Last-Modified of the 304 replaces the stored one", .requirement("C4"))
    func newTag() {
        let stored = Sample.stored("Last-Modified: x", "ETag: W/\"a\"")
        let updated = freshened(stored, by: notModified("Last-Modified: y", "ETag: W/\"a\""))
        #expect(updated?.fields[.lastModified] == "y")
        #expect(freshened(stored, by: notModified("Last-Modified: x", "ETag: \"b\"")) == nil)
    }

    @Test("RFC 9111 §4.3.4: the 304 adds or removes no-cache", .requirement("U09"))
    func noCache() throws {
        let lenient = Sample.stored("ETag: \"a\"", "Cache-Control: max-age=60")
        let strict = try #require(freshened(lenient, by: notModified("Cache-Control: no-cache")))
        #expect(Outcome(Sample.decide(Sample.request(), strict, at: 100)) == .validate)
        let again = try #require(freshened(strict, by: notModified("Cache-Control: max-age=60")))
        #expect(Outcome(Sample.decide(Sample.request(), again, at: 100)) == .hit)
    }

    @Test("After a 304 with no-store, the response answers a last time", .requirement("U09"))
    func noStore() {
        let decision = Sample.decide(
            on: notModified("Cache-Control: no-store"), Sample.stored("ETag: \"a\"", "X: y"), validated: 0)
        guard case .freshen(let updates, 0, true) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(updates[0]?.fields[.cacheControl] == "no-store")
        #expect(updates[0]?.status == .ok)
    }

    @Test("Likewise after a 304 with Vary: *, or with private in a shared cache", .requirement("U09"))
    func otherRemovals() {
        func removes(_ line: String, _ policy: CachePolicy) -> Bool? {
            let decision = Sample.decide(
                on: notModified(line), Sample.stored("ETag: \"a\""), validated: 0, policy: policy)
            guard case .freshen(_, 0, let removes) = decision else { return nil }
            return removes
        }
        #expect(removes("Vary: *", CachePolicy()) == true)
        #expect(removes("Cache-Control: private", .shared) == true)
        #expect(removes("Cache-Control: private", CachePolicy()) == false)
        #expect(removes("Vary: Accept", CachePolicy()) == false)
    }

    @Test("A new Vary selects by the fields of the sent request", .requirement("U09"))
    func newVary() {
        let german = Sample.request("Accept-Language: de")
        let stored = Sample.stored("ETag: \"a\"", for: german)
        #expect(stored.varyKey.text == "")
        let updated = freshened(stored, by: notModified("Vary: Accept-Language", to: german))
        #expect(updated?.varyKey.text == "accept-language: de")
    }

    @Test(
        "RFC 9111 §4.1: a 304 with fewer names in Vary keeps the variants apart",
        arguments: [
            (["Vary: Accept-Language"], ["Vary: Accept-Language", "Vary: accept"]),
            (["Vary: accept, accept-language"], ["Vary: accept, accept-language"]),
            (["Vary: Origin", "Vary: Accept"], ["Vary: Origin", "Vary: Accept", "Vary: accept-language"]),
            ([], ["Vary: Accept, Accept-Language"]),
        ])
    func fewerNames(lines: [String], expected: [String]) throws {
        let request = Sample.request("Accept: a/b", "Accept-Language: de")
        var stored = Sample.stored("ETag: \"a\"", "Vary: Accept, Accept-Language", for: request)
        var exchange = Sample.exchange("ETag: \"a\"", status: .notModified, to: request)
        exchange.reply.headerFields += Sample.fields(lines)
        stored.freshen(by: exchange)
        #expect(stored.fields[fields: .vary] == Sample.fields(expected)[fields: .vary])
        let fresh = Sample.stored("ETag: \"a\"", "Vary: Accept, Accept-Language", for: request)
        let varyKey = try #require(freshened(fresh, by: exchange)).varyKey
        #expect(varyKey.matches(request, fingerprint: Sample.fingerprint))
        for other in [Sample.request("Accept: a/b"), Sample.request("Accept-Language: de")] {
            #expect(!varyKey.matches(other, fingerprint: Sample.fingerprint))
        }
    }

    @Test("A 304 with too many fields updates nothing")
    func manyFields() {
        var exchange = notModified()
        for _ in 0...StorageDecision.maxFieldCount { exchange.reply.headerFields.append(Sample.field(.via, "x")) }
        #expect(Sample.decide(on: exchange, Sample.stored("ETag: \"a\""), validated: 0) == .retry(removing: []))
    }
}
