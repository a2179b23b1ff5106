internal import TestSupport

@Suite struct HeadUpdateTests {
    private func update(
        _ lines: [String], _ candidates: StoredResponse..., status: HTTPResponse.Status = .ok,
        to request: HTTPRequest = Sample.request(method: .head), policy: CachePolicy = CachePolicy()
    ) -> HeadUpdate {
        var exchange = Sample.exchange(status: status, to: request, requested: 98, received: 100)
        exchange.reply.headerFields = Sample.fields(lines)
        return HeadUpdate(exchange, candidates: candidates, policy: policy, fingerprint: Sample.fingerprint)
    }

    @Test(
        "RFC 9111 §4.3.5: equal validators and length confirm a response; any difference makes it stale",
        .requirement("H01"),
        arguments: [
            (["ETag: \"a\""], ["ETag: \"a\""], true),
            (["ETag: \"a\""], ["ETag: \"b\""], false),
            (["ETag: \"a\""], ["ETag: W/\"a\""], false),
            (["ETag: W/\"a\""], ["ETag: W/\"a\""], true),
            (["Last-Modified: x"], ["Last-Modified: x"], true),
            (["Last-Modified: x"], ["Last-Modified: y"], false),
            (["ETag: \"a\"", "Last-Modified: x"], ["ETag: \"a\"", "Last-Modified: x"], true),
            (["ETag: \"a\"", "Last-Modified: x"], ["ETag: \"a\"", "Last-Modified: y"], false),
            // A validator that only one of the two responses has counts as different.
            (["ETag: \"a\""], [], false),
            ([], ["ETag: \"a\""], false),
            (["ETag: \"a\"", "Last-Modified: x"], ["ETag: \"a\""], false),
            ([], [], true),
            (["ETag: \"a\"", "Content-Length: 5"], ["ETag: \"a\"", "Content-Length: 5"], true),
            (["ETag: \"a\"", "Content-Length: 5"], ["ETag: \"a\"", "Content-Length: 6"], false),
            (["ETag: \"a\"", "Content-Length: 5"], ["ETag: \"a\""], true),
            (["ETag: \"a\""], ["ETag: \"a\"", "Content-Length: 5"], false),
            (["Content-Length: 5"], ["Content-Length: 0"], false),
            (["ETag: \"a\""], ["ETag: \"a\"", "Content-Encoding: gzip"], false),
            (["ETag: \"a\"", "Content-Encoding: gzip"], ["ETag: \"a\""], true),
        ] as [([String], [String], Bool)])
    func confirmation(stored: [String], head: [String], isConfirmed: Bool) throws {
        var response = Sample.stored()
        response.fields += Sample.fields(stored)
        response.fields[.cacheControl] = "max-age=1000"
        let update = update(head, response)
        let updated = try #require(update.updates[0])
        #expect(Freshness(of: updated, policy: CachePolicy()).isFresh(at: Sample.time(100)) == isConfirmed)
        #expect(update.removals.isEmpty)
    }

    @Test(
        "A contradicted response is stale, also under another policy than the HEAD's", .requirement("H01"),
        arguments: [
            ("Cache-Control: max-age=60, stale-while-revalidate=1000000", CachePolicy()),
            ("Cache-Control: s-maxage=3600, max-age=60", CachePolicy.shared),
            ("X: y", CachePolicy(lifetimeOverride: .fixed(.seconds(1_000_000_000)))),
        ])
    func contradicted(line: String, policy: CachePolicy) throws {
        let updated = try #require(update(["ETag: \"b\""], Sample.stored("ETag: \"a\"", line)).updates[0])
        let freshness = Freshness(of: updated, policy: policy)
        #expect(!freshness.isFresh(at: Sample.time(100)))
        #expect(freshness.expiry == nil)
        #expect(Outcome(Sample.decide(Sample.request(), updated, policy: policy, at: 100)) == .validate)
    }

    @Test("A contradicted response with a lifetime beyond any age is removed", .requirement("H01"))
    func contradictedForever() {
        let stored = Sample.stored("ETag: \"a\"", "Expires: Thu, 31 Dec 2099 23:59:59 GMT")
        #expect(update(["ETag: \"b\""], stored).removals == [0])
    }

