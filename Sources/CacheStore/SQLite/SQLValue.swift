/// A value in a row that a query returned.
public enum SQLValue: Hashable, Sendable {
    /// NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A double.
    case real(Double)
    /// Text; bytes that are not UTF-8 are repaired.
    case text(String)
    /// Bytes.
    case blob([UInt8])
}

/// The rows that a query returned.
public struct SQLRows: Hashable, Sendable {
    /// The names of the columns, in order.
    public let columns: [String]
    /// The rows; each has as many values as there are columns.
    public let rows: [[SQLValue]]
}
