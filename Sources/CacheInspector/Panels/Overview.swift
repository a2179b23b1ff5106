import CacheReports
import CacheStore
import Foundation

/// The recorded requests, aggregated by time, outcome and host.
private struct RequestSums {
    /// The upper bounds of the latency histograms, powers of two in microseconds: up to a minute.
    static let bounds = (0...26).map { Int64(1) << $0 }
    private static let maxHosts = 50

    /// The totals of some requests.
    struct Sum {
        var counts: [RequestOutcome: Int64] = [:]
        var requests = RequestCounts()
        var diskBytes: Int64 = 0
        var networkBytes: Int64 = 0
        var savedBytes: Int64 = 0

        mutating func add(_ record: RequestRecord) {
            // A validation in the background is no request of a program, but loads bytes. The answer before it has
            // saved the body.
            if !record.isBackground {
                counts[record.outcome, default: 0] += 1
                requests.count(record.outcome)
                savedBytes &+= record.savedBytes
            }
            diskBytes &+= max(0, record.diskByteCount)
            networkBytes &+= max(0, record.networkByteCount)
        }

        var members: [(String, JSON)] {
            RequestOutcome.allCases.map { ($0.rawValue, .integer(counts[$0] ?? 0)) }
                + [("hit_ratio", .optional(requests.hitRatio))]
        }
    }

    let from: Int64
    let bucketMilliseconds: Int64
    var series: [Sum]
    var latency: [RequestOutcome: [Int64]] = [:]
    var hosts: [String: Sum] = [:]
    var count: Int64 = 0

    init(from: Int64, to: Int64, buckets: Int) {
        self.from = from
        bucketMilliseconds = max(1, (to - from + Int64(buckets) - 1) / Int64(buckets))
        series = Array(repeating: Sum(), count: buckets)
    }

    mutating func add(_ record: RequestRecord) {
        let offset = record.startedAt.milliseconds - from
        // Skip a record from before the requested time.
        guard offset >= 0 else { return }
        // Another process may have a different clock.
        let bucket = min(Int(offset / bucketMilliseconds), series.count - 1)
        series[bucket].add(record)
        hosts[record.host ?? "", default: Sum()].add(record)
        if record.isBackground { return }
        let microseconds = Int64(record.latency / .microseconds(1))
        let place = Self.bounds.firstIndex { microseconds < $0 } ?? Self.bounds.count
        latency[record.outcome, default: Array(repeating: 0, count: Self.bounds.count + 1)][place] += 1
        count += 1
    }

    var json: [(String, JSON)] {
        let largest = hosts.map { (name: $0.key, sum: $0.value, count: $0.value.counts.values.reduce(0, +)) }
            // Most requests first, then by name.
            .sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(Self.maxHosts)
        return [
            ("from", .integer(from)),
            ("to", .integer(from + bucketMilliseconds * Int64(series.count))),
            ("bucket_milliseconds", .integer(bucketMilliseconds)),
            ("requests", .integer(count)),
            (
                "series",
                .array(
                    series.enumerated().map { place, sum in
                        .object(
                            [("time", .integer(from + Int64(place) * bucketMilliseconds))] + sum.members + [
                                ("disk_bytes", .integer(sum.diskBytes)),
                                ("network_bytes", .integer(sum.networkBytes)),
                                ("saved_bytes", .integer(sum.savedBytes)),
                            ])
                    })
            ),
            (
                "latency",
                [
                    "bounds_microseconds": .array(Self.bounds.map { .integer($0) }),
                    "counts": .object(
                        RequestOutcome.allCases.compactMap { outcome in
                            latency[outcome].map { (outcome.rawValue, .array($0.map { .integer($0) })) }
                        }),
                ]
            ),
            (
                "hosts",
                .array(
                    largest.map {
                        .object(
                            [("host", .text($0.name))] + $0.sum.members + [("saved_bytes", .integer($0.sum.savedBytes))]
                        )
                    })
            ),
        ]
    }
}

extension RequestRecord {
    /// The bytes of the body that this request did not load from the network.
    fileprivate var savedBytes: Int64 {
        switch outcome {
        case .hit, .stale, .revalidated, .coalesced: max(0, byteCount &- networkByteCount)
        case .tier, .miss, .error: 0
        }
    }
}

extension StoreInspector {
    /// The most records that an overview reads.
    private static let maxRecords: Int64 = 262_144

    /// Returns the hits, bytes and latencies of the recorded requests.
    func overview(_ query: QueryParameters) throws -> JSON {
        let minutes = try query.integer("minutes", in: 1...43_200)
        let buckets = Int(try query.integer("buckets", in: 1...240) ?? 60)
        let host = query.text("host")?.lowercased()
        let recording = try store.requestRecording()
        var (records, lost) = ([RequestRecord](), Int64(0))
        try store.forEachRecordPage(since: recording?.cursor(beforeLast: Self.maxRecords), limit: 4_096) { page in
            records += page.records.filter { host == nil || $0.host == host }
            lost += page.lost
        }
        let now = store.configuration.clock().milliseconds
        let oldest = records.reduce(now) { min($0, $1.startedAt.milliseconds) }
        let from = minutes.map { now - $0 * 60_000 } ?? oldest
        var sums = RequestSums(from: from, to: max(now, from + 1), buckets: buckets)
        for record in records { sums.add(record) }
        return .object([("recording", LiveFeed.json(recording)), ("lost", .integer(lost))] + sums.json)
    }
}
