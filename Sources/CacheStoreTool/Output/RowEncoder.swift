import CacheStore

/// Makes the bytes of an output format from rows, one after the other.
protocol RowEncoder {
    /// The bytes that are ready to be written. The caller takes them out.
    var bytes: [UInt8] { get set }

    /// Called once, before all rows.
    mutating func begin(_ columns: [String])
    mutating func add(_ values: [SQLValue])
    /// Called once, after all rows.
    mutating func end()
}

/// Returns the text of a value in a column.
typealias CellText = (_ column: Int, _ value: SQLValue) -> String

/// A table whose widths are those of the first rows.
struct TableRowEncoder: RowEncoder {
    /// The rows that decide about the widths. A wider cell in a later row moves the cells after it.
    private static let sampleCount = 1_000

    var bytes: [UInt8] = []
    private let given: [TextTable.Column]?
    private let width: Int?
    private let text: CellText
    private var names: [String] = []
    private var sample: [[SQLValue]] = []
    private var layout: TableLayout?
    /// The fields of rows, in place of a table that does not fit into the width.
    private var expanded: ExpandedRowEncoder?

    /// - Parameters:
    ///   - columns: The columns; `nil` for those of the query.
    ///   - width: The columns of the terminal; `nil` for no limit.
    init(_ columns: [TextTable.Column]?, width: Int?, text: @escaping CellText) {
        given = columns
        self.width = width
        self.text = text
    }

    mutating func begin(_ columns: [String]) {
        names = columns
    }

    mutating func add(_ values: [SQLValue]) {
        guard layout == nil, expanded == nil else { return write(values) }
        sample.append(values)
        if sample.count == Self.sampleCount { layOut() }
    }

    mutating func end() {
        if layout == nil, expanded == nil { layOut() }
        if var expanded {
            expanded.end()
            bytes += expanded.bytes
        }
    }

    private mutating func layOut() {
        let columns = given ?? TextTable.columns(named: names, of: sample)
        var layout = TableLayout(columns, sample: sample.map(cells))
        if let width, !layout.fit(width) {
            expanded = ExpandedRowEncoder(text: text)
            expanded?.begin(columns.map(\.name))
        } else {
            for line in layout.header { bytes.append(line: line) }
            self.layout = layout
        }
        for values in sample { write(values) }
        sample = []
    }

    private mutating func write(_ values: [SQLValue]) {
        if let layout { return bytes.append(line: layout.line(cells(values))) }
        expanded?.add(values)
        bytes += expanded?.bytes ?? []
        expanded?.bytes = []
    }

    private func cells(_ values: [SQLValue]) -> [String] {
        values.enumerated().map { text($0, $1).inOneLine }
    }
}

/// A line for each field, under a line for each row.
struct ExpandedRowEncoder: RowEncoder {
    private static let ruleWidth = 40

    var bytes: [UInt8] = []
    private let text: CellText
    private var names: [String] = []
    private var rowCount = 0

    init(text: @escaping CellText) {
        self.text = text
    }

    mutating func begin(_ columns: [String]) {
        let columns = columns.map(\.inOneLine)
        let width = columns.reduce(0) { max($0, $1.columnCount) }
        names = columns.map { $0 + String(repeating: " ", count: width - $0.columnCount) }
    }

    mutating func add(_ values: [SQLValue]) {
        rowCount += 1
        let title = "-[ RECORD \(rowCount) ]"
        bytes.append(line: title + String(repeating: "-", count: max(0, Self.ruleWidth - title.count)))
        for (column, value) in values.enumerated() {
            // The fields of a response are a line each; the last ends with a line feed, too.
            var lines = text(column, value).split(separator: "\n", omittingEmptySubsequences: false)
            if lines.count > 1, lines.last == "" { lines.removeLast() }
            for (number, line) in lines.enumerated() {
                let name =
                    number == 0 ? names[column] : String(repeating: " ", count: names[column].columnCount)
                bytes.append(line: line.isEmpty ? "\(name) |" : "\(name) | \(String(line).inOneLine)")
            }
        }
    }

    mutating func end() {
        if rowCount == 0 { bytes.append(line: "(no rows)") }
    }
}

extension [UInt8] {
    /// Appends text and a line feed.
    fileprivate mutating func append(line: String) {
        append(contentsOf: line.utf8)
        append(UInt8(ascii: "\n"))
    }
}
