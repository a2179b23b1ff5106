import ArgumentParser
import CacheStore

/// Shows the store in numbers.
struct Stats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the store in numbers.",
        discussion: "The same as sql 'SELECT * FROM cache_stats', which takes constant time.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let result = try store.query("SELECT * FROM cache_stats")
        guard let row = result.rows.first else { throw Failure(.broken, "\(store.path): the index has no totals") }
        if report.json { return try JSONOutput.write(JSONRow(columns: result.columns, values: row)) }
        let lines = zip(result.columns, row).map { name, value in
            let label = name.replacing("_", with: " ")
            let isSize = name.hasSuffix("bytes")
            let text = if isSize, case .integer(let byteCount) = value { byteCount.asByteCount } else { value.text }
            return label + String(repeating: " ", count: max(1, 20 - label.count)) + text
        }
        try StandardOutput.write(line: lines.joined(separator: "\n"))
    }
}
