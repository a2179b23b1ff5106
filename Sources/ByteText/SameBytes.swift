extension String {
    /// Whether the bytes are the same, as SQLite compares. Swift's `==` also accepts canonically equivalent texts.
    @inlinable package func hasSameBytes(as other: String) -> Bool {
        var (text, other) = (self, other)
        return text.withUTF8 { bytes in
            other.withUTF8 { UnsafeRawBufferPointer(bytes).hasSameBytes(as: UnsafeRawBufferPointer($0)) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Compares eight bytes at a time.
    @inlinable func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        let words = count & ~7
        for offset in stride(from: 0, to: words, by: 8)
        where loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            != other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        {
            return false
        }
        for offset in words..<count where self[offset] != other[offset] { return false }
        return true
    }
}
