internal import Logging

/// How a store makes room where the disk has none left, not even for the change that says so.
///
/// A change goes to the log, which cannot grow; the log could go to the index and begin anew, if that had not to grow itself.
extension ResponseStore {
    /// Evicts because the disk is full: four times as much as is needed, and a sixteenth of what there is at least. Whether
    /// any space has become free.
    func makeRoomOnDisk(for byteCount: Int64) -> Bool {
        do throws(StoreError) {
            let growth = try restartLog()
            let held = try statistics().physicalBytes
            guard held > 0 else { return false }
            let wanted = max(byteCount.multipliedReportingOverflow(by: 4).partialValue, held / 16, growth, 1 << 16)
            let report = try evictNow(.maxBytes(max(0, held - wanted)))
            // What was in the index is given back with its pages.
            _ = try restartLog()
            configuration.logger.warning(
                "the disk is full; evicted entries",
                metadata: ["entries": "\(report.entries)", "bytes": "\(report.bytes)"])
            return report.bytes > 0
        } catch {
            configuration.logger.warning(
                "the disk is full, and nothing can be evicted", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Deletes files that an eviction would delete after its commit, which finds no room: some of them, and as many as the index
    /// has to grow by before it has all of the log.
    ///
    /// The eviction itself is to follow at once. Were this process killed between the two, entries would be left whose body is
    /// gone: misses, which go when they are met.
    func deleteFilesAhead(of rule: EvictionRule, _ now: Int64, after id: Int64) throws(StoreError) {
        let growth = try restartLog()
        try writer.withConnection { [blobs] (connection) throws(SQLiteError) in
            try connection.tentatively { () throws(SQLiteError) in
                var bite = try connection.evictBite(rule, now: now, after: id)
                while !bite.isDone, try connection.size().unreferencedBytes < growth {
                    bite = try connection.evictBite(rule, now: now, after: bite.lastID)
                }
                for digest in try connection.unreferencedBlobs(limit: .max) { _ = try? blobs.unlink(digest) }
            }
        }
        _ = try restartLog()
    }

    /// Has the log go to the index as far as there is room for it, and begin anew if all of it went there.
    ///
    /// - Returns: Bytes that the index has to grow by before it has the rest.
    private func restartLog() throws(StoreError) -> Int64 {
        try writer.withConnection { [place] (connection) throws(SQLiteError) in
            _ = try? connection.restartLog()
            let byteCount = try connection.integer(connection.prepared("PRAGMA page_count")) * Connection.pageByteCount
            return byteCount - (place.indexByteCount ?? byteCount)
        }
    }
}
