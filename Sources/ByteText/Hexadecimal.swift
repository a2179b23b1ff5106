extension UInt8 {
    /// The value of an ASCII hexadecimal digit in either case, or `nil`.
    @inlinable package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// The two hexadecimal digits of the byte, in lower case.
    @inlinable package var hexadecimalDigits: (high: UInt8, low: UInt8) {
        ((self >> 4).hexadecimalDigit(ten: UInt8(ascii: "a")), (self & 0xF).hexadecimalDigit(ten: UInt8(ascii: "a")))
    }

    /// Returns the digit of a value below 16. `ten` is the digit for ten, which decides between upper and lower case.
    @inlinable package func hexadecimalDigit(ten: UInt8) -> UInt8 {
        self < 10 ? UInt8(ascii: "0") + self : ten + self - 10
    }
}

extension Sequence<UInt8> {
    /// The bytes as two hexadecimal digits each, in lower case.
    package var hexadecimal: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            digits.append(byte.hexadecimalDigits.high)
            digits.append(byte.hexadecimalDigits.low)
        }
        return String(decoding: digits, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Creates bytes from an even number of hexadecimal digits in either case. Fails for any other text.
    package init?(hexadecimal: some StringProtocol) {
        self.init()
        var digits = Substring(hexadecimal).utf8
        reserveCapacity(digits.count / 2)
        while let high = digits.popFirst() {
            guard let high = high.hexadecimalValue, let low = digits.popFirst()?.hexadecimalValue else { return nil }
            append(high << 4 | low)
        }
    }
}
