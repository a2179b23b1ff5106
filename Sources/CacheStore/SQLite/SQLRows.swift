/// The rows that a query returned.
public struct SQLRows: Hashable, Sendable {
    /// The names of the columns, in order.
    public let columns: [String]
    /// The rows; each has as many values as there are columns.
    public let rows: [[SQLValue]]
    /// Whether the query has more rows than the `maxRows` of its caller.
    public let isTruncated: Bool
}

extension SQLRows: RandomAccessCollection {
    /// A row, whose values can be read by column name.
    public struct Row: Hashable, Sendable {
        /// The names of the columns, in order.
        public let columns: [String]
        /// A value for each column.
        public let values: [SQLValue]

        /// The value of the first column of that name, or `nil`.
        public subscript(column: String) -> SQLValue? {
            columns.firstIndex(of: column).map { values[$0] }
        }
    }

    /// The position of the first row, 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { rows.count }
    /// Returns the row at a position.
    public subscript(position: Int) -> Row { Row(columns: columns, values: rows[position]) }
}

extension SQLRows: CustomStringConvertible {
    /// A line for each row, such as `host: example.com, entries: 3`.
    public var description: String { map(\.description).joined(separator: "\n") }
}

extension SQLRows.Row: CustomStringConvertible {
    /// The columns and their values, such as `host: example.com, entries: 3`.
    public var description: String { zip(columns, values).map { "\($0): \($1)" }.joined(separator: ", ") }
}
