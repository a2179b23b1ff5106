import ArgumentParser
import CacheStore

/// Asks the index.
struct SQL: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Ask the index in SQL, while others use the store.",
        discussion: """
            The views are cache_entries, cache_stats, cache_hosts, cache_requests, cache_errors, cache_derived and \
            cache_version. The index is opened for reading only; a statement that would write is refused.
            """)

    @Argument(help: ArgumentHelp("A statement, such as 'SELECT * FROM cache_hosts'.", valueName: "statement"))
    var statement: String

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let result = try store.query(statement)
        if report.json {
            try JSONOutput.write(JSONRows(result: result))
        } else if !result.columns.isEmpty {
            try StandardOutput.write(line: TextTable(result).text())
        }
    }
}
