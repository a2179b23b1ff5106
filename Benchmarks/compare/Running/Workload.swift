import Dispatch
import Foundation
import Synchronization

/// A piece of work, and the sides that do it.
struct Workload {
    /// One implementation of the work.
    struct Side {
        let name: String
        var aim: Comparison.Aim?
        /// Prepares a turn; not measured.
        var prepare: () async throws -> Void = {}
        /// Does the operations with these numbers. Returns nanoseconds per operation.
        let measure: (Range<Int>) async throws -> Double
        /// Whether this process can measure single operations of the side.
        let isHere: Bool

        /// Creates a side whose time is measured in this process.
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

        /// Creates a side that measures itself in another process.
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

        /// Returns a side that counts each operation as `count` operations.
        func eachCounting(_ count: Int) -> Self {
            Self(elsewhere: name, aim: aim, prepare: prepare) { try await measure($0) / Double(count) }
        }
    }

    /// The number of operations in each round.
    let operations: Int
    /// A lower number of rounds, for slow work.
    var rounds: Int?
    /// The number of operations to measure one by one after the rounds, or 0.
    var singleOperations = 0
    /// Finishes the background work of the previous turn; not measured.
    var settle: () async throws -> Void = {}
    /// The first side is this package.
    let sides: [Side]
}

/// Planned work. `make` creates its stores only if the work is selected.
struct PlannedWork {
    let name: String
    /// The line and the position of this work in the chart over the number of entries.
    var growth: Comparison.Growth?
    let make: () throws -> Workload

    init(_ name: String, growth: Comparison.Growth? = nil, make: @escaping () throws -> Workload) {
        self.name = name
        self.growth = growth
        self.make = make
    }

    static func threads(_ count: Int) -> String { count == 1 ? "1 thread" : "\(count) threads" }
}

/// Runs `body` on separate threads. libdispatch would run at most one thread for each processor.
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
