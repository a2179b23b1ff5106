import ArgumentParser
import CacheStore

/// Lists stored responses.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List what is stored.")

    enum Order: String, ExpressibleByArgument, CaseIterable {
        case accessed
        case size
        case expires

        /// The terms of `ORDER BY`; the key makes the order deterministic.
        var terms: String {
            switch self {
            case .accessed: "accessed_at DESC, key"
            case .size: "byte_size DESC, key"
            case .expires: "expires_at IS NULL, expires_at, key"
            }
        }
    }

    @Option(help: "Only what is from this host.")
    var host: String?

    @Option(help: "The order: the most recently used first, the largest first, or the first to turn stale.")
    var sort = Order.accessed

    @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
    var limit: Int64?

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit needs a number, 0 or more") }
    }

    func run() async throws {
        if report.json {
            return try JSONOutput.write(JSONRows(result: try store.query(query("*"))))
        }
        let columns = """
            status, byte_size, freshness, substr(expires_at, 1, 19) || 'Z', substr(accessed_at, 1, 19) || 'Z', hit_count,
            url || iif(variant = '', '', ' (' || variant || ')') || iif(kind = 'content', '', ' (' || kind || ')')
            """
        var table = TextTable(columns: [
            .init("status", .right), .init("size", .right), .init("state"), .init("expires"), .init("accessed"),
            .init("hits", .right), .init("url"),
        ])
        table.rows = try store.query(query(columns)).rows.map { row in
            row.enumerated().map { column, value in
                if column == 1, case .integer(let byteCount) = value {
                    byteCount.asByteCount
                } else {
                    value.displayText
                }
            }
        }
        try StandardOutput.write(line: table.text())
    }

    private func query(_ columns: String) -> String {
        """
        SELECT \(columns) FROM cache_entries
        \(host.map { "WHERE host = \($0.lowercased().sqlLiteral)" } ?? "")
        ORDER BY \(sort.terms)
        LIMIT \(limit ?? -1)
        """
    }
}
