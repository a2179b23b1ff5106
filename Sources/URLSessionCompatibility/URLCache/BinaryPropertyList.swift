internal import Foundation

/// Reads a property list in Apple's binary format, object by object. Foundation's reader builds all objects in one
/// pass. A list of some hundred bytes with shared array elements takes it hours. This reader decodes one object per
/// call, and allocates no more than the size of the list.
///
///     bplist00 | objects | offsets of the objects | sizes of offsets and references, counts, root, start of the offsets
///
/// The format is described in CoreFoundation's CFBinaryPList.c.
struct BinaryPropertyList {
    /// An object. A collection refers to its elements by their numbers.
    enum Object {
        case string(String)
        case integer(Int64)
        case real(Double)
        case array([Int])
        case dictionary([(key: Int, value: Int)])
        /// An object that an exchange does not need, such as a date or a Boolean.
        case other
    }

    private static let trailerByteCount = 32

    private let bytes: [UInt8]
    private let offsetByteCount: Int
    private let referenceByteCount: Int
    private let objectCount: Int
    private let tableStart: Int
    /// The number of the outermost object.
    let root: Int

    /// Returns `nil` for bytes that are no binary property list.
    init?(_ data: Data) {
        bytes = [UInt8](data)
        guard bytes.starts(with: Array("bplist0".utf8)), bytes.count >= 8 + Self.trailerByteCount else { return nil }
        let trailer = bytes.count - Self.trailerByteCount
        offsetByteCount = Int(bytes[trailer + 6])
        referenceByteCount = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetByteCount), (1...8).contains(referenceByteCount),
            let count = Self.number(bytes, at: trailer + 8, byteCount: 8), count <= trailer,
            let root = Self.number(bytes, at: trailer + 16, byteCount: 8), root < count,
            let table = Self.number(bytes, at: trailer + 24, byteCount: 8),
            table >= 8, table <= trailer, count * offsetByteCount <= trailer - table
        else { return nil }
        objectCount = count
        tableStart = table
        self.root = root
    }

    /// Returns the object with this number, or `nil` for a missing or malformed object.
    func object(_ number: Int) -> Object? {
        guard (0..<objectCount).contains(number),
            let start = Self.number(bytes, at: tableStart + number * offsetByteCount, byteCount: offsetByteCount),
            start >= 8, start < tableStart
        else { return nil }
        let (kind, low) = (bytes[start] >> 4, Int(bytes[start] & 0xF))
        switch kind {
        case 0x1:
            return integer(at: start + 1, byteCount: 1 << low).map(Object.integer)
        case 0x2:
            return real(at: start + 1, byteCount: 1 << low).map(Object.real)
        case 0x5, 0x6, 0xA, 0xD:
            guard let (count, content) = count(low, at: start + 1) else { return nil }
            switch kind {
            case 0x5: return range(content, count).map { .string(String(decoding: bytes[$0], as: UTF8.self)) }
            case 0x6: return range(content, count, each: 2).map { .string(text(bytes[$0])) }
            case 0xA: return references(content, count).map(Object.array)
            default: return pairs(content, count).map(Object.dictionary)
            }
        default:
            return .other
        }
    }

    // MARK: Parts of an object

    /// Returns the number of elements and their start. After a value of 15, an integer object with the number follows.
    private func count(_ low: Int, at start: Int) -> (count: Int, content: Int)? {
        guard low == 0xF else { return (low, start) }
        guard start < tableStart, bytes[start] >> 4 == 0x1, bytes[start] & 0xF <= 3 else { return nil }
        let byteCount = 1 << Int(bytes[start] & 0xF)
        return Self.number(bytes, at: start + 1, byteCount: byteCount).map { ($0, start + 1 + byteCount) }
    }

    /// Returns the bytes of the elements, which must end before the table of offsets.
    private func range(_ start: Int, _ count: Int, each byteCount: Int = 1) -> Range<Int>? {
        guard start <= tableStart, count <= (tableStart - start) / byteCount else { return nil }
        return start..<(start + count * byteCount)
    }

    private func references(_ start: Int, _ count: Int) -> [Int]? {
        guard range(start, count, each: referenceByteCount) != nil else { return nil }
        var references: [Int] = []
        references.reserveCapacity(count)
        for index in 0..<count {
            let position = start + index * referenceByteCount
            guard let reference = Self.number(bytes, at: position, byteCount: referenceByteCount) else { return nil }
            references.append(reference)
        }
        return references
    }

    private func pairs(_ start: Int, _ count: Int) -> [(key: Int, value: Int)]? {
        guard range(start, count, each: 2 * referenceByteCount) != nil, let keys = references(start, count),
            let values = references(start + count * referenceByteCount, count)
        else { return nil }
        return Array(zip(keys, values)).map { (key: $0, value: $1) }
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// Integers of 1, 2 and 4 bytes are unsigned, integers of 8 bytes are signed.
    private func integer(at start: Int, byteCount: Int) -> Int64? {
        guard byteCount <= 8, let bits = bits(at: start, byteCount: byteCount) else { return nil }
        return Int64(bitPattern: bits)
    }

    private func real(at start: Int, byteCount: Int) -> Double? {
        guard let bits = byteCount == 4 || byteCount == 8 ? bits(at: start, byteCount: byteCount) : nil else {
            return nil
        }
        return byteCount == 8 ? Double(bitPattern: bits) : Double(Float(bitPattern: UInt32(bits)))
    }

    private func bits(at start: Int, byteCount: Int) -> UInt64? {
        range(start, byteCount).map { bytes[$0].reduce(0) { $0 << 8 | UInt64($1) } }
    }

    /// Returns a count or an offset: a big-endian number that no array can exceed.
    private static func number(_ bytes: [UInt8], at start: Int, byteCount: Int) -> Int? {
        guard start >= 0, start <= bytes.count - byteCount else { return nil }
        let value = bytes[start..<(start + byteCount)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value <= UInt64(Int32.max) ? Int(value) : nil
    }
}
