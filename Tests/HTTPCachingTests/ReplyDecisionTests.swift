internal import TestSupport

@Suite struct ReplyDecisionTests {
    @Test("RFC 9111 §4.3.3: a full response replaces the whole stored one", .requirement("C11", "C5"))
    func fullResponse() throws {
        let old = Sample.stored("ETag: \"a\"", "Last-Modified: x", "X-Old: 1")
        let reply = Sample.exchange("Date: Sun, 06 Nov 1994 08:50:37 GMT", "X-New: 2", received: 60)
        let new = try #require(Sample.decide(on: reply, old, validated: 0).stored)
        #expect(new.fields == Sample.fields(["Date: Sun, 06 Nov 1994 08:50:37 GMT", "X-New: 2"]))
        #expect(new.responseTime == Sample.time(60))
        #expect(new.conditionalRequest(from: Sample.request()) == nil)
    }

    @Test("The effects of a decision: updates, removals and the answering response")
    func effects() throws {
        let (old, new) = (Sample.stored("ETag: \"a\"", received: 10), Sample.stored("ETag: \"b\"", received: 20))
        let candidates = [old, old, old]
        func effects(_ action: ReplyDecision.Action) -> (updates: [Int: StoredResponse], removals: [Int], answers: Bool)
        {
            let decision = ReplyDecision(action, rule: .localConfiguration)
            let answer = decision.answer(among: candidates, policy: CachePolicy(), now: Sample.time(30))
            return (decision.updates, decision.removals(among: candidates).sorted(), answer != nil)
        }
        #expect(effects(.freshen([1: new], answerWith: 1, removeAfterUse: false)) == ([1: new], [1], true))
        #expect(effects(.freshen([1: new], answerWith: 1, removeAfterUse: true)) == ([:], [1], true))
        #expect(effects(.update([0: new], removing: [2])) == ([0: new], [0, 2], false))
        #expect(effects(.serveStale(2)) == ([:], [], true))
        #expect(effects(.store(new)) == ([:], [], false))
        #expect(effects(.retry(removing: [1])) == ([:], [1], false))
        #expect(effects(.relay(removeStored: false)) == ([:], [], false))
        #expect(effects(.relay(removeStored: true)) == ([:], [0, 1, 2], false))

        func answer(_ action: ReplyDecision.Action) -> (index: Int, response: StoredResponse, age: Int64?)? {
            ReplyDecision(action, rule: .localConfiguration)
                .answer(among: candidates, policy: CachePolicy(), now: Sample.time(30))
        }
        #expect(try #require(answer(.freshen([1: new], answerWith: 1, removeAfterUse: true))) == (1, new, nil))
        #expect(try #require(answer(.serveStale(2))) == (2, old, 20))
    }

