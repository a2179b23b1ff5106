internal import ByteText
internal import CacheFoundation

/// The bytes of one record in the file, 512 of them, little-endian:
///
///       0  checksum of the bytes after it, up to the end of the texts
///       8  number of the record
///      16  start, in milliseconds since 1970
///      24  microseconds to the head
///      32  microseconds to the end
///      40  length of the body, -1 if unknown
///      48  bytes from the disk
///      56  bytes from the network
///      64  checksum of the key
///      72  process
///      76  status, 0 for none
///      78  outcome; 64 and more: cause of a removal, whose number of entries is at 40
///      79  1: truncated, 2: background
///      80  lengths of method, partition and URL, two bytes each
///      86  reason to forward
///      87  decision on the reply
///      88  the three texts
package enum RequestSlot {
    package static let byteCount = 512
    private static let textOffset = 88
    private static let maxMethodByteCount = 24
    private static let maxPartitionByteCount = 128

    private static let outcomes: [RequestOutcome] = [
        .hit, .stale, .revalidated, .miss, .error, .coalesced, .tier,
    ]
    private static let firstCause = 64
    private static let causes: [RemovalRecord.Cause] = [.evicted, .removed, .invalidated]

    // MARK: Writing

    /// Writes an event to `slot`, which contains only zeros.
    static func write(
        _ event: RecordedEvent, number: UInt64, processID: Int32, to slot: UnsafeMutableRawBufferPointer
    ) {
        switch event {
        case .request(let record):
            write(
                record, code: outcomes.firstIndex(of: record.outcome) ?? 0, number: number, processID: processID,
                to: slot)
        case .removal(let removal):
            var record = RequestRecord(
                startedAt: removal.removedAt, method: "",
                target: CacheKey(stored: removal.url, partition: removal.partition), outcome: .hit)
            record.contentByteCount = removal.entryCount
            let code = firstCause + (causes.firstIndex(of: removal.cause) ?? 0)
            write(record, code: code, number: number, processID: processID, to: slot)
        }
    }

    private static func write(
        _ record: RequestRecord, code: Int, number: UInt64, processID: Int32, to slot: UnsafeMutableRawBufferPointer
    ) {
        func store<Value: FixedWidthInteger>(_ value: Value, _ offset: Int) {
            slot.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
        }
        var offset = textOffset
        var isTruncated = record.isTruncated
        /// Writes the longest prefix of `text` that has at most `limit` bytes.
        func store(_ text: String, limit: Int, lengthAt lengthOffset: Int) {
            let bytes = prefix(of: text, limit)
            isTruncated = isTruncated || bytes.count < text.utf8.count
            store(UInt16(bytes.count), lengthOffset)
            UnsafeMutableRawBufferPointer(rebasing: slot[offset...]).copyBytes(from: bytes)
            offset += bytes.count
        }
        store(record.method, limit: maxMethodByteCount, lengthAt: 80)
        store(record.partition, limit: maxPartitionByteCount, lengthAt: 82)
        store(record.url, limit: byteCount - offset, lengthAt: 84)
        store(number, 8)
        store(record.startedAt.milliseconds, 16)
        store(record.latency.microseconds, 24)
        store(record.duration.microseconds, 32)
        store(record.contentByteCount ?? -1, 40)
        store(record.diskByteCount, 48)
        store(record.networkByteCount, 56)
        store(record.keyChecksum, 64)
        store(processID, 72)
        store(UInt16(clamping: record.status ?? 0), 76)
        store(UInt8(code), 78)
        store((isTruncated ? 1 : 0) | (record.isBackground ? 2 : 0) as UInt8, 79)
        store(record.forwardCode, 86)
        store(record.replyCode, 87)
        store(checksum(UnsafeRawBufferPointer(slot), 8..<offset), 0)
    }

    /// Returns the longest prefix of `text` with at most `limit` bytes that ends with a whole character.
    private static func prefix(of text: String, _ limit: Int) -> [UInt8] {
        var bytes = Array(text.utf8.prefix(limit + 1))
        guard bytes.count > limit else { return bytes }
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
        return bytes
    }

    // MARK: Reading

    /// Returns the event in `slot` and its number. Returns `nil` for an empty or damaged slot.
    static func event(in slot: UnsafeRawBufferPointer) -> (number: UInt64, event: RecordedEvent)? {
        guard let (number, code, record) = record(in: slot) else { return nil }
        if outcomes.indices.contains(code) { return (number, .request(record)) }
        guard causes.indices.contains(code - firstCause) else { return nil }
        let removal = RemovalRecord(
            removedAt: record.startedAt, cause: causes[code - firstCause], url: record.url,
            partition: record.partition, entryCount: record.contentByteCount ?? 1, processID: record.processID,
            isTruncated: record.isTruncated)
        return (number, .removal(removal))
    }

    /// Reads a slot as a request, and the number at the place of the outcome.
    private static func record(
        in slot: UnsafeRawBufferPointer
    ) -> (number: UInt64, code: Int, record: RequestRecord)? {
        func load<Value: FixedWidthInteger>(_ offset: Int) -> Value {
            Value(littleEndian: slot.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
        guard let texts = texts(in: slot), load(0) == checksum(slot, 8..<texts.url.upperBound) else { return nil }
        let code = Int(load(78) as UInt8)
        func text(_ range: Range<Int>) -> String { String(decoding: slot[range], as: UTF8.self) }
        let (status, flags) = (load(76) as UInt16, load(79) as UInt8)
        let length = load(40) as Int64
        var record = RequestRecord(
            startedAt: Date(milliseconds: load(16)), method: text(texts.method),
            target: CacheKey(stored: text(texts.url), partition: text(texts.partition)),
            outcome: outcomes.indices.contains(code) ? outcomes[code] : .hit)
        record.keyChecksum = load(64)
        record.latency = .microseconds(load(24) as Int64)
        record.duration = .microseconds(load(32) as Int64)
        record.contentByteCount = length < 0 ? nil : length
        record.diskByteCount = load(48)
        record.networkByteCount = load(56)
        record.processID = load(72)
        record.status = status == 0 ? nil : Int(status)
        record.isTruncated = flags & 1 != 0
        record.isBackground = flags & 2 != 0
        record.forwardCode = load(86)
        record.replyCode = load(87)
        return (load(8), code, record)
    }

    /// Whether an erasure includes the slot. Includes damaged slots, and compares a truncated text only by its prefix.
    static func mayBelong(_ slot: UnsafeRawBufferPointer, to erasure: RequestRing.Erasure) -> Bool {
        guard slot.contains(where: { $0 != 0 }) else { return false }
        // A damaged slot may have the URL that is to be erased.
        guard event(in: slot) != nil, let record = record(in: slot)?.record, let texts = texts(in: slot) else {
            return true
        }
        switch erasure {
        case .everything: return true
        case .partition(let name): return slot[texts.partition].elementsEqual(prefix(of: name, maxPartitionByteCount))
        case .key(let key):
            return record.keyChecksum == KeyChecksum(key).key
                || record.isTruncated && key.text.utf8.starts(with: slot[texts.url])
                || key.text.utf8.elementsEqual(slot[texts.url])
        }
    }

    private static func texts(
        in slot: UnsafeRawBufferPointer
    ) -> (method: Range<Int>, partition: Range<Int>, url: Range<Int>)? {
        let lengths = (0..<3).map { index in
            Int(UInt16(littleEndian: slot.loadUnaligned(fromByteOffset: 80 + 2 * index, as: UInt16.self)))
        }
        let method = textOffset..<textOffset + lengths[0]
        let partition = method.upperBound..<method.upperBound + lengths[1]
        let url = partition.upperBound..<partition.upperBound + lengths[2]
        return url.upperBound <= byteCount ? (method, partition, url) : nil
    }

    /// The checksum of a range: FNV-1a over words of eight bytes. The last word may extend beyond the range.
    static func checksum(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt64 {
        var checksum = FNV1a()
        var offset = range.lowerBound
        while offset < range.upperBound {
            checksum.update(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        return checksum.value
    }
}

extension Duration {
    /// Whole microseconds, 0 or more.
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isOver) = max(0, seconds).multipliedReportingOverflow(by: 1_000_000)
        return isOver ? .max : max(0, product &+ attoseconds / 1_000_000_000_000)
    }
}
