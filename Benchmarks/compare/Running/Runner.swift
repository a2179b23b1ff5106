import Dispatch
import Foundation

/// Does workloads, the sides of each in turn, so that what disturbs the machine disturbs all of them.
struct Runner {
    let rounds: Int
    /// Divides the operations of a round.
    let divisor: Int

    func run(_ work: PlannedWork) async throws -> Comparison {
        let workload = try work.make()
        let count = max(1, workload.operations / divisor)
        let rounds = min(rounds, workload.rounds ?? rounds)
        var times = workload.sides.map { _ in [Double]() }
        // What is done for the first time is done before the first round; but not what can be done once only.
        let firstRound = rounds > 1 ? -1 : 0
        for round in firstRound..<rounds {
            let start = (round + 1) * count
            // Who comes second finds the processor as the first has left it.
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
