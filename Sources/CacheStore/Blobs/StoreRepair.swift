/// Mends what a check finds.
extension ResponseStore {
    /// Looks for what is wrong, as `check(digests:)` does, and mends it.
    ///
    /// Entries whose body is missing, altered or not listed are removed, so that they are loaded anew; counts and sums are
    /// counted again; files that no entry needs are deleted. A damaged index file cannot be mended from inside.
    ///
    /// - Returns: What was wrong.
    @discardableResult
    public func repair(digests: Bool = false) throws(StoreError) -> CheckReport {
        let report = try check(digests: digests)
        if !report.isSound {
            // First: what is removed afterwards is counted down from here.
            try writer.write { [self] (connection) throws(StoreError) in
                try mapping(indexPath) { () throws(SQLiteError) in try connection.countAnew() }
            }
        }
        for problem in report.problems { try mend(problem) }
        try flush()
        try sweep()
        return report
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func repair(digests: Bool = false) async throws(StoreError) -> CheckReport {
        try await onMaintenanceLane { () throws(StoreError) in try self.repair(digests: digests) }
    }

    private func mend(_ problem: CheckReport.Problem) throws(StoreError) {
        switch problem {
        case .missingFile(let digest), .alteredFile(let digest):
            try drop(digest)
        case .unlistedBody(let key):
            try remove(key)
        case .damagedIndex, .orphanFile, .wrongReferenceCount, .wrongTotal:
            // Counted anew and swept afterwards, or beyond mending.
            break
        }
    }

    /// Removes the entries of a body, and its file, unless it is whole by now.
    private func drop(_ digest: ContentDigest) throws(StoreError) {
        try writer.write { [self] (connection) throws(StoreError) in
            let byteCount = try mapping(indexPath) { () throws(SQLiteError) in
                try connection.neededByteCount(ofBlob: digest)
            }
            guard let byteCount, try examine(digest, byteCount, reads: true) != nil else { return }
            _ = try removeEntries(withBody: digest, connection)
        }
    }
}

extension Connection {
    /// Sets every count and sum to what the rows say; rows that name no digest go.
    fileprivate func countAnew() throws(SQLiteError) {
        try execute("DELETE FROM entry WHERE body IS NOT NULL AND length(body) <> 32")
        try execute("DELETE FROM blob WHERE length(digest) <> 32")
        try execute("INSERT OR IGNORE INTO total VALUES (1, 0, 0, 0, 0, 0, 0, 0)")
        try execute("DELETE FROM access WHERE entry_id NOT IN (SELECT id FROM entry)")
        try execute("INSERT OR IGNORE INTO access SELECT id, created_at, 0 FROM entry")
        try execute(
            """
            UPDATE blob SET reference_count = (SELECT count(*) FROM entry WHERE body = digest)
            WHERE reference_count <> (SELECT count(*) FROM entry WHERE body = digest)
            """)
        // Last, because the triggers of the above have changed it.
        try execute(
            """
            UPDATE total SET
                entry_count = (SELECT count(*) FROM entry),
                logical_bytes = (SELECT CAST(total(byte_count) AS INTEGER) FROM entry),
                blob_count = (SELECT count(*) FROM blob),
                physical_bytes = (SELECT CAST(total(byte_count) AS INTEGER) FROM blob),
                unreferenced_bytes = (SELECT CAST(total(byte_count) AS INTEGER) FROM blob WHERE reference_count = 0),
                failure_count = (SELECT count(*) FROM failure)
            """)
    }
}
