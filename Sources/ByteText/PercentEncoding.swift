/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
    /// Returns the three bytes that encode `byte`: `%` and two digits in upper case (§6.2.2.1).
    @inlinable package static func triplet(_ byte: UInt8) -> (UInt8, UInt8, UInt8) {
        let (high, low) = (byte >> 4, byte & 0xF)
        return (
            UInt8(ascii: "%"), high.hexadecimalDigit(ten: UInt8(ascii: "A")),
            low.hexadecimalDigit(ten: UInt8(ascii: "A"))
        )
    }

    /// Encodes all bytes except those that `isKept` accepts.
    package static func encoded(_ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if isKept(byte) {
                text.append(byte)
            } else {
                let (percent, high, low) = triplet(byte)
                text += [percent, high, low]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether a byte is unreserved (§2.3): a letter, a digit, or one of `-._~`.
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: byte.isASCIILetter || byte.isASCIIDigit
        }
    }

    /// Removes and returns the first byte, decoded from three bytes if these encode it. Returns `nil` at the end.
    /// Without two digits, `%` is an ordinary byte.
    @inlinable package static func popByte<Bytes: Collection<UInt8>>(
        _ rest: inout Bytes
    ) -> (byte: UInt8, isEncoded: Bool)? where Bytes.SubSequence == Bytes {
        guard let byte = rest.popFirst() else { return nil }
        guard byte == UInt8(ascii: "%") else { return (byte, false) }
        var digits = rest
        guard let high = digits.popFirst()?.hexadecimalValue, let low = digits.popFirst()?.hexadecimalValue else {
            return (byte, false)
        }
        rest = digits
        return (high << 4 | low, true)
    }
}
