internal import Synchronization

/// Lanes for reads that take long, used in turn: one long read does not delay the next.
final class ReadingLanes: Sendable {
    private let lanes: [BlockingLane]
    /// The number of reads so far.
    let count = Atomic(0)

    init(count: Int) {
        lanes = (0..<count).map { BlockingLane(label: "CacheStore.reading.\($0)") }
    }

    /// Runs `work` on the next lane and returns its result.
    func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (number, _) = count.wrappingAdd(1, ordering: .relaxed)
        return try await lanes[Int(UInt(bitPattern: number) % UInt(lanes.count))].run(work)
    }
}
