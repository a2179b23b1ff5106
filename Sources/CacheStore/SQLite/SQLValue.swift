internal import ByteText

/// A value in a row that a query returned, or an argument of a query.
///
/// Literals are values, too: `["example.com", 5, 1.5, nil]`.
public enum SQLValue: Hashable, Sendable {
    /// NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A double.
    case real(Double)
    /// Text. U+FFFD replaces bytes that are not UTF-8.
    case text(String)
    /// Bytes.
    case blob([UInt8])
}

/// Returns the value if it has the requested type.
extension SQLValue {
    /// The integer.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The number; an integer is converted.
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

extension SQLValue: CustomStringConvertible {
    /// The value itself: `example.com`, `42`, `1.5`, `NULL`, `x'00ff'`.
    public var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): value
        case .blob(let bytes): "x'" + bytes.hexadecimal + "'"
        }
    }
}

extension SQLValue: ExpressibleByNilLiteral {
    /// NULL.
    public init(nilLiteral: ()) { self = .null }
}

extension SQLValue: ExpressibleByIntegerLiteral {
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension SQLValue: ExpressibleByFloatLiteral {
    /// A double.
    public init(floatLiteral value: Double) { self = .real(value) }
}

extension SQLValue: ExpressibleByStringLiteral {
    /// Text.
    public init(stringLiteral value: String) { self = .text(value) }
}
