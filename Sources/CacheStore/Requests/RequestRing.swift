internal import CPlatform

/// The file `requests` of a store: a header, then slots of 512 bytes that are overwritten in turn. The file, together
/// with the switch in its header, is the setting of the store: processes on the store record while the switch is on.
/// Reads and writes use pread(2) and pwrite(2): if another process truncates a mapped file, access to the mapping kills
/// this process. A process that changes the file locks its first byte, for the open file description. A reader takes no
/// lock. It recognises an overwritten record by its checksum and its number.
package struct RequestRing: Sendable {
    static let name = "requests"
    /// The most records of a file, 2 GiB.
    package static let maxCapacity = 1 << 22
    /// The default number of records in a file, 16 MiB.
    static let standardCapacity = 1 << 15
    /// The number of slots in one read.
    private static let chunkLength = 128

    private let file: FileDescriptor
    private let identity: FileIdentity

    /// Opens the file. Returns `nil` without a file. Throws ENXIO for anything but a regular file.
    package static func open(
        in root: FileDescriptor, isReadOnly: Bool = false, creates: Bool = false
    ) throws(StoreError) -> RequestRing? {
        let flags = (isReadOnly ? O_RDONLY : O_RDWR) | (creates ? O_CREAT : 0)
        let file: FileDescriptor
        do throws(StoreError) {
            // A FIFO must not block.
            file = try root.open(name, flags | O_NONBLOCK)
        } catch let error where error.errno == ENOENT && !creates {
            return nil
        }
        let status = try file.status()
        guard status.isRegular else { throw .file(SystemError(call: "openat", path: file.path, errno: ENXIO)) }
        return RequestRing(file: file, identity: FileIdentity(status))
    }

    /// Whether `root` still contains the file under its name.
    func isPresent(in root: FileDescriptor) -> Bool {
        (try? root.status(of: Self.name)).map { $0.map(FileIdentity.init) == identity } ?? false
    }

    /// The header, or `nil` for a damaged one.
    func header() throws(StoreError) -> RequestRingHeader? {
        // Read a damaged header again: a writer may be writing it.
        var bytes = [UInt8](repeating: 0, count: RequestRingHeader.byteCount)
        for _ in 0..<8 {
            let count = try bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(StoreError) in try file.read(into: buffer, at: 0) }
            }.get()
            guard count == bytes.count else { return nil }
            if let header = bytes.withUnsafeBytes({ RequestRingHeader($0) }) { return header }
        }
        return nil
    }

    func byteCount() throws(StoreError) -> Int64 { try file.status().size }

    // MARK: Changing

    /// Calls `body` while no other process changes the file. Returns `nil` after `timeout`.
    package func withLock<Value>(
        within timeout: Duration, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        guard try DirectoryLock.wait(timeout, for: { () throws(StoreError) in try file.tryLockByte(at: 0) }) else {
            return nil
        }
        defer { file.unlockByte(at: 0) }
        return try body()
    }

    /// Writes the header. Requires the lock.
    func write(_ header: RequestRingHeader) throws(StoreError) {
        try write(header.bytes, at: 0)
    }

    /// Empties the file and begins again. Requires the lock.
    func reset(_ header: RequestRingHeader) throws(StoreError) {
        try file.truncate(to: 0)
        // A kill in between leaves a file without a header, so no process records.
        try write(header)
    }

    /// Appends events and writes the header after `header`. Requires the lock. Each `dropped` event gets a number, too.
    func append(
        _ events: some Collection<RecordedEvent>, dropped: Int, after header: RequestRingHeader, processID: Int32
    ) throws(StoreError) {
        var header = header
        let kept = Array(events.suffix(Int(header.capacity)))
        header.next += UInt64(dropped + events.count - kept.count)
        var rest = kept[...]
        while !rest.isEmpty {
            // A run ends at the last slot. The next run starts at the first slot.
            let run = rest.prefix(Int(UInt64(header.capacity) - header.next % UInt64(header.capacity)))
            rest = rest.dropFirst(run.count)
            var bytes = [UInt8](repeating: 0, count: run.count * RequestSlot.byteCount)
            let offset = header.offset(of: header.next)
            bytes.withUnsafeMutableBytes { buffer in
                var start = 0
                for event in run {
                    let slot = UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + RequestSlot.byteCount])
                    RequestSlot.write(event, number: header.next, processID: processID, to: slot)
                    header.next += 1
                    start += slot.count
                }
            }
            try write(bytes, at: offset)
        }
        // Write the header last: after a kill before this write, the next process overwrites the records.
        try write(header)
    }

    /// The records to erase.
    enum Erasure: Equatable {
        case everything
        case partition(String)
        case key(CacheKey)
    }

    /// Erases records. Requires the lock.
    func erase(_ erasure: Erasure) throws(StoreError) {
        guard var header = try header() else { return try file.truncate(to: 0) }
        // Count the erasure first, so that no process adds a record of an earlier request.
        header.erasures += 1
        if erasure == .everything { header.first = header.next }
        try write(header)
        if erasure == .everything { return try file.truncate(to: Int64(RequestSlot.byteCount)) }
        // Visit every slot of the file, because a killed process may have left records beyond the last number.
        try forEachSlot(from: Int64(RequestSlot.byteCount), limit: .max) { (slot, offset) throws(StoreError) in
            guard RequestSlot.mayBelong(slot, to: erasure) else { return }
            try write([UInt8](repeating: 0, count: slot.count), at: offset)
        }
    }

    private func write(_ bytes: [UInt8], at offset: Int64) throws(StoreError) {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(StoreError) in try file.write(bytes, at: offset) }
        }.get()
    }

    // MARK: Reading

    /// Returns up to `limit` records from `cursor`, or from the oldest record.
    func records(since cursor: RequestCursor?, limit: Int) throws(StoreError) -> RequestRecords {
        var result = RequestRecords()
        guard let header = try header() else { return result }
        // The numbers of an earlier file say nothing about this one.
        var number = cursor.map { $0.file == header.file ? min($0.number, header.next) : 0 } ?? 0
        let first = max(number, header.oldest)
        let end = min(header.next, first + UInt64(max(0, limit)))
        result.lost = Int64(first - number)
        number = first
        while number < end {
            // A run ends at the last slot. The next run starts at the first slot.
            let run = min(end - number, UInt64(header.capacity) - number % UInt64(header.capacity))
            let before = result.count
            var expected = number
            try forEachSlot(from: header.offset(of: number), limit: Int(run)) { slot, _ in
                if let (stored, event) = RequestSlot.event(in: slot), stored == expected {
                    switch event {
                    case .request(let record): result.records.append(record)
                    case .removal(let removal): result.removals.append(removal)
                    }
                }
                expected += 1
            }
            number += run
            // Slots beyond the end of a truncated file are lost, too.
            result.lost += Int64(run) - Int64(result.count - before)
        }
        result.next = RequestCursor(file: header.file, number: end)
        return result
    }

    /// Calls `body` with each slot from `offset`, up to the end of the file.
    private func forEachSlot(
        from offset: Int64, limit: Int, _ body: (UnsafeRawBufferPointer, Int64) throws(StoreError) -> Void
    ) throws(StoreError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.chunkLength * RequestSlot.byteCount, alignment: 16)
        defer { buffer.deallocate() }
        var (offset, rest) = (offset, limit)
        while rest > 0 {
            let wanted = min(rest, Self.chunkLength)
            let count = try file.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<(wanted * RequestSlot.byteCount)]), at: offset)
            // Ignore a slot that the end of the file cuts off: it is damaged.
            for start in stride(from: 0, to: count - count % RequestSlot.byteCount, by: RequestSlot.byteCount) {
                let slot = UnsafeRawBufferPointer(rebasing: buffer[start..<start + RequestSlot.byteCount])
                try body(slot, offset + Int64(start))
            }
            guard count == wanted * RequestSlot.byteCount else { return }
            offset += Int64(count)
            rest -= wanted
        }
    }
}
