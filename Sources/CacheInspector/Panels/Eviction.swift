import CacheReports
import CacheStore
import HTTPTypes
import Synchronization

extension StoreInspector {
    private static let previewTime = Duration.seconds(2)
    /// The most records that a simulation replays.
    private static let maxSimulated: Int64 = 32_768

    /// Returns the entries that an eviction would remove next.
    func eviction(_ query: QueryParameters) throws -> JSON {
        var listing = EntryListing(.everything)
        listing.order = .eviction
        listing.limit = Int(try query.integer("limit", in: 1...1_000) ?? 100)
        listing.timeLimit = Self.previewTime
        let statistics = try store.statistics()
        let totals = try store.query("SELECT eviction_policy FROM cache_stats")
        let policy = totals.first?.values.first?.text ?? ""
        var sum: Int64 = 0
        let rows = try rows(try store.page(of: listing).ids).map { row in
            sum &+= row["byte_size"]?.integer ?? 0
            guard case .object(let members) = JSON(row) else { return JSON.null }
            return JSON.object(members + [("cumulative_bytes", .integer(sum))])
        }
        return [
            "policy": .text(policy), "limited_bytes": .integer(statistics.limitedBytes), "entries": .array(rows),
        ]
    }

    /// Estimates the effect of an eviction down to a size, without evicting.
    func evictionPreview(_ query: QueryParameters) throws -> JSON {
        guard let maxBytes = try query.integer("max_bytes", in: 0 ... .max) else {
            throw InspectorFailure.invalid("max_bytes is missing")
        }
        let preview = try store.previewEviction(.maxBytes(maxBytes), timeLimit: Self.previewTime)
        return [
            "entries": .integer(preview.report.entries),
            "bytes": .integer(preview.report.bytes),
            "entries_left": .integer(max(0, preview.left.entries)),
            "bytes_left": .integer(max(0, preview.left.bytes)),
            "last_key": .optional(preview.lastKey?.text),
            "is_estimate": true,
            "is_complete": .bool(preview.isComplete),
        ]
    }

    /// Replays the recorded requests with each policy. Runs one simulation at a time.
    func simulate(_ content: [UInt8]) async throws -> JSON {
        struct Limit: Decodable {
            let maxBytes: Int64
            enum CodingKeys: String, CodingKey { case maxBytes = "max_bytes" }
        }
        let limit = try decode(Limit.self, content)
        guard limit.maxBytes > 0 else { throw InspectorFailure.invalid("max_bytes must be more than 0") }
        guard state.isSimulating.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else {
            throw InspectorFailure.busy("a simulation is running")
        }
        defer { state.isSimulating.store(false, ordering: .relaxed) }
        return try await scanning { inspector in
            var replay = try TraceReplay(limits: Limits(maxBytes: limit.maxBytes))
            if let recording = try inspector.store.requestRecording() {
                try replay.addRecord(
                    of: inspector.store, since: recording.cursor(beforeLast: Self.maxSimulated))
            }
            guard !replay.isEmpty else {
                throw InspectorFailure(
                    .conflict, "no_record", "no request is recorded that a cache can answer; switch the record on")
            }
            return try replay.end().json
        }
    }
}
