import ArgumentParser
import CacheStore

/// Queries the index.
struct SQL: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Query the index with SQL, while the store is in use.",
        discussion: """
            The views are cache_entries, cache_stats, cache_hosts, cache_partitions, cache_requests, cache_errors, cache_derived \
            and cache_version. A query reads the views only; any other statement is refused. On a terminal the rows fit its \
            width, or take one line a field, and the first \(Terminal.rowLimit) are printed. In a pipe all rows are whole.
            """)

    @Argument(help: ArgumentHelp("A statement, such as 'SELECT * FROM cache_hosts'.", valueName: "statement"))
    var statement: String

    @Option(help: ArgumentHelp("Print at most this number of rows.", valueName: "number"))
    var maxRows: Int?

    @Option(help: ArgumentHelp("End the query after this number of seconds.", valueName: "seconds"))
    var timeout = 5.0

    @OptionGroup var rows: RowOptions
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let maxRows, maxRows < 0 { throw ValidationError("--max-rows needs a number, 0 or more") }
        if maxRows != nil, rows.all { throw ValidationError("--all has no limit; leave it or --max-rows out") }
        // A Duration could hold more seconds, but not infinity.
        guard timeout > 0, timeout <= 1_000_000_000 else {
            throw ValidationError("--timeout needs a number of seconds, more than 0")
        }
    }

    func run() async throws {
        let printed = try rows.print(limit: maxRows) { body in
            try store.forEachRow(of: statement, isFromUser: true, timeout: .seconds(timeout), body)
        }
        guard let printed else { return }
        let remedy = maxRows == nil ? "--all prints all" : "a larger --max-rows prints more"
        StandardError.say("only the first \(printed.of("row", "rows")); \(remedy)")
    }
}
