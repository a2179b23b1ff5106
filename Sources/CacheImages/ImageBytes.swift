/// The first bytes of an image, which may end anywhere. A read beyond the end returns `nil`. Positions and numbers come
/// from the file. They are `Int64`, so that small sums do not overflow even where `Int` has 32 bits. Each access checks
/// its position, because `UnsafeRawBufferPointer` does not in a release build.
struct ImageBytes {
    /// How much of a signature is present.
    enum Match {
        case full, partial, none
    }

    private let bytes: UnsafeRawBufferPointer

    /// The bytes must outlive this value.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var count: Int64 { Int64(bytes.count) }

    subscript(position: Int64) -> Int64? {
        position >= 0 && position < count ? Int64(bytes[Int(position)]) : nil
    }

    /// Returns a big-endian number of up to four bytes.
    func bigEndian(_ position: Int64, _ length: Int64) -> Int64? {
        number(stride(from: position, to: position + length, by: 1))
    }

    /// Returns a little-endian number of up to four bytes.
    func littleEndian(_ position: Int64, _ length: Int64) -> Int64? {
        number(stride(from: position + length - 1, through: position, by: -1))
    }

    private func number(_ positions: some Sequence<Int64>) -> Int64? {
        var value: Int64 = 0
        for position in positions {
            guard let byte = self[position] else { return nil }
            value = value << 8 | byte
        }
        return value
    }

    /// Returns the four characters that name a chunk.
    func name(_ position: Int64) -> String? {
        guard position >= 0, position + 4 <= count else { return nil }
        return String(decoding: bytes[Int(position)..<Int(position) + 4], as: UTF8.self)
    }

    func match(_ signature: [UInt8], at position: Int64 = 0) -> Match {
        for (offset, byte) in signature.enumerated() {
            guard let found = self[position + Int64(offset)] else { return .partial }
            guard found == Int64(byte) else { return .none }
        }
        return .full
    }
}
