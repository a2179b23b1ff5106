import FaultModel
import TestSupport

@Suite("Power cuts", .enabled(if: Laboratory.canBreak, "needs Linux, and no sanitizer"))
struct PowerTests {
    struct Case: Sendable {
        let scenario: Scenario
        let isDurable: Bool
    }

    @Test(
        "after a power cut at any moment the store works and serves no wrong bytes; a durable store loses no commit",
        arguments: [
            Case(scenario: .everything, isDurable: false), Case(scenario: .everything, isDurable: true),
            Case(scenario: .parts, isDurable: false), Case(scenario: .parts, isDurable: true),
            Case(scenario: .checkpoints, isDurable: false), Case(scenario: .checkpoints, isDurable: true),
        ])
    func cut(_ c: Case) async throws {
        let laboratory = try Laboratory()
        var options = laboratory.options(.run(c.scenario))
        options.record = laboratory.recordPath
        options.isDurable = c.isDurable
        #expect(try await laboratory.run(options) == .exit(0), "\(laboratory.output)")

        let log = try ChangeLog(laboratory.recordPath)
        let limit = c.scenario == .checkpoints ? 3 : Repetitions.count(14, debug: 5)
        let moments = Set(points(UInt64(log.changes.count), atMost: limit))
        let generator = SeededGenerator()
        var disk = Disk()
        var acknowledged = 0
        var seen: Set<Int> = []
        for (number, change) in log.changes.enumerated() {
            disk.apply(change)
            if case .note = change { acknowledged += 1 }
            guard moments.contains(UInt64(number + 1)) else { continue }
            var losses: [Disk.Loss] = [.everything, .bytes]
            losses += (0..<Repetitions.count(3, debug: 1)).map {
                .some(seed: generator.seed &+ UInt64(number * 3 + $0))
            }
            for loss in losses {
                let remains = disk.remains(loss)
                // Most changes look the same until the next sync.
                guard seen.insert(fingerprint(remains, acknowledged)).inserted else {
                    continue
                }
                let expectation = PossibleAnswers(c.scenario, acknowledged: acknowledged)
                let problems = try examine(remains, expectation, mayForget: !c.isDurable)
                #expect(problems == [], "after change \(number), \(change.summary), lost: \(loss), \(c)")
            }
        }
        report("\(seen.count) states after \(moments.count) of \(log.changes.count) changes (\(c))")
    }

    private func fingerprint(_ remains: [String: [UInt8]?], _ acknowledged: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(acknowledged)
        for (path, bytes) in remains.sorted(by: { $0.key < $1.key }) {
            hasher.combine(path)
            // Hashes the bytes in one call: byte by byte would take longer than the rest of the test.
            bytes?.withUnsafeBytes { hasher.combine(bytes: $0) }
            hasher.combine(bytes?.count)
        }
        return hasher.finalize()
    }

    private func examine(_ remains: [String: [UInt8]?], _ expectation: PossibleAnswers, mayForget: Bool) throws
        -> [String]
    {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "store"), withIntermediateDirectories: false)
        for (path, bytes) in remains.sorted(by: { $0.key < $1.key }) where !path.hasSuffix("-shm") {
            let url = directory.url.appending(path: "store/" + path)
            if let bytes {
                try Data(bytes).write(to: url)
            } else {
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            }
        }
        return StoreExamination(
            directory.url.appending(path: "store"), expectation, isAfterCut: true, mayForget: mayForget
        ).problems()
    }
}

extension ChangeLog.Change {
    /// The change without its bytes.
    fileprivate var summary: String {
        if case .write(let file, let offset, let bytes) = self { return "write \(file) \(offset)+\(bytes.count)" }
        return "\(self)"
    }
}
