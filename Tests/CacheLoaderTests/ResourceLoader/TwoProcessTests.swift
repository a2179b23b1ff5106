import TestSupport

@Suite(
    "Prefetch: two processes, one store", .enabled(if: !TransportAdapter.allCases.isEmpty, "needs a transport"),
    .timeLimit(.minutes(5)), .serialized
)
struct TwoProcessTests {
    private static let count = Repetitions.count(10_000, debug: 300)

    /// The number of concurrent transfers of a process.
    private static let width = 4

    /// The allowed growth of a process between a quarter of its work and its end, in bytes.
    private static let growth = 16 << 20

    /// The output of a process.
    private struct Report {
        let output: ProcessRunner.Output

        /// The number after a name, or `nil` if the process did not finish.
        subscript(name: String) -> Int? {
            output.text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
                .flatMap { Int($0.dropFirst(name.count + 1)) }
        }

        func expectWhole(sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(output.exitCode == 0, "\(output.errorText)", sourceLocation: sourceLocation)
            #expect(!output.wasKilled, "\(output.errorText)", sourceLocation: sourceLocation)
            #expect(self["failed"] == 0, sourceLocation: sourceLocation)
            let completed = (self["hits"] ?? 0) + (self["loaded"] ?? 0)
            #expect(completed == TwoProcessTests.count, sourceLocation: sourceLocation)
            let growth = (self["late"] ?? .max) - (self["early"] ?? 0)
            #expect(growth <= TwoProcessTests.growth, "\(output.text)", sourceLocation: sourceLocation)
        }
    }

    /// Runs a process that prefetches everything. Not an exit test: each of those occupies a thread of Swift's pool,
    /// which the origin needs.
    private static func run(
        _ directory: TemporaryDirectory, _ origin: LoopbackOrigin, _ role: String, isReversed: Bool = false
    ) async throws -> Report {
        let program = try ProcessRunner.builtProduct(named: "PrefetchScenario")
        let arguments = [
            directory.path, origin.baseURL, role, "\(count)", "\(width)", isReversed ? "backwards" : "forwards",
        ]
        return Report(output: try await ProcessRunner.run(program, arguments))
    }

    // MARK: The origin

    /// The requested paths, by process.
    private final class Ledger: Sendable {
        private struct State {
            var requests: [String: Int] = [:]
            var greeted: Set<String> = []
        }

        /// Guards the counts.
        private let state = Mutex(State())
        private let gate = Gate()
        private let start: Int
        private let killsAfter: Int?
        private let kill = FirstTime()

        /// - Parameters:
        ///   - start: The number of processes that wait for each other before they begin.
        ///   - killsAfter: The number of requests after which the next request of the process "victim" is its last.
        init(start: Int = 2, killsAfter: Int? = nil) {
            self.start = start
            self.killsAfter = killsAfter
        }

        var requests: [String: Int] { state.withLock { $0.requests } }

        func open() async throws -> LoopbackOrigin {
            try await LoopbackOrigin { request in await self.answer(request) }
        }

        private func answer(_ request: OriginRequest) async -> OriginReply {
            let role = request.fields[.from] ?? ""
            guard request.path != "/hello" else {
                let greeted = state.withLock { state in
                    state.greeted.insert(role)
                    return state.greeted.count
                }
                if greeted == start { gate.open() }
                await gate.wait()
                return .ok("hello".utf8, cacheControl: "no-store")
            }
            let total = state.withLock { state in
                state.requests[request.path, default: 0] += 1
                return state.requests.values.count
            }
            if let killsAfter, total > killsAfter, role == "victim", kill.isFirst(),
                let process = request.fields[.userAgent].flatMap({ pid_t($0) })
            {
                _ = Foundation.kill(process, SIGKILL)
            }
            return .ok("body of \(request.path)".utf8, cacheControl: "max-age=86400")
        }
    }

    private func expectWhole(_ directory: TemporaryDirectory) async throws {
        let store = try ResponseStore(directory: directory.url)
        try await store.sweep()
        let report = try await store.check(digests: true)
        #expect(report.problems == [])
        #expect(try store.statistics().entries == Self.count)
        store.close()
    }

    @Test("If one of two processes is killed half way, the other finishes all URLs", .requirement("E1"))
    func killed() async throws {
        let directory = try TemporaryDirectory()
        let ledger = Ledger(killsAfter: Self.count / 2)
        let origin = try await ledger.open()
        async let other = Self.run(directory, origin, "other")
        async let victim = Self.run(directory, origin, "victim", isReversed: true)
        let output = try await victim.output
        #expect(output.wasKilled, "\(output)")
        #expect(output.exitCode == SIGKILL, "\(output)")
        try await other.expectWhole()
        let requests = ledger.requests
        #expect(requests.count == Self.count)
        let repeated = requests.values.reduce(0) { $0 + $1 - 1 }
        #expect((1...Self.width).contains(repeated), "what the victim had under way, and no more: \(repeated)")
        await origin.stop()
        try await expectWhole(directory)
    }
}
