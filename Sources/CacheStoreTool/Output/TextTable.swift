import CacheStore

/// Rows as text: in aligned columns below their names and a line of dashes, or expanded to one line per field.
struct TextTable: RowEncoder {
    enum Alignment: Sendable {
        case left
        case right
    }

    /// The part of a wide cell that a cut leaves.
    enum Cut: Sendable {
        case start
        /// The start and the end.
        case inside
        /// The start and the end, without `https://`.
        case url

        fileprivate func callAsFunction(_ cell: String, toColumns limit: Int) -> String {
            switch self {
            case .start: return cell.cut(toColumns: limit)
            case .inside: return cell.cutInside(toColumns: limit)
            case .url:
                let isCut = cell.columnCount > limit && cell.hasPrefix("https://")
                return (isCut ? String(cell.dropFirst(8)) : cell).cutInside(toColumns: limit)
            }
        }
    }

    struct Column: Sendable {
        let name: String
        var alignment: Alignment
        let cut: Cut
        /// The width beyond which cells are cut in a table that does not fit.
        let maxWidth: Int
        /// Whether a table with a limit omits the column if it is empty.
        let isOptional: Bool

        init(
            _ name: String, _ alignment: Alignment = .left, cut: Cut = .start, maxWidth: Int = .max,
            isOptional: Bool = false
        ) {
            self.name = name
            self.alignment = alignment
            self.cut = cut
            self.maxWidth = maxWidth
            self.isOptional = isOptional
        }
    }

    /// Returns the text of a value in a column.
    typealias CellText = @Sendable (_ column: Int, _ value: SQLValue) -> String

    /// The rows that decide the layout. A wider cell in a later row shifts the following cells.
    private static let sampleCount = 1_000
    private static let gap = 2
    /// The least width of a cut column.
    private static let leastWidth = 8
    private static let ruleWidth = 40

    var bytes: [UInt8] = []
    private var columns: [Column]
    private let isOfQuery: Bool
    private let limit: Int?
    private let cellText: CellText
    private var isExpanded: Bool
    /// The first rows, until the layout is known.
    private var sample: [[SQLValue]] = []
    /// The widths of the aligned columns. Empty until the layout is known.
    private var widths: [Int] = []
    /// The columns of a line, as indices of ``columns``.
    private var shown: [Int] = []
    private var expandedCount = 0

    /// Without `columns`, uses those of the query, with numbers aligned right. A table that does not fit `limit`
    /// columns of the terminal is expanded.
    init(
        _ columns: [Column] = [], isExpanded: Bool = false, limit: Int? = nil,
        cellText: @escaping CellText = { $1.displayText }
    ) {
        self.columns = columns
        isOfQuery = columns.isEmpty
        self.isExpanded = isExpanded
        self.limit = limit
        self.cellText = cellText
    }

    // MARK: Rows, one by one

    mutating func begin(_ columns: [String]) {
        if isOfQuery { self.columns = columns.map { Column($0.inOneLine) } }
    }

    mutating func add(_ values: [SQLValue]) {
        if isExpanded || !widths.isEmpty { return write(values) }
        sample.append(values)
        if sample.count == Self.sampleCount { layOut() }
    }

    mutating func end() {
        if !isExpanded, widths.isEmpty { layOut() }
        if isExpanded, expandedCount == 0 { append("(no rows)") }
    }

    /// Decides the layout and writes the sample.
    private mutating func layOut() {
        if isOfQuery { for index in columns.indices where isNumeric(index) { columns[index].alignment = .right } }
        let texts = sample.map(cells)
        widths = columns.indices.map { column in
            texts.reduce(columns[column].name.columnCount) { max($0, $1[column].columnCount) }
        }
        // A column without a value in the first rows may have values in later rows.
        let isWhole = limit != nil && sample.count < Self.sampleCount
        shown = columns.indices.filter { column in
            !isWhole || !columns[column].isOptional || texts.contains { !$0[column].isEmpty }
        }
        if let limit, !fit(limit) {
            isExpanded = true
        } else {
            append(line(columns.map(\.name)))
            append(line(widths.map { String(repeating: "-", count: $0) }))
        }
        for values in sample { write(values) }
        sample = []
    }

