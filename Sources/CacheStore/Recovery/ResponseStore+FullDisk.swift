/// Handles full disks: the ballast gives room to evict, and the eviction gives room to write.
extension ResponseStore {
    /// The number of entries evicted in one transaction while the disk is full. The changed pages fit into the ballast.
    private static let batchSize = 16

    /// How long a restart of the WAL waits for readers.
    private static let restartTimeout = Duration.milliseconds(250)

    /// Evicts entries because the disk is full: four times `byteCount`, but at least a sixteenth of the bytes of all
    /// bodies and at least 64 KiB. Returns whether more room is free than before.
    func makeRoomOnDisk(for byteCount: Int64) -> Bool {
        let hadBallast = place.releaseBallast()
        do throws(StoreError) {
            let before = try statistics()
            let wanted = max(
                byteCount.multipliedReportingOverflow(by: 4).partialValue, before.physicalBytes / 16, 1 << 16)
            let rule = EvictionRule.maxBytes(max(0, before.limitedBytes - wanted))
            let report = try evict(rule, atMost: Self.batchSize) { (transaction) throws(StoreError) in
                // Copying the WAL may need space. The committed batches have freed some.
                let batch = try retryingOnFullDisk(transaction)
                try deleteFiles()
                return batch
            }
            restartWAL()
            // Write the ballast last, into the space that the eviction has freed.
            writeBallast()
            observation.log.warning(
                "the disk is full; evicted entries", ["entries": "\(report.entries)", "bytes": "\(report.bytes)"])
            return hadBallast || report.bytes > 0
        } catch {
            observation.log.warning("the disk is full, and no entry can be evicted", ["error": "\(error)"])
            return hadBallast
        }
    }

    /// Runs a change that frees space. If the disk was full, deletes the ballast and runs the change once more.
    func withBallast<Value>(_ change: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try retryingOnFullDisk(change) {
            guard place.releaseBallast() else { return false }
            background.submit { store in store.writeBallast() }
            return true
        }
    }

    /// Runs a change. If the disk was full, calls `makeRoom`, restarts the WAL and runs the change once more.
    /// `makeRoom` returns `false` to skip that run, which would fail, too.
    private func retryingOnFullDisk<Value>(
        _ change: () throws(StoreError) -> Value, after makeRoom: () -> Bool = { true }
    ) throws(StoreError) -> Value {
        do throws(StoreError) {
            return try change()
        } catch {
            guard error.isFullDisk, makeRoom() else { throw error }
            // The change then overwrites the WAL from its beginning, and needs no new space for it.
            restartWAL()
            return try change()
        }
    }

    private func restartWAL() {
        _ = try? writer.withConnection { (connection) throws(StoreError) in
            try connection.restartWAL(within: Self.restartTimeout)
        }
    }
}
