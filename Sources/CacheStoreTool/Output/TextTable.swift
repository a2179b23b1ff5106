import CacheStore

/// Rows in aligned columns: a line of names, a line of dashes, a line per row.
struct TextTable {
    enum Alignment {
        case left
        case right
    }

    struct Column {
        let name: String
        let alignment: Alignment

        init(_ name: String, _ alignment: Alignment = .left) {
            self.name = name
            self.alignment = alignment
        }
    }

    let columns: [Column]
    /// Each row has as many cells as the table has columns.
    var rows: [[String]] = []

    /// Returns the lines, without a line feed after the last.
    func text(indent: String = "") -> String {
        let rows = rows.map { $0.map(\.inOneLine) }
        let widths = columns.indices.map { column in
            rows.reduce(columns[column].name.count) { max($0, $1[column].count) }
        }
        let rule = widths.map { String(repeating: "-", count: $0) }
        return ([columns.map(\.name), rule] + rows)
            .map { line($0, widths, indent) }
            .joined(separator: "\n")
    }

    private func line(_ cells: [String], _ widths: [Int], _ indent: String) -> String {
        var line = indent
        for (column, cell) in cells.enumerated() {
            if column > 0 { line += "  " }
            let padding = String(repeating: " ", count: widths[column] - cell.count)
            switch columns[column].alignment {
            case .right: line += padding + cell
            case .left: line += cell + padding
            }
        }
        line.removeLast(line.reversed().prefix { $0 == " " }.count)
        return line
    }
}

extension TextTable {
    /// Creates the table of a query result: numbers align right, NULL is empty, bytes are SQL literals.
    init(_ result: SQLRows) {
        columns = result.columns.indices.map { index in
            let isNumeric = result.rows.contains { $0[index].isNumber } && result.rows.allSatisfy { !$0[index].isText }
            return Column(result.columns[index].inOneLine, isNumeric ? .right : .left)
        }
        rows = result.rows.map { $0.map(\.displayText) }
    }
}

extension SQLValue {
    /// The value as readable text.
    var displayText: String {
        switch self {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text
        case .blob(let bytes): "x'\(bytes.hexadecimal)'"
        }
    }

    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .real: true
        default: false
        }
    }

    fileprivate var isText: Bool {
        switch self {
        case .text, .blob: true
        default: false
        }
    }
}

extension [UInt8] {
    /// Two lower-case digits for each byte.
    var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
