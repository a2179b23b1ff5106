import ByteText

/// Random texts that cannot be guessed.
package enum Secret {
    /// Returns 128 random bits from the generator of the system, as hexadecimal digits.
    package static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { _ in generator.next() as UInt8 }.hexadecimal
    }

    /// Compares in a time that does not tell where the texts differ.
    static func matches(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
