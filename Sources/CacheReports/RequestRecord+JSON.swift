import CacheLoader
package import CacheStore
package import Foundation

extension RequestRecord {
    /// The start of the request, such as `2026-01-31T12:34:56.789Z`.
    package var timestamp: String { startedAt.timestamp }

    /// The time from the start to the end of the body, rounded to a microsecond.
    package var milliseconds: Double { (duration / .microseconds(1)).rounded() / 1000 }

    /// The known bytes of the body.
    package var byteCount: Int64 { contentByteCount ?? (diskByteCount &+ networkByteCount) }

    /// The record as printed by `cachestore record show --json`.
    package var json: JSON {
        [
            "content_bytes": .optional(contentByteCount),
            "disk_bytes": .integer(diskByteCount),
            "forward": .optional(forwardReason?.rawValue),
            "head_milliseconds": .number((latency / .microseconds(1)).rounded() / 1000),
            "host": .optional(host),
            "is_background": .bool(isBackground),
            "is_truncated": .bool(isTruncated),
            "method": .text(method),
            "milliseconds": .number(milliseconds),
            "network_bytes": .integer(networkByteCount),
            "outcome": .text(outcome.rawValue),
            "partition": .text(partition),
            "process": .integer(processID),
            "reply": replyDecision.map(\.json) ?? nil,
            "status": .optional(status.map(Int64.init)),
            "time": .text(timestamp),
            "url": .text(url),
        ]
    }
}

extension RecordedReplyDecision {
    fileprivate var json: JSON {
        [
            "action": .text(action.rawValue), "section": .text(rule.section), "phrase": .text(rule.phrase),
            "field": .optional(field),
        ]
    }
}

extension RemovalRecord {
    /// The removal as the inspector shows it.
    package var json: JSON {
        [
            "cause": .text(cause.rawValue), "entries": .integer(entryCount), "host": .optional(host),
            "is_truncated": .bool(isTruncated), "partition": .text(partition), "process": .integer(processID),
            "time": .text(removedAt.timestamp), "url": .text(url),
        ]
    }
}

extension Date {
    /// The time with milliseconds, such as `2026-01-31T12:34:56.789Z`.
    package var timestamp: String { formatted(ISO8601FormatStyle(includingFractionalSeconds: true)) }
}

extension RequestCounts {
    /// The numbers. Omits an absent hit ratio.
    package var json: JSON {
        .object(omittingNulls: [
            "requests": .integer(Int64(min(1e18, requests))), "hits": .integer(hits), "stale": .integer(stale),
            "revalidated": .integer(revalidated), "tier": .integer(tier), "misses": .integer(misses),
            "errors": .integer(errors), "hit_ratio": .optional(hitRatio),
        ])
    }
}
