import CacheLoader
import Foundation
import LoopbackOrigin

/// What one round over all files came to, as the loader saw it.
struct DemoRound: Encodable, Sendable {
    let title: String
    /// Loads that the origin answered in full.
    var replaced = 0
    /// Loads that the store answered alone.
    var hits = 0
    /// Loads that the store answered after the origin had said that nothing has changed.
    var notModified = 0
    var bytesFromDisk = 0
    var bytesFromNetwork = 0
    var seconds = 0.0

    init(title: String) {
        self.title = title
    }

    /// What the loader sent.
    var requests: Int { replaced + notModified }

    mutating func count(_ source: ResponseSource, byteCount: Int) {
        switch source {
        case .network: replaced += 1
        case .notModified: notModified += 1
        default: hits += 1
        }
        if source == .network { bytesFromNetwork += byteCount } else { bytesFromDisk += byteCount }
    }

    // MARK: The other side

    /// How the origin's own count of the round differs; empty if it does not.
    func differences(from before: OriginCounters, to after: OriginCounters) -> [String] {
        [
            ("requests", requests, after.requests - before.requests),
            ("304s", notModified, after.notModified - before.notModified),
            ("bytes", bytesFromNetwork, after.bodyBytes - before.bodyBytes),
        ].compactMap { what, here, there in
            here == there ? nil : "\(here) \(what) here, \(there) at the origin"
        }
    }

    // MARK: JSON

    enum CodingKeys: String, CodingKey {
        case title
        case requests
        case replaced
        case hits
        case notModified
        case bytesFromDisk
        case bytesFromNetwork
        case seconds
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(title, forKey: .title)
        try object.encode(requests, forKey: .requests)
        try object.encode(replaced, forKey: .replaced)
        try object.encode(hits, forKey: .hits)
        try object.encode(notModified, forKey: .notModified)
        try object.encode(bytesFromDisk, forKey: .bytesFromDisk)
        try object.encode(bytesFromNetwork, forKey: .bytesFromNetwork)
        try object.encode(seconds, forKey: .seconds)
    }
}
