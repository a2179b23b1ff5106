/// Finds entries that belong together although their keys differ.
extension Connection {
    /// Returns the groups of the entries of a key, and of its URL with any fragment.
    package func groups(of key: CacheKey) throws(StoreError) -> [String] {
        let statement = try prepared(
            """
            SELECT groups FROM entry
            WHERE partition = ?1 AND key >= ?2 AND key < ?4 AND (key = ?2 OR key >= ?3) AND groups IS NOT NULL
            """)
        defer { statement.reset() }
        statement.bindWithFragments(key)
        var groups: [String] = []
        while try statement.step() { groups += statement.names(0) }
        return groups
    }
}

extension WriteTransaction {
    /// Removes the members of groups; returns their number. RFC 9875 §2.1: a group has one origin, here that of `key`.
    package func removeMembers(of groups: [String], sameOriginAs key: CacheKey) throws(StoreError) -> Int {
        guard !groups.isEmpty, let host = key.host, let origin = key.origin else { return 0 }
        // CASE guards json_each against values that are not JSON, for example after an edit by another program. The
        // condition on the host uses the index of groups. `substr` has no wildcards, which an origin could contain.
        let statement = try connection.prepared(
            """
            SELECT id FROM entry
            WHERE host = ?1 AND groups IS NOT NULL AND partition = ?2 AND substr(key, 1, length(?3)) = ?3
                AND CASE WHEN json_valid(groups) THEN EXISTS (
                    SELECT 1 FROM json_each(entry.groups) AS member
                    JOIN json_each(?4) AS wanted ON wanted.value = member.value
                ) END
            """)
        statement.bind(host, at: 1)
        statement.bind(key.partition, at: 2)
        statement.bind(origin, at: 3)
        statement.bind(names: groups, at: 4)
        return try removeEntries(statement.integers())
    }
}

extension CacheKey {
    /// The text `scheme://authority/`, or `nil` for a name.
    package var origin: String? {
        guard host != nil else { return nil }
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count == 4 ? parts[..<3].joined(separator: "/") + "/" : nil
    }
}
