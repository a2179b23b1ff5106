import Foundation

@testable import CacheStore

/// The file of request records: a flag, then a header or a slot.
///
/// Rules: damaged bytes are no record. A record that is read, written and read again is the same. Writing a parsed
/// header gives its bytes.
@Sendable func fuzzRequests(_ input: inout FuzzInput) {
    let flag = input.byte()
    let bytes = input.all()
    if flag & 1 == 0 {
        var header = [UInt8](bytes.prefix(64))
        guard header.count == 64 else { return }
        if flag & 2 != 0 { seal(&header, 0..<56, at: 56) }
        guard let parsed = header.withUnsafeBytes({ RequestRingHeader($0) }) else { return }
        check(parsed.bytes.withUnsafeBytes { RequestRingHeader($0) } == parsed, "a header reads as it was written")
        check(parsed.oldest <= parsed.next, "the oldest record is no later than the next one")
        check(parsed.offset(of: parsed.next) > 0, "a slot is behind the header")
        return
    }
    var slot = [UInt8](repeating: 0, count: RequestSlot.byteCount)
    for (index, byte) in bytes.prefix(slot.count).enumerated() { slot[index] = byte }
    if flag & 2 != 0 {
        var end = 88
        for offset in [80, 82, 84] { end += Int(slot[offset]) + Int(slot[offset + 1]) * 256 }
        if end <= slot.count { seal(&slot, 8..<end, at: 0) }
    }
    guard let (number, event) = slot.withUnsafeBytes({ RequestSlot.event(in: $0) }) else { return }
    let (partition, processID) =
        switch event {
        case .request(let record): (record.partition, record.processID)
        case .removal(let removal): (removal.partition, removal.processID)
        }
    _ = slot.withUnsafeBytes { RequestSlot.mayBelong($0, to: .partition(partition)) }
    check(slot.withUnsafeBytes { RequestSlot.mayBelong($0, to: .everything) }, "an erasure of all finds each record")

    var written = [UInt8](repeating: 0, count: RequestSlot.byteCount)
    written.withUnsafeMutableBytes {
        RequestSlot.write(event, number: number, processID: processID, to: $0)
    }
    guard let again = written.withUnsafeBytes({ RequestSlot.event(in: $0) }) else {
        fatalError("broken rule: a written record can be read")
    }
    check(again.number == number, "the number stays")
    switch (again.event, event) {
    case (.request(let again), .request(let record)):
        check(again.outcome == record.outcome && again.status == record.status, "the request stays")
        check(again.forwardCode == record.forwardCode && again.replyCode == record.replyCode, "the decisions stay")
    case (.removal(let again), .removal(let removal)):
        check(again.cause == removal.cause && again.entryCount == removal.entryCount, "the removal stays")
    default: fatalError("broken rule: an event keeps its kind")
    }
}

private func seal(_ bytes: inout [UInt8], _ range: Range<Int>, at offset: Int) {
    let checksum = bytes.withUnsafeBytes { RequestSlot.checksum($0, range) }
    for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: checksum >> UInt64(8 * index)) }
}
