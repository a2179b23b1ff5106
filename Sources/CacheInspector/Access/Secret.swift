import ByteText

/// Random texts that are infeasible to guess.
package enum Secret {
    /// Returns 128 random bits from the system's generator, as hexadecimal digits.
    package static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { _ in generator.next() as UInt8 }.hexadecimal
    }

    /// Compares in a time that does not reveal the first difference.
    static func matches(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
