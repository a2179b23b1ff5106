import CacheReports
import CacheStore

/// Rows as JSON objects with a key for each column. The keys are sorted, as in other JSON of the tool.
struct JSONRowEncoder: RowEncoder {
    var bytes: [UInt8] = []
    private let format: ReportFormat
    /// The keys as JSON, in order, and the column of each.
    private var keys: [(json: [UInt8], column: Int)] = []
    private var rowCount = 0

    init(_ format: ReportFormat) {
        self.format = format
    }

    mutating func begin(_ columns: [String]) {
        let names = JSON.names(of: columns).enumerated().sorted { $0.element < $1.element }
        keys = names.map { column, name in (json: JSON.text(name).bytes(.line), column: column) }
    }

    mutating func add(_ values: [SQLValue]) {
        switch format {
        case .jsonl:
            append(values, open: "{", between: ",", colon: ":", close: "}\n")
        case .json:
            bytes.append(contentsOf: (rowCount == 0 ? "[\n" : ",\n").utf8)
            append(values, open: "  {\n    ", between: ",\n    ", colon: " : ", close: "\n  }")
        }
        rowCount += 1
    }

    mutating func end() {
        if format == .json { bytes.append(contentsOf: (rowCount == 0 ? "[]\n" : "\n]\n").utf8) }
    }

    private mutating func append(
        _ values: [SQLValue], open: String, between: String, colon: String, close: String
    ) {
        bytes.append(contentsOf: open.utf8)
        for (place, key) in keys.enumerated() {
            if place > 0 { bytes.append(contentsOf: between.utf8) }
            bytes.append(contentsOf: key.json)
            bytes.append(contentsOf: colon.utf8)
            append(values[key.column])
        }
        bytes.append(contentsOf: close.utf8)
    }

    private mutating func append(_ value: SQLValue) {
        if case .real(let number) = value, number.isFinite {
            // A real stays one: `2.0`, not `2`.
            bytes.append(contentsOf: String(number).utf8)
        } else {
            JSON(value).append(to: &bytes, .line)
        }
    }
}
