import TestSupport

extension Sandbox {
    /// Stores entries without bodies in a few transactions, as `https://example.com/0` and so on. No store may be open.
    func fillQuickly(_ count: Int, partition: String = "", isPinned: Bool = false) throws {
        try open { $0.limits = nil }.close()
        let connection = try Connection(path: indexPath, role: .writer, busyTimeout: .seconds(5))
        let transaction = WriteTransaction(connection)
        try connection.execute("BEGIN IMMEDIATE")
        for number in 0..<count {
            _ = try transaction.store(
                metadata(), for: CacheKey(url: "https://example.com/\(number)", partition: partition),
                options: EntryOptions(isPinned: isPinned), digest: nil, byteCount: 0, at: Int64(number))
        }
        try connection.execute("COMMIT")
    }
}
