/// The argument of a directive that takes a number of seconds (RFC 9111 §1.2.2).
///
/// Absent and malformed are told apart, because the one lets the next rule decide and the other means stale (§4.2.1).
package enum DeltaSeconds: Hashable, Sendable {
    /// The directive is not there.
    case absent
    /// The directive is there, but its argument is no number.
    case malformed
    /// A number from 0 to ``limit``, or `Int64.max` for "any".
    case seconds(Int64)

    /// RFC 9111 §1.2.2: a greater number counts as 2147483648 (2^31).
    package static let limit: Int64 = 2_147_483_648

    /// Reads `1*DIGIT`; quoted-pairs, as a quoted-string may have them, stand for what they quote (RFC 9110 §5.6.4).
    init(_ bytes: FieldBytes) {
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

    /// Whether a response that has been stale for `staleness` seconds is inside the window that this number opens, as
    /// `stale-while-revalidate` and `stale-if-error` do (RFC 5861). Absent and malformed open none.
    ///
    /// Compared with the staleness, not added to the lifetime: there is no sum that could overflow (RFC 9111 §1.2.2).
    package func permits(staleness: Int64) -> Bool {
        guard case .seconds(let window) = self else { return false }
        return staleness <= window
    }

    /// Sets the number unless an earlier directive has.
    mutating func setIfAbsent(_ other: DeltaSeconds) {
        if self == .absent { self = other }
    }
}
