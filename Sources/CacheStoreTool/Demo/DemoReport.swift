import CacheReports
import CacheStore

/// The results of the demo, as text and as JSON.
struct DemoReport: Sendable {
    let origin: String
    let files: Int
    /// The directory of the files, or `nil` for the files that the demo makes.
    let directory: String?
    let store: String
    let isStoreKept: Bool
    let rounds: [DemoRound]
    let before: SQLRows
    let maxBytes: Int64
    let freed: EvictionReport
    let after: SQLRows
    let checkedFiles: Int

    /// The bytes of all files, which the first round loads.
    private var bytes: Int { rounds.first?.bytesFromNetwork ?? 0 }

    // MARK: JSON

    var json: JSON {
        [
            "origin": .text(origin),
            "files": .integer(files),
            "bytes": .integer(bytes),
            "directory": .optional(directory),
            "store": .text(store),
            "store_kept": .bool(isStoreKept),
            "rounds": .array(rounds.map(\.json)),
            "stats_before": before.first.map { JSON.object($0.members) } ?? .null,
            "eviction": [
                "max_bytes": .integer(maxBytes), "entries": .integer(freed.entries), "bytes": .integer(freed.bytes),
            ],
            "stats_after": after.first.map { JSON.object($0.members) } ?? .null,
            "checked_files": .integer(checkedFiles),
        ]
    }

    // MARK: Text

    /// The text. At most 80 columns wide, unless a directory has a long name.
    var text: String {
        """
        cachestore demo: an HTTP cache on disk, and the requests that its origin gets

          origin   \(origin) serves \(files.of("file", "files")), \(Int64(bytes).asByteCount),
                   \(directory.map { "from \($0)" } ?? "made by the demo"), each fresh for an hour
          store    \(store)
                   \(isStoreKept ? "kept for other commands" : "removed at the end; --store keeps it")
          clock    set by the demo: hours pass without a wait

        \(roundTable)

        The origin has counted the same numbers. Every body equals its file.

        \(Self.query)

        \(TextTable().text(of: before, indent: "  "))

        evict --max-bytes \(maxBytes), half of the bytes

          freed \(freed.entries.of("entry", "entries")), \(freed.bytes) bytes (\(freed.bytes.asByteCount))

        \(Self.query)

        \(TextTable().text(of: after, indent: "  "))

        check: \(checkedFiles.of("file", "files")) read and compared with the index, sound\(hint)
        """
    }

    /// The SQL query that the demo shows and runs.
    static let query = "SELECT entries, files, logical_bytes, physical_bytes, hits FROM cache_stats"

    private var roundTable: String {
        let table = TextTable([
            .init("round"), .init("requests", .right), .init("hits", .right), .init("304s", .right),
            .init("200s", .right), .init("from disk", .right), .init("network", .right), .init("time", .right),
        ])
        let rows = rounds.map { round in
            [
                round.title, "\(round.requests)", "\(round.hits)", "\(round.notModified)",
                "\(round.replaced)", Int64(round.bytesFromDisk).asByteCount, Int64(round.bytesFromNetwork).asByteCount,
                "\(Int64((round.seconds * 1000).rounded())) ms",
            ]
        }
        return table.text(of: rows, indent: "  ")
    }

    private var hint: String {
        guard isStoreKept else { return "" }
        return """


            Look at the store with any SQLite client:
              sqlite3 -header -column '\(store)/index.sqlite' 'SELECT * FROM cache_hosts'
              cachestore list --store '\(store)' --sort size --limit 10
            """
    }
}
