import CacheTier
import TestSupport

/// Random orders of requests, writes and removals of three machines on one engine.
@Suite("Removals against fills") struct RemovalModelTests {
    private enum Step: CaseIterable { case request, finish, read, url, host, tag, all, unsafe, wait }

    @Test(
        "no response that was requested before a removal is visible after it, in 300 random runs",
        .requirement("T8", "T11"), arguments: [true, false])
    func model(_ hasConditionalWrites: Bool) async throws {
        let groups = try #require(HTTPField.Name("Cache-Groups"))
        var generator = SeededGenerator()
        var hitCount = 0
        for _ in 0..<300 {
            // A body is the serial number of its request, so it states when the origin was asked.
            let fleet = MemoryFleet(hasConditionalWrites: hasConditionalWrites) { _, serial in
                .reply(200, [.cacheControl: "max-age=86400", groups: "\"t\""], "\(serial)")
            }
            let machines = [try fleet.machine(), try fleet.machine(), try fleet.machine()]
            var running: [(machine: MemoryMachine, response: TransportResponse)] = []
            // The number of requests before the last removal.
            var removedCount = 0
            try await machines[0].send("/a")
            for _ in 0..<30 {
                guard let machine = machines.randomElement(using: &generator),
                    let step = Step.allCases.randomElement(using: &generator)
                else { continue }
                let asked = fleet.origin.requests.count
                switch step {
                case .request:
                    let request = HTTPRequest(
                        method: .get, scheme: "https", authority: "example.com", path: "/a",
                        headerFields: [.cacheControl: "no-cache"])
                    running.append((machine, try await machine.transport.send(request, content: nil)))
                case .finish:
                    guard let index = running.indices.randomElement(using: &generator) else { continue }
                    let one = running.remove(at: index)
                    while try await one.response.body.next() != nil {}
                    await one.machine.tier.waitForWrites(within: .seconds(100))
                case .read:
                    let serial = try #require(Int(try await machine.send("/a").body))
                    #expect(serial > removedCount, "\(generator)")
                    if serial <= asked { hitCount += 1 }
                case .url: try await machine.tier.removeAll(in: .url("https://example.com/a"))
                case .host: try await machine.tier.removeAll(in: .host("example.com"))
                case .tag: try await machine.tier.removeAll(in: .tag("t", origin: "https://example.com"))
                case .all: try await machine.tier.removeAll(in: .partition)
                case .unsafe: try await machine.send("/a", method: .put)
                case .wait: fleet.clock.advance(by: .seconds(Int.random(in: 0...3, using: &generator)))
                }
                if [.url, .host, .tag, .all, .unsafe].contains(step) { removedCount = fleet.origin.requests.count }
            }
        }
        #expect(hitCount > 50)
    }
}
