import CacheStore
import FaultModel
import Foundation
import TestSupport
import Testing

@Suite("Processes")
struct ProcessTests {
    private static let processCount = 4

    /// How long they run.
    private static var seconds: Double { Laboratory.isThorough ? 60 : 3 }

    @Test("several processes, some of them killed, share one store: every answer is right, and at the end all adds up")
    func share() async throws {
        let laboratory = try Laboratory()
        let end = ContinuousClock.now + .seconds(Self.seconds)
        let generator = SeededGenerator()
        let (runs, kills) = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for worker in 0..<Self.processCount {
                group.addTask {
                    try await Self.keepRunning(
                        laboratory, until: end, SeededGenerator(seed: generator.seed &+ UInt64(worker) &* 1_000))
                }
            }
            return try await group.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
        }

        let store = try ResponseStore(directory: laboratory.store)
        try await store.sweep()
        try await store.flush()
        let checked = try await store.check(digests: true)
        #expect(checked.problems == [], "\(generator)")
        #expect(checked.foreignFiles == [])
        let statistics = try store.statistics()
        #expect(statistics.unreferencedBytes == 0)
        #expect(try laboratory.blobs() == (statistics.files, statistics.physicalBytes))
        #expect(laboratory.problems(PossibleAnswers()) == [], "\(generator)")
        report("\(runs) runs of \(Self.processCount) processes in \(Self.seconds) s, \(kills) of them killed")
    }

    /// Starts a process again and again; kills two of three at a moment that nobody can foresee.
    private static func keepRunning(
        _ laboratory: Laboratory, until end: ContinuousClock.Instant, _ start: SeededGenerator
    ) async throws -> (runs: Int, kills: Int) {
        var (runs, kills) = (0, 0)
        var generator = start
        while true {
            let rest = (end - .now) / .seconds(1)
            guard rest > 0 else { return (runs, kills) }
            let isKilled = Int.random(in: 0..<3, using: &generator) > 0 && rest > 0.5
            let seconds = isKilled ? rest + 30 : min(rest, Double.random(in: 0.2...1.5, using: &generator))
            let child = try laboratory.start(laboratory.options(.stress(seed: generator.next(), seconds: seconds)))
            let ending = Task { await child.wait() }
            if isKilled {
                try await Task.sleep(for: .milliseconds(Int.random(in: 20...400, using: &generator)))
                child.kill()
                kills += 1
            }
            runs += 1
            let expected: Set<Child.Ending> = isKilled ? [.signal(9)] : [.exit(0)]
            let ended = await ending.value
            #expect(expected.contains(ended), "\(start): \(ended), \(laboratory.output)")
            // Once something is wrong, more of it tells nothing.
            guard expected.contains(ended) else { return (runs, kills) }
        }
    }
}

extension Laboratory {
    /// The number of files below `blobs/`, and their bytes.
    fileprivate func blobs() throws -> (Int, Int64) {
        let blobs = store.appending(path: "blobs")
        var (count, bytes) = (0, Int64(0))
        let paths = FileManager.default.enumerator(atPath: blobs.path(percentEncoded: false))
        while let path = paths?.nextObject() as? String {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: blobs.appending(path: path).path(percentEncoded: false))
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            count += 1
            bytes += (attributes[.size] as? NSNumber)?.int64Value ?? 0
        }
        return (count, bytes)
    }
}
