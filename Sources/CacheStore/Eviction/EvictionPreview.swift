/// The entries that an eviction would remove, counted without a lock.
package struct EvictionPreview: Sendable {
    /// The entries that would go, and the bytes of bodies that no other entry needs.
    package var report = EvictionReport(entries: 0, bytes: 0)
    /// The size of the store after the eviction.
    package var left: StoreSize
    /// The key of the last entry that would go, or `nil`.
    package var lastKey: CacheKey?
    /// Whether the preview reached its end before its time limit.
    package var isComplete = true
}

extension ResponseStore {
    /// Counts the entries that an eviction by `rule` would remove. Takes no lock, so it also works in a read-only
    /// store. The counts are an estimate: each entry counts with the average of its pages in the index, and accesses
    /// that are still in the memory of a process are missing.
    package func previewEviction(_ rule: EvictionRule, timeLimit: Duration? = nil) throws(StoreError) -> EvictionPreview
    {
        let now = now
        return try readLong { (connection) throws(StoreError) in
            try connection.previewEviction(rule, now: now, timeLimit: timeLimit)
        }
    }
}

extension Connection {
    fileprivate func previewEviction(
        _ rule: EvictionRule, now: Int64, timeLimit: Duration?
    ) throws(StoreError) -> EvictionPreview {
        var preview = EvictionPreview(left: try size())
        let end = timeLimit.map { ContinuousClock.now + $0 }
        var order = try EvictionOrder(rule, self, now: now)
        var freed = try FreedBytes(self)
        var last: Int64?
        while rule.isTooMuch(preview.left), let candidate = try order.nextCandidate(self) {
            let bytes = try freed.remove(candidate.id)
            preview.report += EvictionReport(entries: 1, bytes: bytes)
            preview.left.bodyBytes &-= bytes
            preview.left.entries -= 1
            last = candidate.id
            if let end, preview.report.entries % 256 == 0, ContinuousClock.now >= end {
                preview.isComplete = false
                break
            }
        }
        if let last { preview.lastKey = try key(ofEntry: last) }
        return preview
    }
}
