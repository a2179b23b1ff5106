public import CacheFoundation

/// Stores and opens representations derived from the body of an entry, such as a thumbnail or a parsed document.
///
/// ```swift
/// if let entry = try store.lookup(key) {
///     if let thumbnail = try store.openDerived(name: "thumbnail", of: entry) { return try thumbnail.data() }
///     guard let image = try store.openBody(of: entry)?.data() else { return nil }
///     try await store.insertDerived(resized(image), name: "thumbnail", of: entry)
/// }
/// ```
///
/// A derived representation lives as long as its entry and the body of that entry. The transaction that removes or
/// evicts the entry, or replaces its body with another, also removes the representation. The end of a session also ends
/// the representations of its entries. An entry that is freshened, or stored again with the same bytes, keeps its
/// representations.
///
/// A derived representation is not an entry and has no recency: the lookup of its entry counts as the access. Its bytes
/// count in the statistics and in ``Limits/maxBytes`` like those of any body, but not in ``Limits/maxPartitionBytes``.
/// A representation with the same bytes as another body shares its file. A snapshot contains derived representations.
extension ResponseStore {
    /// The longest name of a derived representation, in bytes.
    public static let maxDerivedNameByteCount = 1_024

    /// Stores a derived representation of the body of `entry` under a name, in place of the representation with that
    /// name. The store keeps the latest 64 representations of each entry.
    ///
    /// - Parameters:
    ///   - data: The bytes of the representation.
    ///   - name: The name that finds the representation; compared byte by byte.
    ///   - entry: The entry with the original body, as it was when that body was read.
    /// - Returns: Whether the representation is stored. `false` if the entry was removed or its body replaced. `false`
    ///   also if the representation is larger than ``ResponseStore/Configuration/limits`` allow for a body, or leave
    ///   room for.
    /// - Throws: ``StoreError/invalidName(_:reason:)`` for a name that is empty, has more than
    ///   ``maxDerivedNameByteCount`` bytes or contains a NUL; otherwise the errors of `commit` of ``BodyWriter``.
    @discardableResult
    public func insertDerived(
        _ data: some ContiguousBytes, name: String, of entry: StoredEntry
    ) throws(StoreError) -> Bool {
        guard let writer = try writer(of: data, named: name) else { return false }
        return try writer.commit(derived: name, of: entry)
    }

    /// Stores a derived representation like the synchronous overload, without blocking the caller's thread during the
    /// commit.
    @discardableResult
    public func insertDerived(
        _ data: some ContiguousBytes & Sendable, name: String, of entry: StoredEntry
    ) async throws(StoreError) -> Bool {
        guard let writer = try writer(of: data, named: name) else { return false }
        return try await writer.commit(derived: name, of: entry)
    }

    /// Opens the derived representation of that name. Returns `nil` without such a representation, and if `entry` was
    /// removed or its body replaced.
    ///
    /// Runs on the calling thread: a point lookup, then the steps of ``openBody(of:)``, including its verification.
    /// Drops a representation whose file is missing or damaged. Its entry stays, even if both share that file. Does not
    /// count as an access of the entry.
    ///
    /// - Throws: The errors of ``openBody(of:)``.
    public func openDerived(name: String, of entry: StoredEntry) throws(StoreError) -> StoredBody? {
        try checkOpen()
        let found = try read { (connection) throws(StoreError) in try connection.derived(name, of: entry) }
        guard let found else { return nil }
        let reference = BodyReference(
            row: .derived(name, entry: entry.id), digest: found.digest, byteCount: found.byteCount)
        if case .open(let body) = try openBody(of: reference, limit: .max) { return body }
        return nil
    }

    /// Returns a writer that contains all of `data`, or `nil` for a body larger than the limits allow.
    private func writer(of data: some ContiguousBytes, named name: String) throws(StoreError) -> BodyWriter? {
        try Self.checkDerivedName(name)
        let writer = makeBodyWriter()
        do throws(StoreError) {
            try writer.write(data)
            return writer
        } catch .bodyTooLarge {
            return nil
        }
    }

    private static func checkDerivedName(_ name: String) throws(StoreError) {
        guard !name.isEmpty else { throw .invalidName(name, reason: "it is empty") }
        guard name.utf8.count <= maxDerivedNameByteCount else {
            throw .invalidName(name, reason: "it has more than \(maxDerivedNameByteCount) bytes")
        }
        guard !name.utf8.contains(0) else { throw .invalidName(name, reason: "it contains a NUL character") }
    }
}
