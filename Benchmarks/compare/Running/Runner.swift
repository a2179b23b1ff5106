import Dispatch
import Foundation

/// Runs workloads. The sides take turns, so that a disturbance of the machine affects all of them.
struct Runner {
    let rounds: Int
    /// The divisor for the number of operations in a round.
    let divisor: Int

    func run(_ work: PlannedWork) async throws -> Comparison {
        let workload = try work.make()
        let count = max(1, workload.operations / divisor)
        let rounds = min(rounds, workload.rounds ?? rounds)
        var times = workload.sides.map { _ in [Double]() }
        // An extra round warms up the sides. Work that is possible only once has no such round.
        let firstRound = rounds > 1 ? -1 : 0
        for round in firstRound..<rounds {
            let start = (round + 1) * count
            // Alternates the order, because each side finds the processor's caches as the previous side left them.
            let order = round.isMultiple(of: 2) ? Array(times.indices) : times.indices.reversed()
            for side in order {
                try await workload.settle()
                try await workload.sides[side].prepare()
                let time = try await workload.sides[side].measure(start..<start + count)
                if round >= 0 { times[side].append(time) }
            }
        }
        var sides: [Comparison.Side] = []
        for (side, times) in zip(workload.sides, times) {
            var latencies: Latencies?
            if side.isHere, workload.singleOperations > 0 {
                try await workload.settle()
                latencies = try await self.latencies(
                    side, from: (rounds + 1) * count, workload.singleOperations / divisor)
            }
            sides.append(Comparison.Side(name: side.name, rounds: times, latencies: latencies, aim: side.aim))
        }
        return Comparison(work: work.name, growth: work.growth, sides: sides)
    }

    private func latencies(_ side: Workload.Side, from first: Int, _ count: Int) async throws -> Latencies? {
        var times: [Double] = []
        times.reserveCapacity(count)
        for number in first..<first + count { times.append(try await side.measure(number..<number + 1)) }
        return Latencies(times)
    }
}
