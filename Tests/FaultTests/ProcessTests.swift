import FaultModel
import TestSupport

@Suite("Processes")
struct ProcessTests {
    private static let processCount = 4

    /// The duration of a run.
    private static var seconds: Double { Laboratory.isThorough ? 60 : Repetitions.areComplete ? 3 : 1.5 }

    @Test("several processes share one store while some are killed: all answers are right, and the final sums correct")
    func share() async throws {
        let laboratory = try Laboratory()
        let generator = SeededGenerator()
        let outcome = await Self.onThreads(Self.processCount) { worker in
            Self.keepRunning(
                laboratory, for: Self.seconds, SeededGenerator(seed: generator.seed &+ UInt64(worker) &* 1_000))
        }
        #expect(outcome.problems == [], "\(generator)")
        #expect(outcome.runs >= Self.processCount)

        let store = try ResponseStore(directory: laboratory.store)
        try await store.sweep()
        try await store.flush()
        let checked = try await store.check(digests: true)
        #expect(checked.problems == [], "\(generator)")
        #expect(checked.foreignFiles == [])
        let statistics = try store.statistics()
        #expect(try laboratory.blobs() == (statistics.files, statistics.physicalBytes))
        #expect(laboratory.problems(PossibleAnswers()) == [], "\(generator)")
        report(
            "\(outcome.runs) runs of \(Self.processCount) processes in \(Self.seconds) s, \(outcome.kills) of them killed"
        )
    }

    /// The result of a worker.
    private struct Outcome {
        var runs = 0
        var kills = 0
        var problems: [String] = []

        mutating func add(_ other: Outcome) {
            runs += other.runs
            kills += other.kills
            problems += other.problems
        }
    }

    /// Threads, because other tests may occupy the whole pool of Swift, and the times of the kills must not depend on
    /// them.
    private static func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) -> Outcome) async -> Outcome {
        await withCheckedContinuation { caller in
            let outcomes = Outcomes(count) { caller.resume(returning: $0) }
            for worker in 0..<count { Thread.detachNewThread { outcomes.add(work(worker)) } }
        }
    }

    /// Adds up the results of the threads.
    private final class Outcomes: Sendable {
        /// Guards the sum and the number of running threads.
        private let state: Mutex<(sum: Outcome, left: Int)>
        private let finish: @Sendable (Outcome) -> Void

        init(_ count: Int, finish: @escaping @Sendable (Outcome) -> Void) {
            state = Mutex((Outcome(), count))
            self.finish = finish
        }

        func add(_ outcome: Outcome) {
            let sum = state.withLock { state -> Outcome? in
                state.sum.add(outcome)
                state.left -= 1
                return state.left == 0 ? state.sum : nil
            }
            if let sum { finish(sum) }
        }
    }

    /// Starts a process again and again. Kills two of three after a random delay.
    private static func keepRunning(
        _ laboratory: Laboratory, for seconds: Double, _ start: SeededGenerator
    ) -> Outcome {
        let end = ContinuousClock.now + .seconds(seconds)
        var outcome = Outcome()
        var generator = start
        while outcome.problems.isEmpty {
            let rest = (end - .now) / .seconds(1)
            guard rest > 0 else { break }
            let isKilled = Int.random(in: 0..<3, using: &generator) > 0 && rest > 0.5
            let seconds = isKilled ? rest + 30 : min(rest, Double.random(in: 0.2...1.5, using: &generator))
            do {
                let child = try laboratory.start(laboratory.options(.stress(seed: generator.next(), seconds: seconds)))
                if isKilled {
                    usleep(.random(in: 20_000...400_000, using: &generator))
                    child.kill()
                    outcome.kills += 1
                }
                outcome.runs += 1
                let ending = child.waitBlocking()
                if ending != (isKilled ? .signal(9) : .exit(0)) {
                    outcome.problems.append("\(start): \(ending), \(laboratory.output)")
                }
            } catch {
                outcome.problems.append("\(error)")
            }
        }
        return outcome
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
