import CacheReports
import TestSupport

@Suite("ClairvoyantBound")
struct ClairvoyantBoundTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        /// Keys and sizes of requests, one word each.
        let trace: String
        let maxBytes: Int64
        let hits: Double
        let hitBytes: Double

        init(_ name: String, _ trace: String, maxBytes: Int64, hits: Double, hitBytes: Double) {
            testDescription = name
            (self.trace, self.maxBytes, self.hits, self.hitBytes) = (trace, maxBytes, hits, hitBytes)
        }
    }

    private func bound(_ trace: String, maxEntryBytes: Int64 = .max) throws -> ClairvoyantBound {
        var bound = ClairvoyantBound(maxEntryBytes: maxEntryBytes)
        for (number, word) in trace.split(separator: " ").enumerated() {
            let text = "\(number) \(word.prefix(1)) \(word.dropFirst())"
            bound.add(try #require(try TraceRequest(URLListLine(number: number, .url(text)))))
        }
        return bound
    }

    @Test(
        "The bound equals results computed by hand",
        arguments: [
            Case("nothing", "", maxBytes: 9, hits: 0, hitBytes: 0),
            Case("one request", "a5", maxBytes: 9, hits: 0, hitBytes: 0),
            Case("room for all", "a5 b5 a5 b5", maxBytes: 10, hits: 2, hitBytes: 10),
            // 3 gaps of 5 bytes; each takes 5 × 2, so one and a half fit.
            Case("room for one at a time", "a5 b5 a5 b5", maxBytes: 5, hits: 1.5, hitBytes: 7.5),
            // 4 gaps of 8, 32: a takes 2 × 4, b 8 × 2 = 16, and b again 8 × 1: all.
            Case("small ones first", "a2 b8 b8 x1 a2", maxBytes: 8, hits: 2, hitBytes: 10),
            // 4 gaps of 2, 8: a takes 2 × 4 = 8, b 8: for hits one of them, for bytes b.
            Case("hits and bytes differ", "a2 b8 b8 x1 a2", maxBytes: 2, hits: 1, hitBytes: 8),
            Case("no room", "a5 b5 a5 b5", maxBytes: 0, hits: 0, hitBytes: 0),
            Case("what is empty takes none", "a0 b5 a0 b5", maxBytes: 0, hits: 1, hitBytes: 0),
            // Hits and bytes could both keep the first a5: 1 gap of 5 each.
            Case("the shortest so far is what may be kept", "a5 a9 a7", maxBytes: 5, hits: 2, hitBytes: 16),
        ])
    func byHand(_ c: Case) throws {
        let bound = try bound(c.trace)
        #expect(bound.hits(maxBytes: c.maxBytes) == c.hits)
        #expect(bound.hitBytes(maxBytes: c.maxBytes) == c.hitBytes)
    }

    @Test("Bodies above the size limit give no hits; each key and its bytes count once")
    func sums() throws {
        let bound = try bound("a5 b9 a5 b9 a6", maxEntryBytes: 5)
        #expect(bound.hits(maxBytes: 100) == 2)
        #expect(bound.hitBytes(maxBytes: 100) == 11)
        #expect(bound.keyCount == 2)
        #expect(bound.uniqueBytes == 14)
    }

    @Test("No policy exceeds the bound", arguments: [20_000, 60_000, 200_000] as [Int64])
    func above(_ maxBytes: Int64) throws {
        var generator = SystemRandomNumberGenerator()
        var replay = try TraceReplay(limits: Limits(maxBytes: maxBytes))
        for number in 0..<2_000 {
            let key = Int.random(in: 0..<200, using: &generator) * .random(in: 0...1, using: &generator)
            try replay.add(Array("\(number) \(key) \(100 + key * key)\n".utf8))
        }
        for policy in try replay.end().policies {
            let result = policy.result
            #expect(result.requests == 2_000)
            #expect(result.hits > 500)
            #expect(Double(result.hits) <= replay.bound.hits(maxBytes: maxBytes))
            #expect(Double(result.hitBytes) <= replay.bound.hitBytes(maxBytes: maxBytes))
        }
    }
}
