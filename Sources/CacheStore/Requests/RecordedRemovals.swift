internal import CacheFoundation

/// The entries that one transaction removes, for the record of requests. Bounded, because the removal of a large store
/// must not displace all recorded requests.
struct RecordedRemovals {
    /// The most entries with separate records.
    static let maxCount = 64

    /// The cause of the next removals, or `nil` for removals that are not recorded.
    var cause: RemovalRecord.Cause?
    private(set) var records: [RemovalRecord] = []
    private var uncounted: [RemovalRecord.Cause: Int64] = [:]
    private let time: Date

    /// - Parameter time: The time of the transaction.
    init(at time: Date) {
        self.time = time
    }

    /// Whether the next removal needs its key.
    var needsKey: Bool { cause != nil && records.count < Self.maxCount }

    /// Adds a removal. `key` is `nil` unless ``needsKey``.
    mutating func add(_ key: CacheKey?) {
        guard let cause else { return }
        if let key {
            records.append(record(cause, key.text, key.partition, 1))
        } else {
            uncounted[cause, default: 0] += 1
        }
    }

    /// The records of the transaction, and one more for each cause of the entries without a record.
    var all: [RemovalRecord] {
        records
            + RemovalRecord.Cause.allCases.compactMap { cause in
                uncounted[cause].map { record(cause, "", "", $0) }
            }
    }

    private func record(
        _ cause: RemovalRecord.Cause, _ url: String, _ partition: String, _ count: Int64
    ) -> RemovalRecord {
        RemovalRecord(
            removedAt: time, cause: cause, url: url, partition: partition, entryCount: count, processID: 0,
            isTruncated: false)
    }
}
