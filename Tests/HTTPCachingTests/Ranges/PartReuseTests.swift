internal import TestSupport

/// Decisions with stored parts. The part has bytes 20 to 59 of 100, a lifetime of 60 seconds and a strong tag.
@Suite struct PartReuseTests {
    private func stored(
        _ range: Range<Int64>, of length: Int64? = 100, tag: String = "\"a\"", control: String = "max-age=60",
        received: Int64 = 0
    ) -> StoredResponse {
        var response = Sample.stored("Cache-Control: \(control)", "ETag: \(tag)", received: received)
        response.part = StoredPart(bytes: range, completeLength: length)
        return response
    }

    private func resuming(_ range: String, _ tag: String) -> HTTPRequest {
        Sample.request("Range: \(range)", "If-Range: \(tag)")
    }

    @Test(
        "RFC 9111 §3.3: a stored part answers exactly the ranges inside it", .requirement("G02", "G05"),
        arguments: [
            ("bytes=20-59", .hit), ("bytes=20-20", .hit), ("bytes=59-59", .hit), ("bytes=30-40, 50-55", .hit),
            ("bytes=19-59", .forward), ("bytes=20-60", .forward), ("bytes=0-", .forward), ("bytes=20-", .forward),
            ("bytes=-41", .forward), ("bytes=30-40, 60-61", .forward), ("bytes=60-", .forward),
            ("lines=20-30", .forward), ("bytes=40-30", .forward), ("junk", .forward),
        ] as [(String, Outcome)])
    func inside(range: String, outcome: Outcome) {
        let decision = Sample.decide(Sample.request("Range: \(range)"), stored(bytes(20, 60)))
        #expect(Outcome(decision) == outcome)
        if outcome == .forward { #expect(decision == .forward(.partial)) }
    }

    @Test("Several ranges of an encoded part go to the origin: no answer has them", .requirement("G03"))
    func encoded() {
        var part = stored(bytes(20, 60))
        part.fields[.contentEncoding] = "gzip"
        #expect(Sample.decide(Sample.request("Range: bytes=30-40, 50-55"), part) == .forward(.partial))
        #expect(Outcome(Sample.decide(Sample.request("Range: bytes=30-40"), part)) == .hit)
    }

    @Test("Completes a part that is newer than a stale whole, but not an older one", .requirement("G15"))
    func newerThanWhole() {
        let whole = Sample.stored("Cache-Control: max-age=60", "ETag: \"old\"")
        let part = stored(bytes(0, 60), tag: "\"new\"", received: 100)
        #expect(Sample.decide(Sample.request(), whole, part, at: 200) == .resume(1, resuming("bytes=60-", "\"new\"")))
        let older = stored(bytes(0, 60), tag: "\"new\"", received: -100)
        #expect(Outcome(Sample.decide(Sample.request(), whole, older, at: 200)) == .validate)
        #expect(Outcome(Sample.decide(Sample.request(), whole, part, at: 59)) == .hit)
        // A part from the middle cannot be completed.
        let middle = stored(bytes(20, 60), tag: "\"new\"", received: 100)
        #expect(Outcome(Sample.decide(Sample.request(), whole, middle, at: 200)) == .validate)
    }

    @Test("RFC 9111 §3.3: a part answers neither a request for the whole nor a HEAD with a range", .requirement("G02"))
    func whole() {
        #expect(Sample.decide(Sample.request(), stored(bytes(20, 60))) == .forward(.partial))
        let head = Sample.request("Range: bytes=20-30", method: .head)
        #expect(Sample.decide(head, stored(bytes(20, 60))) == .forward(.partial))
        let local = Sample.request("Cache-Control: only-if-cached")
        #expect(Sample.decide(local, stored(bytes(0, 60))) == .unsatisfiable)
    }

    @Test(
        "RFC 9110 §13.1.5: If-Range with another validator asks for the whole, so a part does not answer",
        .requirement("G05", "G14"),
        arguments: [("\"a\"", .hit), ("\"b\"", .forward), ("W/\"a\"", .forward), ("x", .forward)] as [(String, Outcome)]
    )
    func ifRange(tag: String, outcome: Outcome) {
        #expect(Outcome(Sample.decide(resuming("bytes=20-30", tag), stored(bytes(20, 60)))) == outcome)
    }

    @Test("A part goes stale like a whole, and is validated with the requested range", .requirement("G05", "F01"))
    func stale() {
        let request = Sample.request("Range: bytes=20-30")
        #expect(Sample.decide(request, stored(bytes(20, 60)), at: 59) == .hit(0, age: 59, isStale: false))
        var conditional = request
        conditional.headerFields[.ifNoneMatch] = "\"a\""
        #expect(Sample.decide(request, stored(bytes(20, 60)), at: 60) == .validate(0, conditional, .stale))
        #expect(Outcome(Sample.decide(request, stored(bytes(20, 60), control: "no-cache"))) == .validate)
        let policy = CachePolicy(mode: .cacheOnly)
        #expect(Outcome(Sample.decide(request, stored(bytes(20, 60)), policy: policy, at: 60)) == .staleHit)
    }

    @Test("A part of unknown length answers ranges inside it, but no suffix", .requirement("G05", "G10"))
    func unknownLength() {
        let part = stored(bytes(20, 60), of: nil)
        #expect(Outcome(Sample.decide(Sample.request("Range: bytes=20-59"), part)) == .hit)
        #expect(Outcome(Sample.decide(Sample.request("Range: bytes=-41"), part)) == .forward)
        #expect(Outcome(Sample.decide(Sample.request("Range: bytes=20-"), part)) == .forward)
    }

    @Test("The whole answers ranges outside a stored part", .requirement("G04"))
    func wholeBesidePart() {
        let whole = Sample.stored("Cache-Control: max-age=60", "ETag: \"a\"")
        let part = stored(bytes(20, 60), received: 5)
        #expect(Sample.decide(Sample.request(), part, whole, at: 10) == .hit(1, age: 10, isStale: false))
        let request = Sample.request("Range: bytes=20-30")
        #expect(Sample.decide(request, whole, part, at: 10) == .hit(1, age: 5, isStale: false))
    }

    @Test("RFC 9111 §3.4: completes a beginning with a strong validator, however stale", .requirement("G15", "G18"))
    func resume() {
        #expect(Sample.decide(Sample.request(), stored(bytes(0, 40))) == .resume(0, resuming("bytes=40-", "\"a\"")))
        #expect(
            Sample.decide(Sample.request(), stored(bytes(0, 40)), at: 900) == .resume(0, resuming("bytes=40-", "\"a\""))
        )
        #expect(
            Sample.decide(Sample.request(), stored(bytes(0, 40), of: nil)) == .resume(0, resuming("bytes=40-", "\"a\""))
        )
        let newer = stored(bytes(0, 50), tag: "\"b\"", received: 5)
        #expect(
            Sample.decide(Sample.request(), stored(bytes(0, 40)), newer, at: 6)
                == .resume(1, resuming("bytes=50-", "\"b\"")))
    }

    @Test("Completes no part with a weak validator, from the middle, or for other requests", .requirement("G15", "S06"))
    func notResumed() {
        #expect(Sample.decide(Sample.request(), stored(bytes(0, 40), tag: "W/\"a\"")) == .forward(.partial))
        #expect(Sample.decide(Sample.request(), stored(bytes(1, 40))) == .forward(.partial))
        for line in ["Range: bytes=0-50", "If-None-Match: \"x\"", "Cache-Control: no-store"] {
            #expect(Sample.decide(Sample.request(line), stored(bytes(0, 40))) == .forward(.partial), "\(line)")
        }
    }

    @Test("Neither uses nor resumes a part that another request selected", .requirement("V02"))
    func otherVariant() {
        let german = Sample.request("Accept-Language: de")
        var part = Sample.stored("Cache-Control: max-age=60", "ETag: \"a\"", "Vary: Accept-Language", for: german)
        part.part = StoredPart(bytes: bytes(0, 40), completeLength: 100)
        #expect(Sample.decide(Sample.request("Range: bytes=0-10"), part) == .forward(.varyMiss))
        #expect(Sample.decide(Sample.request(), part) == .forward(.varyMiss))
        #expect(Outcome(Sample.decide(german, part)) == .resume)
    }
}
