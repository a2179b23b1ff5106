import CacheTier
import TestSupport

@Suite("Variants in a tier") struct VariantTests {
    @Test("four spellings of one Accept-Encoding are one record and three hits", .requirement("T1"))
    func spellings() async throws {
        let fleet = MemoryFleet { _, serial in
            .reply(200, [.cacheControl: "max-age=60", .vary: "Accept-Encoding"], "\(serial)")
        }
        for value in ["gzip, br", "br,gzip", "GZIP, br", "gzip;q=1, br;q=1.0"] {
            #expect(try await fleet.machine().send("/a", [.acceptEncoding: value]).body == "1")
        }
        #expect(fleet.engine.names.count { $0.contains("/resp/") } == 1)
        #expect(try await fleet.machine().send("/a", [.acceptEncoding: "gzip"]).body == "2")
    }

    @Test("the first response with other names in Vary costs one more request, and the next one is written")
    func otherNames() async throws {
        let fleet = MemoryFleet { _, serial in
            .reply(200, [.cacheControl: "max-age=60", .vary: serial == 1 ? "" : "Accept"], "\(serial)")
        }
        #expect(try await fleet.machine().send("/a").body == "1")
        fleet.clock.advance(by: .seconds(61))
        #expect(try await fleet.machine().send("/a").body == "2")
        fleet.clock.advance(by: .seconds(2))
        #expect(try await fleet.machine().send("/a").body == "3")
        #expect(try await fleet.machine().send("/a").body == "3")
    }

    @Test("store and tier choose the same response for 10,000 random sets of variants", .requirement("T1"))
    func choice() async throws {
        let vary = ["", "Accept-Encoding", "Accept", "Accept-Encoding, Accept"]
        let fleet = MemoryFleet { request, serial in
            guard request.headerFields[.cacheControl] != "only-if-cached" else { return .reply(504) }
            let name = request.headerFields[.contentType] ?? ""
            return .reply(200, [.cacheControl: "max-age=86400", .vary: name], "\(serial)")
        }
        let machine = try fleet.machine()
        // Every URL knows the four lists of names.
        let urls = (0..<40).map { "/\($0)" }
        for url in urls {
            for names in vary { try await machine.send(url, [.contentType: names, .cacheControl: "no-cache"]) }
        }
        fleet.clock.advance(by: .seconds(2))
        var generator = SeededGenerator()
        let policy = CachePolicy.shared
        func fields() -> HTTPFields {
            var fields: HTTPFields = [:]
            let codings = ["gzip", "br", "gzip, br", "br, gzip", "BR,gzip;q=1", "", "gzip;q=0.5"]
            let types = ["text/html", "text/html, */*;q=0.1", "*/*;q=0.1,TEXT/html", "image/png"]
            if Bool.random(using: &generator) { fields[.acceptEncoding] = codings.randomElement(using: &generator) }
            if Bool.random(using: &generator) { fields[.accept] = types.randomElement(using: &generator) }
            return fields
        }
        var stored: [String: [VaryKey: (response: StoredResponse, body: String)]] = [:]
        var hitCount = 0
        for _ in 0..<10_000 {
            let url = urls.randomElement(using: &generator) ?? ""
            fleet.clock.advance(by: .seconds(1))
            if Int.random(in: 0..<4, using: &generator) == 0 {
                var sent = fields()
                sent[.contentType] = vary.randomElement(using: &generator)
                sent[.cacheControl] = "no-cache"
                let body = try await machine.send(url, sent).body
                let response = HTTPFields([
                    HTTPField(name: .cacheControl, value: "max-age=86400"),
                    HTTPField(name: .vary, value: sent[.contentType] ?? ""),
                ])
                let request = HTTPRequest(
                    method: .get, scheme: "https", authority: "example.com", path: url, headerFields: sent)
                let key = try #require(VaryKey(response: response, request: request, fingerprint: { $1 }))
                let time = HTTPDate(fleet.clock.date())
                // The store replaces the response that the request selects with the same list of names.
                for (other, entry) in stored[url] ?? [:]
                where entry.response.fields[.vary] == response[.vary] && other.matches(request, fingerprint: { $1 }) {
                    stored[url]?[other] = nil
                }
                stored[url, default: [:]][key] = (
                    StoredResponse(
                        status: .ok, fields: response, requestTime: time, responseTime: time, varyKey: key), body
                )
            } else {
                let sent = fields()
                let request = HTTPRequest(
                    method: .get, scheme: "https", authority: "example.com", path: url, headerFields: sent)
                let entries = Array((stored[url] ?? [:]).values)
                let decision = ReuseDecision(
                    for: request, candidates: entries.map(\.response), policy: policy,
                    now: HTTPDate(fleet.clock.date()), fingerprint: { $1 })
                var only = sent
                only[.cacheControl] = "only-if-cached"
                let hits = machine.tier.statistics.hits
                let body = try await machine.send(url, only).body
                let isHit = machine.tier.statistics.hits > hits
                if case .hit(let index, _, _) = decision.action {
                    #expect(isHit, "\(generator)")
                    #expect(body == entries[index].body, "\(generator)")
                    hitCount += 1
                } else {
                    #expect(!isHit, "\(generator)")
                }
            }
        }
        #expect(hitCount > 1000)
    }
}
