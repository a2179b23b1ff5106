import CacheLoader
import CacheReports
import Foundation
import LoopbackOrigin

/// The results of one round over all files, counted by the loader.
struct DemoRound: Sendable {
    let title: String
    /// The loads that the origin answered with a full response.
    var replaced = 0
    /// The loads that the store answered without the origin.
    var hits = 0
    /// The loads that the store answered after a 304 of the origin.
    var notModified = 0
    var bytesFromDisk = 0
    var bytesFromNetwork = 0
    var seconds = 0.0

    init(title: String) {
        self.title = title
    }

    /// The number of requests that the loader sent.
    var requests: Int { replaced + notModified }

    mutating func count(_ source: ResponseSource, byteCount: Int) {
        switch source {
        case .network: replaced += 1
        case .notModified: notModified += 1
        default: hits += 1
        }
        if source == .network { bytesFromNetwork += byteCount } else { bytesFromDisk += byteCount }
    }

    // MARK: The origin's counts

    /// Returns the differences between the round and the origin's counters.
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

    var json: JSON {
        [
            "title": .text(title), "requests": .integer(requests), "replaced": .integer(replaced),
            "hits": .integer(hits), "not_modified": .integer(notModified),
            "bytes_from_disk": .integer(bytesFromDisk), "bytes_from_network": .integer(bytesFromNetwork),
            "seconds": .number(seconds),
        ]
    }
}
