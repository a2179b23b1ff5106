import TestSupport

/// Fills and inspects a store for the tests of limits, options and removals.
extension Sandbox {
    /// The size that the limits count: the committed state, read through a separate connection.
    func size() throws -> StoreSize {
        try Connection(path: indexPath, role: .inspector, busyTimeout: .seconds(5)).size()
    }

    /// The paths of all keys, sorted, including entries that await their removal.
    func names() throws -> [String] {
        try RawIndex(indexPath).rows("SELECT replace(key, 'https://example.com/', '') FROM entry ORDER BY key, id")
            .compactMap { $0[0] }
    }

    /// Stores a different body of `byteCount` bytes for each name, one second apart.
    func fill(
        _ store: ResponseStore, _ names: [String], byteCount: Int = 1_000, expiresIn lifetime: TimeInterval? = nil,
        options: EntryOptions = EntryOptions()
    ) throws {
        for name in names {
            let seed = ContentDigest(of: Data(name.utf8)).description.prefix(15)
            let body = Data.noise(byteCount, seed: UInt64(seed, radix: 16) ?? 0)
            try store.insert(body, metadata: metadata(expiresIn: lifetime), for: .path(name), options: options)
            clock.advance(by: 1)
        }
    }
}
