/// Removes entries that belong together although their keys differ.
extension ResponseStore {
    /// Removes everything stored for `keys`, the other members of their groups, and the members of `groups`, in one
    /// transaction. Running loads of `keys` deliver their responses, but do not store them. With groups, the same
    /// applies to every running load in the partition. All `keys` are of one origin and partition, all `groups` of that
    /// origin; without keys, nothing is removed. Returns the number of removed entries.
    @discardableResult
    package func invalidate(_ keys: [CacheKey], groups: [String] = []) async throws(StoreError) -> Int {
        guard let first = keys.first else { return 0 }
        let count = try await writer.write { (transaction) throws(StoreError) -> Int in
            let connection = transaction.connection
            var (count, groups) = (0, groups)
            for key in keys {
                // RFC 9875 §2.2.1: invalidating a response may also invalidate the members of its groups. It does not
                // cascade to further groups of those members.
                groups += try connection.groups(of: key)
                try transaction.noteRemoval(of: key)
                count += try transaction.removing(.invalidated) { () throws(StoreError) in
                    try transaction.removeEntries(for: key)
                }
                _ = try connection.removeFailuresWithFragments(of: key)
            }
            guard !groups.isEmpty else { return count }
            // A response that is still loading may belong to one of the groups, which is not known yet. So record a
            // removal from the whole partition.
            try transaction.noteRemoval(fromPartition: first.partition)
            return try count
                + transaction.removing(.invalidated) { () throws(StoreError) in
                    try transaction.removeMembers(of: groups, sameOriginAs: first)
                }
        }
        if count > 0, configuration.secureDelete {
            try await maintenanceLane.run { () throws(StoreError) in try self.finishRemoval() }
        }
        return count
    }
}