    /// A reply to a request for a stored response with the tag "a", and the rule of the decision on it.
    struct RuleCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rule: Rule
        let exchange: Exchange
        var validated: Int?
        var policy = CachePolicy()
    }

    private static let ruleCases = [
        RuleCase(
            testDescription: "a storable reply", rule: .maxAgeDirective,
            exchange: Sample.exchange("Cache-Control: max-age=60")),
        RuleCase(testDescription: "no-store", rule: .noStore, exchange: Sample.exchange("Cache-Control: no-store")),
        RuleCase(
            testDescription: "private in a shared cache", rule: .privateInSharedCache,
            exchange: Sample.exchange("Cache-Control: private, max-age=60"), policy: .shared),
        RuleCase(
            testDescription: "Vary: *", rule: .varyMatchesNothing,
            exchange: Sample.exchange("Cache-Control: max-age=60", "Vary: *")),
        RuleCase(
            testDescription: "the reply to a PUT", rule: .methodNotUnderstood,
            exchange: Sample.exchange("Cache-Control: max-age=60", to: Sample.request(method: .put))),
        RuleCase(
            testDescription: "a 206 without a range in the request", rule: .unusablePart,
            exchange: Sample.exchange("Content-Range: bytes 0-1/9", status: .partialContent)),
        RuleCase(
            testDescription: "a part of a storable response", rule: .maxAgeDirective,
            exchange: Sample.exchange(
                "Cache-Control: max-age=60", "Content-Range: bytes 0-1/9", "ETag: \"b\"", status: .partialContent,
                to: Sample.request("Range: bytes=0-1"))),
        RuleCase(
            testDescription: "a part of a response with no-store", rule: .noStore,
            exchange: Sample.exchange(
                "Cache-Control: no-store", "Content-Range: bytes 0-1/9", status: .partialContent,
                to: Sample.request("Range: bytes=0-1"))),
        RuleCase(
            testDescription: "a 200 with a part", rule: .unusablePart,
            exchange: Sample.exchange(
                "Cache-Control: max-age=60", "Content-Range: bytes 0-1/9", to: Sample.request("Range: bytes=0-1"))),
        RuleCase(
            testDescription: "the 304 of the stored response", rule: .freshenedByReply,
            exchange: Sample.exchange(
                "ETag: \"a\"", status: .notModified, to: Sample.request("If-None-Match: \"a\"")), validated: 0),
        RuleCase(
            testDescription: "a 304 for another tag", rule: .nothingAnswers,
            exchange: Sample.exchange(
                "ETag: \"z\"", status: .notModified, to: Sample.request("If-None-Match: \"a\"")), validated: 0),
        RuleCase(
            testDescription: "a 304 to a condition of the caller", rule: .replyWithoutBody,
            exchange: Sample.exchange(
                "ETag: \"z\"", status: .notModified, to: Sample.request("If-None-Match: \"z\""))),
        RuleCase(
            testDescription: "a HEAD for the stored response", rule: .freshenedByReply,
            exchange: Sample.exchange("ETag: \"a\"", to: Sample.request(method: .head))),
        RuleCase(
            testDescription: "a HEAD with an error", rule: .replyWithoutBody,
            exchange: Sample.exchange(status: .notFound, to: Sample.request(method: .head))),
        RuleCase(
            testDescription: "an error within stale-if-error", rule: .staleOnError,
            exchange: Sample.exchange(status: .serviceUnavailable, received: 60), validated: 0),
    ]

    @Test("A decision names its rule", arguments: ruleCases)
    func rules(_ test: RuleCase) {
        let stored = Sample.stored("ETag: \"a\"", "Cache-Control: max-age=10, stale-if-error=600")
        let decision = Sample.decision(
            on: test.exchange, [stored], validated: test.validated, policy: test.policy)
        #expect(decision.rule == test.rule)
    }

    @Test("A response with Vary: * is delivered, not stored", .requirement("V04"))
    func varyStar() {
        let reply = Sample.exchange("Cache-Control: max-age=60", "Vary: Accept, *")
        #expect(Sample.decide(on: reply) == .relay(removeStored: false))
    }

    @Test("RFC 9110 §15.3.7: a 206 completes a part without the date of If-Range", .requirement("G18"))
    func omittedDate() throws {
        var beginning = Sample.stored("Last-Modified: \(Sample.time(-60))", "Cache-Control: max-age=60")
        beginning.part = StoredPart(bytes: 0..<40, completeLength: 100)
        let reply = Sample.exchange(
            "Cache-Control: max-age=60", "Content-Range: bytes 40-99/100", status: .partialContent)
        let decision = ReplyDecision(
            for: reply, original: Sample.request(), candidates: [beginning], question: .rest(0),
            policy: CachePolicy(), fingerprint: Sample.fingerprint)
        guard case .complete(0, let whole) = decision.action else {
            Issue.record("not completed: \(decision)")
            return
        }
        #expect(whole.part == nil)
        #expect(whole.status == .ok)
        #expect(whole.fields[.lastModified] == "\(Sample.time(-60))")
        #expect(whole.fields[.contentLength] == "100")
        #expect(decision.rule == .maxAgeDirective)
    }

    @Test("RFC 9111 §3.3: a 206 with all bytes is stored as the whole, if its length can be checked")
    func wholePart() {
        func decide(_ lines: String...) -> ReplyDecision.Action {
            var exchange = Sample.exchange(status: .partialContent, to: Sample.request("Range: bytes=0-"))
            exchange.reply.headerFields = Sample.fields(["Cache-Control: max-age=60"] + lines)
            return Sample.decide(on: exchange)
        }
        let whole = decide("Content-Range: bytes 0-9/10", "Content-Length: 10").stored
        #expect(whole?.status == .ok)
        #expect(whole?.part == nil)
        #expect(whole?.fields[.contentRange] == nil)
        #expect(decide("Content-Range: bytes 0-9/10").stored == nil)
        #expect(decide("Content-Range: bytes 0-9/10", "Content-Length: 9").stored == nil)
        #expect(decide("Content-Range: bytes 0-8/10", "Content-Length: 9").stored == nil)
        #expect(decide("Content-Range: bytes 1-9/10", "Content-Length: 9").stored == nil)
    }

    @Test("RFC 9111 §4.1: records the request that was sent", .requirement("V10"))
    func sentRequest() throws {
        let sent = Sample.request("Accept-Encoding: gzip", "User-Agent: x")
        let reply = Sample.exchange("Vary: accept-encoding, USER-AGENT", to: sent)
        let stored = try #require(Sample.decide(on: reply).stored)
        #expect(stored.varyKey == VaryKey(text: "accept-encoding: gzip\nuser-agent: x"))
    }

    @Test("Of the unstorable replies, only no-store removes the stored response", .requirement("S05", "B6"))
    func relays() {
        let old = Sample.stored("ETag: \"a\"")
        #expect(
            Sample.decide(on: Sample.exchange("Cache-Control: no-store"), old, validated: 0)
                == .relay(removeStored: true))
        #expect(
            Sample.decide(on: Sample.exchange(status: .serviceUnavailable), old, validated: 0)
                == .relay(removeStored: false))
        #expect(
            Sample.decide(on: Sample.exchange(status: .ok, to: Sample.request(method: .post)), old)
                == .relay(removeStored: false))
        #expect(Sample.decide(on: Sample.exchange(status: .partialContent), old) == .relay(removeStored: false))
        #expect(
            Sample.decide(on: Sample.exchange("Cache-Control: private"), old, policy: .shared)
                == .relay(removeStored: false))
    }

    @Test(".doNotStore relays the response and removes the stored one", .requirement("B4"))
    func doNotStore() {
        let policy = CachePolicy(lifetimeOverride: .doNotStore)
        let old = Sample.stored("Cache-Control: max-age=60")
        #expect(
            Sample.decide(on: Sample.exchange("Cache-Control: max-age=60"), old, policy: policy)
                == .relay(removeStored: true))
        let own = Sample.exchange(status: .notModified, to: Sample.request("If-None-Match: \"x\""))
        #expect(Sample.decide(on: own, old, policy: policy) == .relay(removeStored: true))
    }

    @Test(
        "The 304 to a caller's condition reaches the caller", .requirement("K3"),
        arguments: ["If-None-Match: \"x\"", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "If-None-Match: *"])
    func callersCondition(line: String) {
        let reply = Sample.exchange("ETag: \"x\"", status: .notModified, to: Sample.request(line))
        #expect(Sample.decide(on: reply, Sample.stored("ETag: \"x\"")) == .relay(removeStored: false))
    }

    @Test("A 304 that no response can answer leads to an unconditional request", .requirement("C13"))
    func unanswerable() {
        let reply = Sample.exchange("ETag: \"a\"", status: .notModified)
        #expect(Sample.decide(on: reply) == .retry(removing: []))
        #expect(Sample.decide(on: reply, Sample.stored("ETag: \"a\"")) == .retry(removing: []))
        // The validated entry was deleted, lost its body, or now belongs to another request.
        #expect(Sample.decide(on: reply, validated: 0) == .retry(removing: []))
        #expect(
            Sample.decide(on: reply, Sample.stored("ETag: \"a\"", hasIntactBody: false), validated: 0)
                == .retry(removing: []))
        let german = Sample.request("Accept-Language: de")
        #expect(
            Sample.decide(on: reply, Sample.stored("ETag: \"a\"", "Vary: Accept-Language", for: german), validated: 0)
                == .retry(removing: []))
        #expect(Sample.decide(on: reply, Sample.stored("ETag: \"a\""), validated: -1) == .retry(removing: []))
    }
}