    private func isNumeric(_ column: Int) -> Bool {
        let values = sample.map { $0[column] }.filter { !$0.isNull }
        return !values.isEmpty && values.allSatisfy { $0.real != nil }
    }

    /// Cuts columns, but no numbers, so that a line fits `limit`. Returns whether each column keeps a few letters.
    private mutating func fit(_ limit: Int) -> Bool {
        var free = limit - Self.gap * (shown.count - 1)
        if shown.reduce(0, { $0 + widths[$1] }) <= free { return true }
        for column in shown { widths[column] = min(widths[column], columns[column].maxWidth) }
        let cuttable = shown.filter { columns[$0].alignment == .left }
        for column in shown where columns[column].alignment == .right { free -= widths[column] }
        // Narrow columns keep their width. Wide columns share the rest equally.
        for (place, column) in cuttable.sorted(by: { widths[$0] < widths[$1] }).enumerated() {
            let share = free / (cuttable.count - place)
            if widths[column] > share {
                guard share >= Self.leastWidth else { return false }
                widths[column] = share
            }
            free -= widths[column]
        }
        return free >= 0
    }

    // MARK: Lines

    private mutating func write(_ values: [SQLValue]) {
        if isExpanded { writeFields(values) } else { append(line(cells(values))) }
    }

    private func cells(_ values: [SQLValue]) -> [String] {
        values.enumerated().map { cellText($0, $1).inOneLine }
    }

    private func line(_ cells: [String]) -> String {
        let padded = shown.map { index in
            let (cell, column, width) = (cells[index], columns[index], widths[index])
            if column.alignment == .right { return cell.rightAligned(in: width) }
            if limit == nil { return cell.leftAligned(in: width) }
            return column.cut(cell, toColumns: width).leftAligned(in: width)
        }
        var line = padded.joined(separator: String(repeating: " ", count: Self.gap))
        line.removeLast(line.reversed().prefix { $0 == " " }.count)
        return line
    }

    /// Writes a line for the row, then a line for each field.
    private mutating func writeFields(_ values: [SQLValue]) {
        expandedCount += 1
        let title = "-[ RECORD \(expandedCount) ]"
        append(title + String(repeating: "-", count: max(0, Self.ruleWidth - title.count)))
        let width = columns.reduce(0) { max($0, $1.name.columnCount) }
        for (column, value) in values.enumerated() {
            // The fields of a response are one line each, and the last also ends with a line feed.
            var lines = cellText(column, value).split(separator: "\n", omittingEmptySubsequences: false)
            if lines.count > 1, lines.last == "" { lines.removeLast() }
            for (number, line) in lines.enumerated() {
                let name = (number == 0 ? columns[column].name : "").leftAligned(in: width)
                append(line.isEmpty ? "\(name) |" : "\(name) | \(String(line).inOneLine)")
            }
        }
    }

    private mutating func append(_ line: String) {
        bytes.append(contentsOf: line.utf8)
        bytes.append(UInt8(ascii: "\n"))
    }

    // MARK: Whole tables

    /// Returns the lines of a whole table, without a final line feed. Each row has as many cells as the table columns.
    func text(of rows: [[String]], indent: String = "") -> String {
        text(rows.map { row in row.map { SQLValue.text($0) } }, columns: [], indent)
    }

    /// Returns the lines of the result of a query, without a line feed after the last.
    func text(of result: SQLRows, indent: String = "") -> String {
        text(result.rows, columns: result.columns, indent)
    }

    private func text(_ rows: [[SQLValue]], columns: [String], _ indent: String) -> String {
        let text = String(decoding: encoded(rows, columns: columns), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return lines.map { indent + $0 }.joined(separator: "\n")
    }
}

extension SQLValue {
    /// The value as readable text. Empty for NULL.
    var displayText: String { isNull ? "" : description }
}
