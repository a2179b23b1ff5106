import ArgumentParser
import CacheStore

/// Queries the index.
struct SQL: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Query the index with SQL, while the store is in use.",
        discussion: """
            The views are cache_entries, cache_stats, cache_hosts, cache_partitions, cache_requests, cache_errors, cache_derived \
            and cache_version. A query reads the views only; any other statement is refused.
            """)

    @Argument(help: ArgumentHelp("A statement, such as 'SELECT * FROM cache_hosts'.", valueName: "statement"))
    var statement: String

    @Option(help: ArgumentHelp("Print at most this number of rows.", valueName: "number"))
    var maxRows = 10_000

    @Option(help: ArgumentHelp("End the query after this number of seconds.", valueName: "seconds"))
    var timeout = 5.0

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if maxRows < 0 { throw ValidationError("--max-rows needs a number, 0 or more") }
        // A Duration holds more, but not infinity.
        guard timeout > 0, timeout <= 1_000_000_000 else {
            throw ValidationError("--timeout needs a number of seconds, more than 0")
        }
    }

    func run() async throws {
        let result = try store.query(statement, timeout: .seconds(timeout), maxRows: maxRows)
        if report.json {
            try JSONOutput.write(JSONRows(result: result))
        } else if !result.columns.isEmpty {
            try StandardOutput.write(line: TextTable(result).text())
        }
        if result.isTruncated {
            StandardError.say("there are more than \(maxRows.of("row", "rows")); --max-rows prints more")
        }
    }
}
