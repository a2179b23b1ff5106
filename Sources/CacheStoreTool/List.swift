import ArgumentParser
import CacheStore

/// Lists stored responses.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what is stored.",
        discussion: """
            On a terminal the lines fit its width, times count from now, and the first \(Terminal.rowLimit) entries are \
            listed. In a pipe, lines and times are whole.
            """)

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

    @Option(help: "Only what is from this host, such as example.com, or from a port of it: example.com:8080.")
    var host: HostArgument?

    @Option(help: "The order: the most recently used first, the largest first, or the first to turn stale.")
    var sort = Order.accessed

    @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
    var limit: Int?

    @OptionGroup var rows: RowOptions
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit needs a number, 0 or more") }
        if limit != nil, rows.all { throw ValidationError("--all has no limit; leave it or --limit out") }
    }

    func run() async throws {
        let columns =
            if rows.report.format != nil {
                "cache_entries.*"
            } else if rows.fitsTerminal, !rows.expanded {
                Self.shortColumns
            } else {
                Self.wholeColumns
            }
        let printed = try rows.print(limit: limit, columns: .ofList, text: Self.text) { body in
            try store.forEachRow(of: query(columns), body)
        }
        if limit == nil, let printed {
            StandardError.say("only the first \(printed.of("entry", "entries")); --all lists all")
        }
    }

    private static let url = """
        url || iif(variant = '', '', ' (' || variant || ')') || iif(kind = 'content', '', ' (' || kind || ')') AS url
        """

    private static let wholeColumns = """
        status, byte_size AS size, freshness AS state, substr(expires_at, 1, 19) || 'Z' AS expires,
        substr(accessed_at, 1, 19) || 'Z' AS accessed, hit_count AS hits, \(url)
        """

    /// Shows times in seconds from now.
    private static let shortColumns = """
        status, byte_size AS size, freshness AS state,
        CAST((julianday(expires_at) - julianday('now')) * 86400 AS INTEGER) AS expires,
        CAST((julianday(accessed_at) - julianday('now')) * 86400 AS INTEGER) AS accessed, hit_count AS hits, \(url)
        """

    private static func text(column: Int, value: SQLValue) -> String {
        switch (column, value) {
        case (1, .integer(let byteCount)): byteCount.asByteCount
        case (3, .integer(let seconds)), (4, .integer(let seconds)): seconds.asRelativeTime
        default: value.displayText
        }
    }

    /// Sorts ids before reading whole rows. Sorting whole rows takes several times as long and delays the first row.
    private func query(_ columns: String) -> String {
        // With a LIMIT, SQLite keeps the order of a subquery in FROM. CROSS JOIN keeps the subquery as the outer loop.
        """
        WITH sorted (sorted_id) AS MATERIALIZED (
            SELECT id FROM cache_entries
            \(host.map { "WHERE \($0.predicate)" } ?? "")
            ORDER BY \(sort.terms)
            LIMIT \((limit ?? rows.limit).map { $0 == .max ? $0 : $0 + 1 } ?? -1)
        )
        SELECT \(columns) FROM sorted CROSS JOIN cache_entries ON id = sorted_id
        """
    }
}

extension [TextTable.Column] {
    /// The columns of a list.
    fileprivate static let ofList: Self = [
        .init("status", .right), .init("size", .right), .init("state"), .init("expires"), .init("accessed"),
        .init("hits", .right), .init("url", keepsEnd: true),
    ]
}
