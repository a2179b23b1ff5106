/// The rows that a query returned.
public struct SQLRows: Hashable, Sendable {
    /// The names of the columns, in order.
    public let columns: [String]
    /// The rows; each has as many values as there are columns.
    public let rows: [[SQLValue]]
}

extension SQLRows: RandomAccessCollection {
    /// A row, whose values are asked for by the names of the columns.
    public struct Row: Hashable, Sendable {
        /// The names of the columns, in order.
        public let columns: [String]
        /// A value for each column.
        public let values: [SQLValue]

        /// The value of the first column of that name; `nil` if there is none.
        public subscript(column: String) -> SQLValue? {
            columns.firstIndex(of: column).map { values[$0] }
        }
    }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { rows.count }
    /// A row.
    public subscript(position: Int) -> Row { Row(columns: columns, values: rows[position]) }
}