    @Test("RFC 9111 §3.2: HEAD replaces fields and times; other fields stay", .requirement("H02", "U05", "U06"))
    func merge() throws {
        let stored = Sample.stored(
            "ETag: \"a\"", "Cache-Control: max-age=10", "X-Kept: y", "X-Two: a", "X-Two: b", "Age: 7",
            "Content-Length: 5")
        let update = update(
            ["ETag: \"a\"", "Cache-Control: max-age=60", "X-New: z", "X-Two: c", "Connection: X-Hop", "X-Hop: 1"],
            stored)
        let updated = try #require(update.updates[0])
        let fields = updated.fields
        #expect(fields[values: .cacheControl] == ["max-age=60"])
        #expect(fields[values: try #require(.init("X-Kept"))] == ["y"])
        #expect(fields[values: try #require(.init("X-Two"))] == ["c"])
        #expect(fields[values: try #require(.init("X-New"))] == ["z"])
        #expect(fields[values: try #require(.init("X-Hop"))] == [])
        #expect(fields[.age] == nil)
        #expect(fields[.contentLength] == "5")
        #expect(fields[.date] == Sample.time(100).description)
        #expect(updated.requestTime == Sample.time(98))
        #expect(updated.responseTime == Sample.time(100))
        #expect(updated.status == .ok)
        #expect(updated.hasIntactBody)
    }

    @Test("RFC 9111 §4.3.5: another status than 200, or another method, has no effect", .requirement("H03"))
    func otherStatuses() {
        let stored = Sample.stored("ETag: \"a\"")
        for code in [100, 204, 206, 301, 304, 404, 410, 500, 503] {
            #expect(update(["ETag: \"b\""], stored, status: HTTPResponse.Status(code: code)).isEmpty, "\(code)")
        }
        #expect(update(["ETag: \"b\""], stored, to: Sample.request(method: .get)).isEmpty)
        #expect(update(["ETag: \"b\""]).isEmpty)
    }

    @Test("RFC 9111 §4.3.5: compares only the responses that the request could select", .requirement("H01", "U04"))
    func selected() {
        let german = Sample.request("Accept-Language: de")
        let update = update(
            ["ETag: \"a\"", "Vary: Accept-Language"],
            Sample.stored("ETag: \"a\"", "Vary: Accept-Language", for: german),
            Sample.stored("ETag: \"b\"", "Vary: Accept-Language", for: german),
            Sample.stored("ETag: \"b\"", "Vary: Accept-Language", for: Sample.request("Accept-Language: en")),
            Sample.stored("ETag: \"b\""),
            to: Sample.request("Accept-Language: de", method: .head))
        #expect(update.updates.keys.sorted() == [0, 1, 3])
        #expect(update.removals.isEmpty)
        #expect(update.updates[0]?.varyKey.text == "accept-language: de")
    }

    @Test("A 200 to a HEAD removes a stored error or redirect, but no part or lost body", .requirement("H01"))
    func otherStored() {
        for status in [HTTPResponse.Status.notFound, .movedPermanently, .noContent] {
            #expect(update([], Sample.stored(status: status)).removals == [0])
        }
        let part = Sample.stored("ETag: \"a\"", "Content-Length: 3", status: .partialContent)
        #expect(update(["ETag: \"a\"", "Content-Length: 9"], part).isEmpty)
        #expect(update(["ETag: \"b\""], part).updates.keys.sorted() == [0])
        #expect(update(["ETag: \"a\""], Sample.stored("ETag: \"a\"", hasIntactBody: false)).isEmpty)
    }

    @Test("A response that would not be storable after the update is removed", .requirement("H01", "S04", "V04"))
    func noLongerStorable() {
        let stored = Sample.stored("ETag: \"a\"")
        for line in ["Cache-Control: no-store", "Vary: *"] {
            let update = update(["ETag: \"a\"", line], stored)
            #expect(update.updates.isEmpty)
            #expect(update.removals == [0])
        }
        #expect(update(["ETag: \"a\"", "Cache-Control: private"], stored, policy: .shared).removals == [0])
    }

    @Test("RFC 9111 §5.2.1.5: a HEAD with no-store updates no stored response", .requirement("S06"))
    func requestNoStore() {
        let request = Sample.request("Cache-Control: no-store", method: .head)
        #expect(update(["ETag: \"a\""], Sample.stored("ETag: \"a\""), to: request).isEmpty)
        #expect(update(["ETag: \"b\""], Sample.stored("ETag: \"a\""), to: request).removals == [0])
    }

    @Test("A HEAD confirms a decoded body, whose coding and length differ from the origin's", .requirement("U07"))
    func decoded() {
        let stored = Sample.stored("ETag: \"a\"", isBodyDecoded: true)
        let update = update(["ETag: \"a\"", "Content-Encoding: gzip"], stored)
        #expect(update.updates[0] != nil)
        #expect(update.updates[0]?.fields.contains(.contentEncoding) == false)
    }

    @Test("A HEAD response with too many fields changes nothing")
    func manyFields() {
        let lines = Array(repeating: "Via: x", count: StorageDecision.maxFieldCount + 1)
        #expect(update(lines, Sample.stored("ETag: \"a\"")).isEmpty)
    }
}
