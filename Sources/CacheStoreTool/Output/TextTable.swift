import ByteText
import CacheStore

/// Rows in aligned columns: a line of names, a line of dashes, a line per row.
struct TextTable {
    enum Alignment: Sendable {
        case left
        case right
    }

    struct Column: Sendable {
        let name: String
        let alignment: Alignment
        /// Whether a cut text keeps its end, too, as is best for URLs.
        let keepsEnd: Bool

        init(_ name: String, _ alignment: Alignment = .left, keepsEnd: Bool = false) {
            self.name = name
            self.alignment = alignment
            self.keepsEnd = keepsEnd
        }
    }

    let columns: [Column]
    /// Each row has as many cells as the table has columns.
    var rows: [[String]] = []

    /// Returns the lines, without a line feed after the last.
    func text(indent: String = "") -> String {
        let rows = rows.map { $0.map(\.inOneLine) }
        let layout = TableLayout(columns, sample: rows)
        return (layout.header + rows.map(layout.line)).map { indent + $0 }.joined(separator: "\n")
    }
}

extension TextTable {
    /// Creates the table of a query result: numbers align right, NULL is empty, bytes are SQL literals.
    init(_ result: SQLRows) {
        columns = Self.columns(named: result.columns, of: result.rows)
        rows = result.rows.map { $0.map(\.displayText) }
    }

    /// Returns the columns of a query, which align as their values in `rows` need.
    static func columns(named names: [String], of rows: [[SQLValue]]) -> [Column] {
        names.indices.map { index in
            let isNumeric = rows.contains { $0[index].isNumber } && rows.allSatisfy { !$0[index].isText }
            return Column(names[index].inOneLine, isNumeric ? .right : .left)
        }
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
