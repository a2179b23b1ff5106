/// What a loader asks about entries that belong together although their keys differ.
extension ResponseStore {
    /// The keys of entries that may answer other queries than their own (``EntryMetadata/searchBase``), the latest
    /// row first. Runs on the calling thread, some microseconds.
    package func keys(withSearchBase base: String, partition: String) throws(StoreError) -> [CacheKey] {
        try read { (connection) throws(SQLiteError) in
            try connection.keys(withSearchBase: base, partition: partition)
        }
    }

    /// Removes everything stored for `keys`, the groups that they belong to, and the members of `groups`, in one
    /// transaction. Loads of any of it that are under way deliver, but do not put it back.
    ///
    /// - Parameters:
    ///   - keys: At least one; all of one origin and partition.
    ///   - groups: Names of groups of that origin.
    /// - Returns: The number of entries.
    @discardableResult
    package func invalidate(_ keys: [CacheKey], groups: [String] = []) async throws(StoreError) -> Int {
        guard let first = keys.first else { return 0 }
        let count = try await writer.write(
            changing { (transaction) throws(SQLiteError) in
                let connection = transaction.connection
                var (count, groups) = (0, groups)
                for key in keys {
                    // RFC 9875 §2.2.1 lets the members go with the one; those do not take their own groups along.
                    groups += try connection.groups(of: key)
                    try connection.noteRemoval(of: key)
                    count += try transaction.removeEntries(for: key)
                    _ = try connection.removeFailure(for: key)
                }
                guard !groups.isEmpty else { return count }
                // Nobody knows what groups the loads under way will turn out to belong to.
                try connection.noteRemoval(fromPartition: first.partition)
                return count + (try transaction.removeMembers(of: groups, sameOriginAs: first))
            })
        if count > 0, configuration.secureDelete {
            try await onMaintenanceLane { () throws(StoreError) in try self.finishRemoval() }
        }
        return count
    }
}
