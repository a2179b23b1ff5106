internal import TestSupport

/// Decisions with the caller's and the cache's own conditions. The stored response has the tag "a".
@Suite struct ConditionalDecisionTests {
    private static let lastModified = "Last-Modified: \(Sample.time(-100))"
    private let stored = Sample.stored("Cache-Control: max-age=60", "ETag: \"a\"", lastModified)

    private func request(_ lines: String...) -> HTTPRequest {
        var request = Sample.request()
        request.headerFields = Sample.fields(lines)
        return request
    }

    @Test("RFC 9111 §4.3.1: validates a stale response with all its validators", .requirement("C01", "C02", "C03"))
    func validators() {
        let date = "If-Modified-Since: \(Sample.time(-100))"
        #expect(
            Sample.decide(Sample.request(), stored, at: 60)
                == .validate(0, request("If-None-Match: \"a\"", date), .stale))
        let weak = Sample.stored("ETag: W/\"a\"")
        #expect(Sample.decide(Sample.request(), weak) == .validate(0, request("If-None-Match: W/\"a\""), .stale))
        let dated = Sample.stored("Expires: 0", Self.lastModified)
        #expect(Sample.decide(Sample.request(), dated) == .validate(0, request(date), .stale))
        #expect(Sample.decide(Sample.request(), Sample.stored("Expires: 0")) == .forward(.stale))
    }

    @Test("RFC 9111 §4.3.1: sends only the tag with a range", .requirement("C02"))
    func range() {
        #expect(
            Sample.decide(request("Range: bytes=0-9"), stored, at: 60)
                == .validate(0, request("Range: bytes=0-9", "If-None-Match: \"a\""), .stale))
    }

    @Test("RFC 9111 §4.3.1: the conditional request keeps all other fields of the caller", .requirement("C04"))
    func otherFields() {
        let german = request("Accept-Language: de", "X: y")
        let response = Sample.stored("ETag: \"a\"", "Vary: Accept-Language", for: german)
        #expect(
            Sample.decide(german, response)
                == .validate(0, request("Accept-Language: de", "X: y", "If-None-Match: \"a\""), .stale))
    }

    @Test(
        "RFC 9111 §4.3.2: a fresh response evaluates the caller's condition: 304 or 200",
        .requirement("C07", "C08", "C09"),
        arguments: [
            (["If-None-Match: \"a\""], true), (["If-None-Match: W/\"a\""], true), (["If-None-Match: *"], true),
            (["If-None-Match: \"x\", \"a\""], true), (["If-None-Match: \"x\""], false),
            (["If-Modified-Since: \(Sample.time(-100))"], true), (["If-Modified-Since: \(Sample.time(-101))"], false),
            (["If-Modified-Since: x"], false),
            (["If-None-Match: \"x\"", "If-Modified-Since: \(Sample.time())"], false),
        ])
    func judged(lines: [String], isNotModified: Bool) {
        var request = Sample.request()
        request.headerFields = Sample.fields(lines)
        #expect(Sample.decide(request, stored, at: 59) == .hit(0, age: 59, isStale: false))
        #expect(Preconditions(request).isNotModified(stored) == isNotModified)
    }

    @Test("RFC 9111 §4.3.2: sends both tags, and the 304 names the current one", .requirement("C05", "C06", "Q06"))
    func both() {
        let original = request("If-None-Match: \"x\"")
        let sent = request("If-None-Match: \"x\", \"a\"")
        #expect(Sample.decide(original, stored, at: 60) == .validate(0, sent, .stale))

        func decide(_ lines: String...) -> ReplyDecision.Action {
            var exchange = Sample.exchange(status: .notModified, to: sent, received: 60)
            exchange.reply.headerFields = Sample.fields(lines)
            return Sample.decide(on: exchange, stored, validated: 0, original: original)
        }
        guard case .freshen(let updates, answerWith: 0, removeAfterUse: false) = decide("ETag: \"a\"") else {
            Issue.record("not freshened")
            return
        }
        // The caller has another tag and gets a 200.
        #expect(updates[0].map { Preconditions(original).isNotModified($0) } == false)
        #expect(decide("ETag: \"x\"") == .relay(removeStored: false))
        #expect(decide() == .retry(removing: []), "whose it is it does not say")
    }

    @Test(
        "RFC 9111 §4.3.2: forwards conditions that only the origin may evaluate, for fresh and stale responses",
        .requirement("C10"), arguments: [0, 60] as [Int64])
    func originOnly(at: Int64) {
        for line in ["If-Match: \"a\"", "If-Match: *", "If-Unmodified-Since: \(Sample.time())"] {
            #expect(Sample.decide(request(line), stored, at: at) == .forward(.bypass))
        }
    }

    @Test("RFC 9111 §4.3.3: a full response replaces the stored one; relays an error", .requirement("C11", "C12"))
    func replies() {
        for status in [.ok, .notFound, .gone, .movedPermanently] as [HTTPResponse.Status] {
            guard
                case .store(let new) = Sample.decide(on: Sample.exchange(status: status), stored, validated: 0)
            else {
                Issue.record("\(status) is not stored")
                continue
            }
            #expect(new.status == status)
            #expect(!new.fields.contains(.eTag))
        }
        for status in [.internalServerError, .serviceUnavailable, .forbidden] as [HTTPResponse.Status] {
            let reply = Sample.exchange(status: status, received: 60)
            #expect(Sample.decide(on: reply, stored, validated: 0) == .relay(removeStored: false))
        }
    }

    @Test("RFC 9111 §4.1: only a response in the single preferred language answers", .requirement("V09"))
    func language() {
        let german = Sample.request("Accept-Language: de, en;q=0.5")
        let response = Sample.stored(
            "Cache-Control: max-age=60", "Vary: Accept-Language", "Content-Language: de", for: german)
        for (wish, outcome) in [
            ("de", Outcome.hit), ("en;q=0.1, de;q=0.9", .hit), ("DE", .hit), ("en", .forward), ("de, en", .forward),
            ("de;q=0", .forward), ("*", .forward), ("de-AT", .forward),
        ] {
            #expect(Outcome(Sample.decide(Sample.request("Accept-Language: \(wish)"), response)) == outcome, "\(wish)")
        }
    }
}
