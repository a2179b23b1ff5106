import CacheTier
import TestSupport

@Suite("The breaker of a tier", .timeLimit(.minutes(5))) struct CircuitBreakerTests {
    /// A call, with times in milliseconds, and whether the breaker is open after the call.
    enum Step: Sendable {
        case fails(from: Int, to: Int, isOpen: Bool)
        case succeeds(from: Int, isOpen: Bool)
        case asks(Int, isAdmitted: Bool)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let steps: [Step]
        var testDescription: String { name }

        init(_ name: String, _ steps: Step...) {
            self.name = name
            self.steps = steps
        }
    }

    @Test(
        "the breaker opens after failures, admits one probe after a pause, and doubles later pauses",
        .requirement("T6"),
        arguments: [
            Case(
                "failures in a row", .asks(0, isAdmitted: true), .fails(from: 0, to: 10, isOpen: false),
                .succeeds(from: 10, isOpen: false), .fails(from: 20, to: 30, isOpen: false),
                .fails(from: 30, to: 40, isOpen: true), .asks(1039, isAdmitted: false), .asks(1040, isAdmitted: true)),
            Case(
                "failures at the same time are one", .fails(from: 0, to: 50, isOpen: false),
                .fails(from: 0, to: 50, isOpen: false), .fails(from: 49, to: 60, isOpen: false),
                .fails(from: 50, to: 70, isOpen: true)),
            Case(
                "a success that began before the failure ends the row", .fails(from: 0, to: 50, isOpen: false),
                .succeeds(from: 10, isOpen: false), .fails(from: 20, to: 70, isOpen: false),
                .fails(from: 70, to: 100, isOpen: false), .fails(from: 100, to: 150, isOpen: true)),
            Case(
                "pauses double up to the longest", .fails(from: 0, to: 0, isOpen: false),
                .fails(from: 0, to: 0, isOpen: true), .asks(999, isAdmitted: false), .asks(1000, isAdmitted: true),
                .asks(1100, isAdmitted: false), .fails(from: 1000, to: 1200, isOpen: true),
                .asks(3199, isAdmitted: false), .asks(3200, isAdmitted: true),
                .fails(from: 3200, to: 3200, isOpen: true), .asks(6199, isAdmitted: false),
                .asks(6200, isAdmitted: true)),
            Case(
                "a probe without a result does not block the next one", .fails(from: 0, to: 0, isOpen: false),
                .fails(from: 0, to: 0, isOpen: true), .asks(1000, isAdmitted: true), .asks(1999, isAdmitted: false),
                .asks(2000, isAdmitted: true), .succeeds(from: 2000, isOpen: false), .asks(2001, isAdmitted: true)),
            Case(
                "a slow probe counts, although another one has begun", .fails(from: 0, to: 0, isOpen: false),
                .fails(from: 0, to: 0, isOpen: true), .asks(1000, isAdmitted: true), .asks(2000, isAdmitted: true),
                .succeeds(from: 1000, isOpen: false)),
            Case(
                "a request from before the opening does not close the breaker", .fails(from: 0, to: 10, isOpen: false),
                .fails(from: 10, to: 20, isOpen: true), .succeeds(from: 15, isOpen: true),
                .asks(500, isAdmitted: false), .asks(1020, isAdmitted: true), .succeeds(from: 15, isOpen: true),
                .succeeds(from: 1020, isOpen: false)),
            Case(
                "a request from before the probe does not prolong the pause", .fails(from: 0, to: 10, isOpen: false),
                .fails(from: 10, to: 20, isOpen: true), .fails(from: 15, to: 900, isOpen: true),
                .asks(1020, isAdmitted: true), .fails(from: 15, to: 1030, isOpen: true),
                .succeeds(from: 1020, isOpen: false)),
            Case(
                "a request from before the probe is no failure after it", .fails(from: 0, to: 0, isOpen: false),
                .fails(from: 0, to: 0, isOpen: true), .asks(1000, isAdmitted: true),
                .succeeds(from: 1000, isOpen: false), .fails(from: 10, to: 1100, isOpen: false),
                .fails(from: 1100, to: 1200, isOpen: false), .fails(from: 1200, to: 1300, isOpen: true)),
        ])
    func breaker(_ c: Case) {
        var breaker = CircuitBreaker(threshold: 2, firstPause: .seconds(1), longestPause: .seconds(3))
        for (number, step) in c.steps.enumerated() {
            switch step {
            case .fails(let start, let end, let isOpen):
                breaker.failed(from: .milliseconds(start), to: .milliseconds(end))
                #expect(breaker.isOpen == isOpen, "step \(number)")
            case .succeeds(let start, let isOpen):
                breaker.succeeded(from: .milliseconds(start))
                #expect(breaker.isOpen == isOpen, "step \(number)")
            case .asks(let time, let isAdmitted):
                #expect(breaker.admits(at: .milliseconds(time)) == isAdmitted, "step \(number)")
            }
        }
    }

    @Test("simultaneous failures count as one: only a long stall opens the breaker", .requirement("T6"))
    func stall() async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        server.setFault { _ in
            await gate.wait()
            return nil
        }
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "no-store") }
        let clock = ManualClock()
        let start = clock.now
        let machine = try Machine(PlainEngine(server.url, transport: DefaultTransport())) {
            $0.deadline = .milliseconds(50)
            $0.sleep = clock.sleep
            $0.uptime = { .seconds(clock.now.timeIntervalSince(start)) }
        }
        let requestCount = 10
        for round in 1...5 {
            let loads = (0..<requestCount).map { _ in Task { try await machine.send(origin).head.status } }
            // The deadlines of the lookups and of their reads, and that of the one poll of removals.
            await clock.waitForSleeps(round * 2 * requestCount + 1)
            clock.advance(by: .milliseconds(50))
            for load in loads { #expect(try await load.value == .ok) }
            await eventually { machine.tier.statistics.timeouts == round * requestCount }
            try #require(machine.tier.isBreakerOpen == (round == 5))
        }
        #expect(machine.tier.statistics.skipped == 0)
        gate.open()
    }
}
