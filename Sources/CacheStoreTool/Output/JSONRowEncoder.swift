import CacheReports
import CacheStore

/// Rows as JSON objects with a member for each column.
struct JSONRowEncoder: RowEncoder {
    var bytes: [UInt8] = []
    private let format: ReportFormat
    /// The names of the members, each with its column. Sorted once, for the sorted JSON of scripts.
    private var members: [(name: String, column: Int)] = []
    private var rowCount = 0

    init(_ format: ReportFormat) {
        self.format = format
    }

    mutating func begin(_ columns: [String]) {
        members = JSON.names(of: columns).enumerated().map { (name: $1, column: $0) }.sorted { $0.name < $1.name }
    }

    mutating func add(_ values: [SQLValue]) {
        let row = JSON.object(members.map { ($0.name, JSON(values[$0.column])) })
        switch format {
        case .jsonl:
            row.append(to: &bytes, .line)
            bytes.append(UInt8(ascii: "\n"))
        case .json:
            bytes.append(contentsOf: (rowCount == 0 ? "[\n  " : ",\n  ").utf8)
            row.append(to: &bytes, .pretty, depth: 1)
        }
        rowCount += 1
    }

    mutating func end() {
        if format == .json { bytes.append(contentsOf: (rowCount == 0 ? "[]\n" : "\n]\n").utf8) }
    }
}
