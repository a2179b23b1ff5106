// RFC 9110 §14.1.2 sets no limit to the number of digits in an offset.
extension UnsafeBufferPointer<UInt8> {
    /// The number that these digits denote, or `nil` beyond `Int64`.
    var decimalNumber: Int64? {
        var number: Int64 = 0
        for byte in self {
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = product.addingReportingOverflow(Int64(byte) - 0x30)
            guard !isTooLarge, !overflow else { return nil }
            number = sum
        }
        return number
    }

    /// Whether these digits denote a greater number than `other`. Supports any number of digits.
    func isGreaterNumber(than other: FieldBytes) -> Bool {
        let digits = drop { $0 == UInt8(ascii: "0") }
        let others = other.drop { $0 == UInt8(ascii: "0") }
        guard digits.count == others.count else { return digits.count > others.count }
        return others.lexicographicallyPrecedes(digits)
    }
}
