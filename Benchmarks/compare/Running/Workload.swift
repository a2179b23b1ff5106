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

    /// In each round.
    let operations: Int
    /// Where the usual number would take too long.
    var rounds: Int?
    /// Operations that are measured one by one after the rounds; 0 where one alone makes no sense.
    var singleOperations = 0
    /// Does what the turn before has left to be done, so that it falls into no turn; not measured.
    var settle: () async throws -> Void = {}
    /// The first is this package.
    let sides: [Side]
}

/// Work that may be done. Its stores are made only if it is.
struct PlannedWork {
    let name: String
    /// What the lines of the chart over the number of entries are called, and where on them this is.
    var growth: Comparison.Growth?
    let make: () throws -> Workload

    init(_ name: String, growth: Comparison.Growth? = nil, make: @escaping () throws -> Workload) {
        self.name = name
        self.growth = growth
        self.make = make
    }

    static func threads(_ count: Int) -> String { count == 1 ? "1 thread" : "\(count) threads" }
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
