import ArgumentParser
import CacheStore

/// Lists stored responses.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what is stored.",
        discussion: """
            On a terminal the lines fit its width, times count from now, and the first \(Terminal.rowLimit) entries are \
            listed. A variant shows the values of the fields that Vary names. In a pipe, lines, times and variants are whole.
            """)

    enum Order: String, ExpressibleByArgument, CaseIterable {
        case used
        case size
        case hits
        case stored
        case expires
        case url

        /// The terms of `ORDER BY`; the key makes the order deterministic.
        var terms: String {
            switch self {
            case .used: "accessed_at DESC, key"
            case .size: "byte_size DESC, key"
            case .hits: "hit_count DESC, key"
            case .stored: "created_at DESC, key"
            case .expires: "expires_at IS NULL, expires_at, key"
            case .url: "url, variant, key"
            }
        }
    }

    @Option(help: "Only what is from this host, such as example.com, or from a port of it: example.com:8080.")
    var host: HostArgument?

    @Option(
        help: """
            The order: the most recently used first, the largest, the most hits, the most recently stored, the first to turn \
            stale, or by URL.
            """)
    var sort = Order.used

    @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
    var limit: Int?

    @OptionGroup var rows: RowOptions
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit needs a number, 0 or more") }
        if limit != nil, rows.all { throw ValidationError("--all has no limit; leave it or --limit out") }
    }

    func run() async throws {
        let layout = Layout(rows)
        let printed = try rows.print(limit: limit, columns: layout.columns, text: layout.text) { body in
            try store.forEachRow(of: query(layout.terms), body)
        }
        if limit == nil, let printed {
            StandardError.say("only the first \(printed.of("entry", "entries")); --all lists all")
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

/// The columns of a list for one kind of output.
private struct Layout: Sendable {
    /// The terms of `SELECT`.
    let terms: String
    /// The columns of the table. Empty for JSON, whose members have the names of the terms.
    let columns: [TextTable.Column]
    let text: TextTable.CellText

    init(_ rows: RowOptions) {
        if rows.report.format != nil {
            self.init(terms: "cache_entries.*", columns: []) { $1.displayText }
        } else if let terminal = Terminal.ofOutput, !rows.expanded {
            self = .ofTerminal(width: terminal.width)
        } else {
            self = .whole
        }
    }

    private init(terms: String, columns: [TextTable.Column], text: @escaping TextTable.CellText) {
        self.terms = terms
        self.columns = columns
        self.text = text
    }

    private static let whole = Layout(
        terms: """
            status, byte_size, freshness, substr(expires_at, 1, 19) || 'Z', substr(accessed_at, 1, 19) || 'Z', hit_count,
            kind, variant, url
            """,
        columns: [
            .init("status", .right), .init("size", .right), .init("state"), .init("expires"), .init("used"),
            .init("hits", .right), .init("kind"), .init("variant"), .init("url"),
        ],
        text: { column, value in
            if column == 1, case .integer(let byteCount) = value { byteCount.asByteCount } else { value.displayText }
        })

    /// Leaves most of a line to the URL: times are short, a response without an expiry is "stale", and the column of
    /// variants is narrow, and absent without variants.
    private static func ofTerminal(width: Int) -> Layout {
        Layout(
            terms: """
                status, byte_size, (julianday(expires_at) - julianday('now')) * 86400,
                (julianday('now') - julianday(accessed_at)) * 86400, hit_count, variant, url
                """,
            columns: [
                .init("status", .right), .init("size", .right), .init("expires"), .init("used", .right),
                .init("hits", .right), .init("variant", cut: .inside, maxWidth: max(8, width / 10), isOptional: true),
                .init("url", cut: .url),
            ],
            text: { column, value in
                switch (column, value) {
                case (1, .integer(let byteCount)): byteCount.asByteCount
                case (2, .real(let seconds)): Int64(clamping: seconds).asRelativeTime
                case (2, .null): "stale"
                case (3, .real(let seconds)): Int64(clamping: max(0, seconds)).asTimeSpan
                case (5, .text(let variant)): values(of: variant)
                default: value.displayText
                }
            })
    }

    /// Returns the values of the fields that `Vary` names, without the names; "-" for an absent field.
    private static func values(of variant: String) -> String {
        variant.split(separator: "\n").map { line in
            line.firstIndex(of: ":").map { line[$0...].dropFirst().drop { $0 == " " } } ?? "-"
        }.joined(separator: "; ")
    }
}

extension Int64 {
    /// The nearest integer to a number from a damaged index.
    fileprivate init(clamping seconds: Double) {
        self = seconds.isNaN ? 0 : Int64(Swift.max(-1e18, Swift.min(1e18, seconds)))
    }
}
