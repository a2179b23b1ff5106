/// The first bytes of the file of request records, little-endian:
///
///      0  "CaStReq1"
///      8  bytes of a slot, then the number of slots, four bytes each
///     16  a random number, new with each file
///     24  number of the next record
///     32  number of the first record that was not erased
///     40  number of erasures
///     48  1 while processes record, else 0
///     56  checksum of the bytes before it
struct RequestRingHeader: Equatable {
    static let byteCount = 64
    private static let magic = UInt64(littleEndianBytes: "CaStReq1")

    let capacity: UInt32
    let file: UInt64
    var next: UInt64 = 0
    var first: UInt64 = 0
    var erasures: UInt64 = 0
    var isOn = true

    /// Creates the header of a new file, whose records are numbered from 0.
    init(capacity: Int) {
        self.capacity = UInt32(min(max(1, capacity), RequestRing.maxCapacity))
        file = UInt64.random(in: 1 ... .max)
    }

    /// The number of the oldest record that can still be in the file.
    var oldest: UInt64 { max(first, next > UInt64(capacity) ? next - UInt64(capacity) : 0) }

    /// The offset of a record in the file.
    func offset(of number: UInt64) -> Int64 {
        Int64(RequestSlot.byteCount) * Int64(1 + number % UInt64(capacity))
    }

    /// Reads a header. Returns `nil` for other bytes and for a damaged header.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        func load(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let shape = load(8)
        // The numbers are bounded, because `append` adds to them: a damaged number must not overflow.
        guard load(0) == Self.magic, load(56) == RequestSlot.checksum(bytes, 0..<56),
            shape & 0xFFFF_FFFF == UInt64(RequestSlot.byteCount),
            (1...RequestRing.maxCapacity).contains(Int(shape >> 32)),
            load(24) < 1 << 62, load(32) <= load(24)
        else { return nil }
        capacity = UInt32(shape >> 32)
        file = load(16)
        next = load(24)
        first = load(32)
        erasures = load(40)
        isOn = load(48) != 0
    }

    var bytes: [UInt8] {
        let shape = UInt64(capacity) << 32 | UInt64(RequestSlot.byteCount)
        var bytes: [UInt8] = []
        func append(_ value: UInt64) {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        for value in [Self.magic, shape, file, next, first, erasures, isOn ? 1 : 0] { append(value) }
        append(bytes.withUnsafeBytes { RequestSlot.checksum($0, 0..<56) })
        return bytes
    }
}

extension UInt64 {
    fileprivate init(littleEndianBytes text: StaticString) {
        self = text.withUTF8Buffer { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    }
}
