import ArgumentParser
import CacheStore
import Foundation

/// Shows the stored responses of a URL.
struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what is stored for a URL.",
        discussion: """
            Each variant that Vary makes is shown by itself, and so are content and error response. It counts as no use.
            """)

    @Argument(help: "The URL.")
    var url: String

    @Flag(help: "Write the stored body, and nothing else.")
    var body = false

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        try URLArgument.validate(url)
        if body, report.format != nil {
            throw ValidationError("--body writes the body as it is; --json and --jsonl do not fit to it")
        }
    }

    func run() async throws {
        let key = try URLArgument(url).key
        if body { return try await writeBody(of: key) }
        let result = try store.query(
            "SELECT * FROM cache_entries WHERE key = ? ORDER BY kind, validated_at DESC", [.text(key.text)])
        if let format = report.format {
            try StandardOutput.write(JSONRowEncoder(format).encoded(result.rows, columns: result.columns))
        }
        guard !result.rows.isEmpty else { throw notStored(key) }
        if report.format == nil {
            let entries = result.rows.map { text(of: $0, columns: result.columns) }
            try StandardOutput.write(line: entries.joined(separator: "\n\n"))
        }
    }

    private func notStored(_ key: CacheKey) -> Failure {
        Failure(.no, "\(key): not stored")
    }

    /// Returns a line for each non-empty value, then the field lines of the response.
    private func text(of row: [SQLValue], columns: [String]) -> String {
        let values = zip(columns, row).map { name, value in
            if name == "byte_size", case .integer(let count) = value {
                return (name: name, text: count < 1000 ? count.asByteCount : "\(count.asByteCount) (\(count) bytes)")
            }
            return (name: name, text: value.displayText)
        }
        let width = columns.reduce(0) { max($0, $1.count) }
        let lines = values.filter { !$0.text.isEmpty && $0.name != "fields" }.map { name, text in
            name.leftAligned(in: width + 2) + text.inOneLine
        }
        let received = values.first { $0.name == "fields" }?.text ?? ""
        let fields = received.split(separator: "\n").map { "    " + String($0).inOneLine }
        return (lines + ["fields"] + fields).joined(separator: "\n")
    }

    private func writeBody(of key: CacheKey) async throws {
        try await store.withExistingStore { store in
            guard let entry = try store.peek(key) ?? store.responses(for: key).first,
                let body = try store.openBody(of: entry)
            else { throw notStored(key) }
            let bytes = try body.data()
            try StandardOutput.refuseOnTerminal(bytes, of: key.text, remedy: "redirect the output to a file")
            try StandardOutput.write(bytes)
        }
    }
}
