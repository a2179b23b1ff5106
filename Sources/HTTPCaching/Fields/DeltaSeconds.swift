internal import ByteText

/// The argument of a directive that takes a number of seconds (RFC 9111 §1.2.2).
///
/// Distinguishes absent from malformed: without a number the next rule decides, but a malformed number means stale
/// (§4.2.1).
public enum DeltaSeconds: Hashable, Sendable {
    /// The directive is absent.
    case absent
    /// The directive is present, but its argument is not a number.
    case malformed
    /// A number from 0 to ``limit``, or `Int64.max` for any staleness (`max-stale` without an argument).
    case seconds(Int64)

    /// RFC 9111 §1.2.2: a greater number counts as 2147483648 (2^31).
    public static let limit: Int64 = 2_147_483_648

    /// Reads `1*DIGIT`. A quoted-pair, as in a quoted-string, counts as its second character (RFC 9110 §5.6.4).
    package init(_ bytes: FieldBytes) {
        var number: Int64 = 0
        var isEmpty = true
        var isQuoted = false
        for byte in bytes {
            if byte == UInt8(ascii: "\\"), !isQuoted {
                isQuoted = true
                continue
            }
            guard byte.isASCIIDigit else {
                self = .malformed
                return
            }
            number = min(number * 10 + Int64(byte - UInt8(ascii: "0")), Self.limit)
            isEmpty = false
            isQuoted = false
        }
        self = isEmpty ? .malformed : .seconds(number)
    }

    /// The number, or `nil` for an absent or malformed directive.
    public var value: Int64? {
        guard case .seconds(let number) = self else { return nil }
        return number
    }

    /// Whether `staleness` lies within this window, as for `stale-while-revalidate` and `stale-if-error` (RFC 5861).
    /// Absent and malformed permit nothing.
    ///
    /// Compares the number with the staleness, because adding it to the lifetime could overflow (RFC 9111 §1.2.2).
    public func permits(staleness: Int64) -> Bool {
        guard case .seconds(let window) = self else { return false }
        return staleness <= window
    }

    /// Sets the number unless an earlier directive has set it.
    mutating func setIfAbsent(_ other: DeltaSeconds) {
        if self == .absent { self = other }
    }
}
