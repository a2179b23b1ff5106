import Dispatch
import Foundation
import Synchronization

/// Work, and those that do it.
struct Workload {
    /// One that does the work.
    struct Side {
        let name: String
        var aim: Comparison.Aim?
        /// Readies a round; not measured.
        var prepare: () async throws -> Void = {}
        /// Does the operations of these numbers; returns how many nanoseconds each took.
        let measure: (Range<Int>) async throws -> Double
        /// Whether single operations can be measured from here.
        let isHere: Bool

        /// A side that is measured here, by the time that `run` takes.
        init(
            _ name: String, aim: Comparison.Aim? = nil, prepare: @escaping () async throws -> Void = {},
            run: @escaping (Range<Int>) async throws -> Void
        ) {
            self.name = name
            self.aim = aim
            self.prepare = prepare
            isHere = true
            measure = { range in
                let start = DispatchTime.now().uptimeNanoseconds
                try await run(range)
                return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(range.count)
            }
        }

        /// A side that measures itself: another process.
        init(
            elsewhere name: String, aim: Comparison.Aim? = nil, prepare: @escaping () async throws -> Void = {},
            measure: @escaping (Range<Int>) async throws -> Double
        ) {
            self.name = name
            self.aim = aim
            self.prepare = prepare
            self.measure = measure
            isHere = false
        }

        /// As this, where one operation does the work of so many.
        func eachCounting(_ count: Int) -> Self {
            Self(elsewhere: name, aim: aim, prepare: prepare) { try await measure($0) / Double(count) }
        }
    }

    let group: String
    let name: String
    /// In each round.
    let operations: Int
    var entries: Int?
    /// Where the usual number would take too long.
    var rounds: Int?
    /// Operations that are measured one by one after the rounds; 0 where one alone makes no sense.
    var singleOperations = 0
    /// The first is this package.
    let sides: [Side]
}

/// Several threads, each of its own: libdispatch would run no more at once than there are processors.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let outcome = ThreadOutcome()
    for number in 0..<count {
        outcome.group.enter()
        Thread.detachNewThread {
            do { try body(number) } catch { outcome.failure.withLock { $0 = error } }
            outcome.group.leave()
        }
    }
    outcome.group.wait()
    if let failure = outcome.failure.withLock({ $0 }) { throw failure }
}

private final class ThreadOutcome: Sendable {
    let group = DispatchGroup()
    /// Guards the latest failure.
    let failure = Mutex<(any Error)?>(nil)
}
