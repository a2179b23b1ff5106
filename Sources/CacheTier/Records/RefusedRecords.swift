/// The records whose bodies this process could not complete, so that it does not read them once more.
struct RefusedRecords: Sendable {
    private let limit = 1000
    /// The time of writing of each refused record, by its name.
    private var times: [String: Int64] = [:]

    mutating func insert(_ name: String, _ record: TierRecord) {
        // Without room, old refusals cost a further attempt.
        if times.count >= limit { times = [:] }
        times[name] = record.head.writtenAt
    }

    /// Removes a name, because this process has written another record.
    mutating func remove(_ name: String) {
        times[name] = nil
    }

    /// Whether the record is a refused one. A later record under the same name is not.
    func contains(_ name: String, _ record: TierRecord) -> Bool {
        times[name].map { record.head.writtenAt <= $0 } ?? false
    }
}
