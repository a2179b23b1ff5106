internal import Synchronization

/// Lanes used in turn for work that may take long, so that one long job does not delay the next.
final class LaneGroup: Sendable {
    private let lanes: [BlockingLane]
    /// The number of jobs so far.
    let count = Atomic(0)

    init(label: String, count: Int) {
        lanes = (0..<count).map { BlockingLane(label: "\(label).\($0)") }
    }

    /// Runs `work` on the next lane and returns its result.
    func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (number, _) = count.wrappingAdd(1, ordering: .relaxed)
        return try await lanes[Int(UInt(bitPattern: number) % UInt(lanes.count))].run(work)
    }
}
