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

/// The value, if it is of the type asked for.
extension SQLValue {
    /// The integer.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The number, which an integer is, too.
    public var real: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// The text.
    public var text: String? { if case .text(let value) = self { value } else { nil } }

    /// The bytes.
    public var blob: [UInt8]? { if case .blob(let value) = self { value } else { nil } }

    /// Whether it is NULL.
    public var isNull: Bool { self == .null }
}
