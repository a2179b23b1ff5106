/// Takes a tar archive apart while its bytes arrive.
///
/// Pure, and of bounded memory: it holds a header or the records of one, never a file. It knows regular files in the formats
/// `ustar` and `pax`, and what GNU tar writes of them; everything else is an error, and so is every number or name that
/// could be understood in two ways. Which names are good is for the caller to say.
package struct TarReader {
    /// What the next bytes are.
    package enum Event {
        /// A file begins.
        case file(TarEntry)
        /// Bytes of the file; a part of the input, and valid no longer.
        case bytes(UnsafeRawBufferPointer)
        /// The file is complete.
        case endOfFile
    }

    private enum State {
        case header
        case records(left: Int, padding: Int)
        case file(left: Int64, padding: Int)
        case padding(left: Int)
        /// One block of zeros was read; the archive ends with two.
        case ending
        case ended
    }

    /// The most that records may have; those of real archives have some hundred bytes.
    private static let maxRecordByteCount: Int64 = 65_536

    private var state = State.header
    /// What there is of a header, or of records.
    private var collected: [UInt8] = []
    /// What records say of the file that follows.
    private var records = TarRecords()
    private var hasRecords = false
    /// Bytes taken from the input, and where the last header began.
    private var offset: Int64 = 0
    private var headerOffset: Int64 = 0

    package init() {}

    /// The next event; takes its bytes from the front of `input`. `nil` when all are taken.
    package mutating func next(_ input: inout UnsafeRawBufferPointer) throws(ArchiveError) -> Event? {
        while true {
            switch state {
            case .header:
                if collected.isEmpty { headerOffset = offset }
                guard collect(TarEntry.blockByteCount, from: &input) else { return nil }
                if let event = try takeHeader() { return event }
            case .records(let left, let padding):
                guard collect(left, from: &input) else { return nil }
                records = try TarRecords(collected, headerOffset: headerOffset)
                hasRecords = true
                collected = []
                state = .padding(left: padding)
            case .file(0, let padding):
                state = .padding(left: padding)
                return .endOfFile
            case .file(let left, let padding):
                guard !input.isEmpty else { return nil }
                let bytes = take(Int(min(left, Int64(input.count))), from: &input)
                state = .file(left: left - Int64(bytes.count), padding: padding)
                return .bytes(bytes)
            case .padding(0):
                state = .header
            case .padding(let left):
                guard !input.isEmpty else { return nil }
                state = .padding(left: left - take(min(left, input.count), from: &input).count)
            case .ending:
                guard collect(TarEntry.blockByteCount, from: &input) else { return nil }
                guard collected.allSatisfy({ $0 == 0 }) else { throw .damagedHeader(offset: headerOffset) }
                state = .ended
            case .ended:
                // Programs fill up to the size of a record with zeros.
                if let found = input.firstIndex(where: { $0 != 0 }) {
                    throw .trailingBytes(offset: offset + Int64(found))
                }
                _ = take(input.count, from: &input)
                return nil
            }
        }
    }

    /// Called at the end of the input.
    package func finish() throws(ArchiveError) {
        guard case .ended = state else { throw .truncated }
    }

    private mutating func take(_ count: Int, from input: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let bytes = UnsafeRawBufferPointer(rebasing: input[..<count])
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        offset += Int64(count)
        return bytes
    }

    /// Whether `count` bytes are collected by now.
    private mutating func collect(_ count: Int, from input: inout UnsafeRawBufferPointer) -> Bool {
        collected += take(min(count - collected.count, input.count), from: &input)
        return collected.count == count
    }

    private mutating func takeHeader() throws(ArchiveError) -> Event? {
        let block = collected
        collected = []
        if block.allSatisfy({ $0 == 0 }) {
            // Records are followed by their file.
            guard !hasRecords else { throw .damagedHeader(offset: headerOffset) }
            headerOffset = offset
            state = .ending
            return nil
        }
        let header = try TarHeader(block, offset: headerOffset)
        switch header.type {
        case TarType.extended:
            let entry = TarEntry(name: header.name, byteCount: try header.byteCount())
            guard entry.byteCount <= Self.maxRecordByteCount, !hasRecords else { throw .invalidSize(name: header.name) }
            state = .records(left: Int(entry.byteCount), padding: entry.paddingByteCount)
            return nil
        case TarType.file, TarType.oldFile:
            let byteCount = if let count = records.byteCount { count } else { try header.byteCount() }
            let entry = TarEntry(name: records.name ?? header.name, byteCount: byteCount)
            records = TarRecords()
            hasRecords = false
            state = .file(left: entry.byteCount, padding: entry.paddingByteCount)
            return .file(entry)
        default:
            throw .unsupportedType(name: records.name ?? header.name, type: header.type)
        }
    }
}
