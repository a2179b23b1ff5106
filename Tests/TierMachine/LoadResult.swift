import CacheTier
import Foundation

/// The times of one request in microseconds, and its failure or its first wrong byte.
struct Sample {
    var began: Date
    var head = 0
    var whole = 0
    var source = "none"
    var byteCount = 0
    /// The reason for the missing response.
    var failure: String?
    /// The first difference from the origin's bytes.
    var deviation: String?
}

/// The result of a load.
struct LoadResult: Encodable {
    var count = 0
    var failed = 0
    /// The number of responses that differ from the origin's bytes.
    var wrong = 0
    /// The first reasons of failures and wrong bytes.
    var reasons: [String] = []
    /// The number of responses by source: store, tier, origin, or the transfer of another request.
    var sources: [String: Int] = [:]
    var byteCount = 0
    var seconds = 0.0
    /// For each request: the start in milliseconds since 1970, and the microseconds to the head and to the end.
    var samples: [[Int]] = []
    /// The sources of the samples.
    var sampleSources: [String] = []

    mutating func note(_ sample: Sample, keepsTimes: Bool) {
        count += 1
        byteCount += sample.byteCount
        sources[sample.source, default: 0] += 1
        if let failure = sample.failure { failed += 1; keep(failure) }
        if let deviation = sample.deviation { wrong += 1; keep(deviation) }
        guard keepsTimes else { return }
        samples.append([Int(sample.began.timeIntervalSince1970 * 1000), sample.head, sample.whole])
        sampleSources.append(sample.source)
    }

    private mutating func keep(_ reason: String) {
        if reasons.count < 5 { reasons.append(reason) }
    }
}

/// The counts of a machine.
struct MachineReport: Encodable {
    var residentBytes: Int?
    var isBreakerOpen: Bool?
    var tier: [String: Int] = [:]

    init(residentBytes: Int?, isBreakerOpen: Bool?, _ statistics: TierStatistics?) {
        self.residentBytes = residentBytes
        self.isBreakerOpen = isBreakerOpen
        guard let statistics else { return }
        for count in TierCount.all { tier[count.name] = statistics[keyPath: count.path] }
    }
}
