import CacheInspector
import Dispatch
import TestSupport

/// Occupies the lane for table scans until a test opens it.
private final class Scan: Sendable {
    /// Longer than any test. Only a lane that waits for this scan reaches the timeout.
    private static let patience = DispatchTimeInterval.seconds(600)
    private let gate = DispatchSemaphore(value: 0)

    /// Runs `body` during a scan. Returns whether the scan ended because `body` ended.
    static func run(in panel: Panel, _ body: (Scan) async throws -> Void) async throws -> Bool {
        let scan = Scan()
        let (starts, continuation) = AsyncStream<Void>.makeStream()
        async let wasOpened = panel.inspector.scanning { _ in
            continuation.yield()
            return scan.gate.wait(timeout: .now() + patience) == .success
        }
        for await _ in starts { break }
        try await body(scan)
        scan.open()
        return try await wasOpened
    }

    func open() { gate.signal() }
}

@Suite("Inspector lanes")
struct InspectorLaneTests {
    @Test(
        "a read of a few rows does not wait for a table scan",
        arguments: [
            ("api/session", ""), ("api/statistics", ""), ("api/entries", ""), ("api/entry", "id=1"),
            ("api/body", "id=1"), ("api/eviction", ""), ("api/failures", ""), ("api/health", ""),
        ])
    func separation(_ path: String, _ query: String) async throws {
        let panel = try Panel()
        try panel.insert("https://example.com/")
        let wasOpened = try await Scan.run(in: panel) { _ in
            let answer = try await panel.get(path, query)
            #expect(answer.status == 200)
        }
        #expect(wasOpened)
    }

    @Test("refuses a second simulation while one runs, and allows it afterwards")
    func simulations() async throws {
        let panel = try Panel()
        let content = "{\"max_bytes\": 1000}"
        let wasOpened = try await Scan.run(in: panel) { scan in
            let (codes, continuation) = AsyncStream<String?>.makeStream()
            for _ in 0..<2 {
                Task { continuation.yield(try await panel.post("api/simulate", content).code) }
            }
            var iterator = codes.makeAsyncIterator()
            #expect(await iterator.next() == "busy")
            scan.open()
            #expect(await iterator.next() == "no_record")
        }
        #expect(wasOpened)
        #expect(try await panel.post("api/simulate", content).code == "no_record")
    }
}
