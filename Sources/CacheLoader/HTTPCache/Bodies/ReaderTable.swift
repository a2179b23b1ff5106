package import CacheFoundation

/// The result of one read from an arriving body.
package enum BodyPiece: Sendable {
    /// Bytes of the file.
    case file(Range<Int64>)
    /// Bytes in memory. `isInFile` is true if the file also has them.
    case chunk(Data, isInFile: Bool)
    /// The body is complete.
    case end
    /// The body failed and will not become complete.
    case failed(LoadError)
}

/// The positions of the readers of an arriving body. Pure: each method returns the action that its owner performs after
/// unlocking. The bytes go to a file. Each reader takes them from there at its own pace; the fastest reader sets the
/// pace of the origin. If the file accepts no more bytes, later bytes stay in memory until the slowest reader has them.
/// Then the slowest reader sets the pace, unless another reader waits: the table detaches a reader that alone keeps a
/// window of bytes in memory. The bytes of a small file also stay in memory until all readers have them. A body without
/// a file has one reader, and the origin is never ahead of it: each chunk is requested when the reader waits.
///
///     file    ├───────────────────┤
///     memory                      ├──────┤
///     readers      ↑     ↑               ↑ waits
package struct ReaderTable<Waiter, Pump> {
    /// The number of bytes by which the origin may be ahead of the reader that sets the pace.
    package static var window: Int64 { 262_144 }
    /// The size up to which the bytes of a file also stay in memory, so that no reader reads them back.
    package static var smallFile: Int64 { Int64(ResponseBody.chunkByteCount) }

    package typealias ID = UInt64

    private struct Reader {
        var offset: Int64 = 0
        var waiter: Waiter?
    }

    private var readers: [ID: Reader] = [:]
    private var lastID: ID = 0
    private var fileEnd: Int64
    private let hasFile: Bool
    /// Whether the file accepts more bytes.
    private var isFileOpen: Bool
    /// The error that closed the file.
    private var fileError: LoadError?
    /// The readers that were too slow. Their reads fail with `fileError`.
    private var detached: Set<ID> = []
    /// The last bytes of a small file; empty if no reader needs them.
    private var fileTail = Data()
    /// The chunks after the end of the file. `memoryStart` is the position of the first one.
    private var memory: [Data] = []
    private var memoryStart: Int64 = 0
    private var received: Int64
    private var ending: BodyPiece?
    private var hasHadReaders = false
    private var pump: Pump?

    /// `byteCount` is the number of bytes in the file at the beginning. `hasFile` tells whether the bytes go to a file.
    package init(byteCount: Int64 = 0, hasFile: Bool = true) {
        self.hasFile = hasFile
        isFileOpen = hasFile
        fileEnd = byteCount
        received = byteCount
    }

    package var receivedByteCount: Int64 { received }

    /// Whether the file has all received bytes.
    package var isWhole: Bool { isFileOpen }

    /// Whether the body has readers, or has not had one yet.
    package var isWanted: Bool { !readers.isEmpty || !hasHadReaders }

    // MARK: Readers

    /// Adds a reader at the first byte. Returns `nil` when a new reader could no longer get all bytes.
    package mutating func attach() -> ID? {
        guard isFileOpen || !hasFile && !hasHadReaders else { return nil }
        if case .failed = ending { return nil }
        lastID += 1
        readers[lastID] = Reader()
        hasHadReaders = true
        return lastID
    }

    /// Returns the waiter of the reader to resume, and the waiter of the pump, if the pump may continue.
    package mutating func detach(_ id: ID) -> (waiter: Waiter?, pump: Pump?) {
        detached.remove(id)
        guard let reader = readers.removeValue(forKey: id) else { return (nil, nil) }
        dropMemory()
        return (reader.waiter, releasedPump())
    }

    package enum Reading {
        /// The piece. `pump` is the waiter of the pump if the pump may continue.
        case piece(BodyPiece, pump: Pump?)
        /// No piece is available; the table keeps the waiter. The pump may continue if `pump` is not `nil`.
        case wait(pump: Pump?)
        /// The reader was removed.
        case gone
    }

    /// Returns the next piece. Keeps `waiter` if no piece is available. `limit` applies to pieces from the file.
    package mutating func read(_ id: ID, limit: Int64, _ waiter: @autoclosure () -> Waiter) -> Reading {
        guard var reader = readers[id] else {
            guard let fileError, detached.contains(id) else { return .gone }
            return .piece(.failed(fileError), pump: nil)
        }
        if reader.offset < fileEnd {
            let rest = fileEnd - reader.offset
            if rest <= Int64(fileTail.count) {
                let chunk = Data(fileTail.suffix(Int(rest)))
                readers[id]?.offset = fileEnd
                dropMemory()
                return .piece(.chunk(chunk, isInFile: true), pump: releasedPump())
            }
            let range = reader.offset..<(reader.offset + min(limit, rest))
            readers[id]?.offset = range.upperBound
            return .piece(.file(range), pump: releasedPump())
        }
        if let chunk = chunk(at: reader.offset) {
            readers[id]?.offset += Int64(chunk.count)
            dropMemory()
            return .piece(.chunk(chunk, isInFile: false), pump: releasedPump())
        }
        if let ending { return .piece(ending, pump: nil) }
        precondition(reader.waiter == nil, "a body has one reader")
        reader.waiter = waiter()
        readers[id] = reader
        detachSlowReaders()
        return .wait(pump: releasedPump())
    }

    private func chunk(at offset: Int64) -> Data? {
        var start = memoryStart
        for chunk in memory {
            if start == offset { return chunk }
            start += Int64(chunk.count)
        }
        return nil
    }

    /// Releases the bytes that all readers have read.
    private mutating func dropMemory() {
        let slowest = readers.values.map(\.offset).min() ?? received
        if slowest >= fileEnd { fileTail = Data() }
        while let first = memory.first, memoryStart + Int64(first.count) <= slowest {
            memoryStart += Int64(first.count)
            memory.removeFirst()
        }
    }

    // MARK: The pump

    /// Records a chunk in the file. Returns the waiting readers to resume.
    package mutating func appendToFile(_ chunk: Data) -> [Waiter] {
        fileEnd += Int64(chunk.count)
        let waiters = arrived(chunk.count)
        if fileEnd <= Self.smallFile, readers.values.contains(where: { $0.offset < fileEnd }) {
            fileTail += chunk
        } else {
            fileTail = Data()
        }
        return waiters
    }

    /// Closes the file after an error of the store. Later chunks stay in memory for the current readers.
    package mutating func closeFile(after error: LoadError) {
        isFileOpen = false
        fileError = error
        memoryStart = fileEnd
    }

    /// Adds a chunk in memory. Returns the waiting readers to resume.
    package mutating func appendToMemory(_ chunk: Data) -> [Waiter] {
        memory.append(chunk)
        let waiters = arrived(chunk.count)
        dropMemory()
        return waiters
    }

    private mutating func arrived(_ count: Int) -> [Waiter] {
        received += Int64(count)
        var waiters: [Waiter] = []
        for (id, reader) in readers {
            guard let waiter = reader.waiter else { continue }
            waiters.append(waiter)
            readers[id]?.waiter = nil
            readers[id]?.offset += Int64(count)
        }
        return waiters
    }

    /// Returns whether the pump may request the next chunk; if not, keeps its waiter.
    package mutating func mayGoOn(_ waiter: @autoclosure () -> Pump) -> Bool {
        detachSlowReaders()
        if hasRoom { return true }
        pump = waiter()
        return false
    }

    private var hasRoom: Bool {
        guard hasFile else { return readers.values.allSatisfy { $0.waiter != nil } }
        let offsets = readers.values.map(\.offset)
        guard let pace = isFileOpen ? offsets.max() : offsets.min() else { return true }
        if received - pace < Self.window { return true }
        // A client that stops reading must not stop the other readers. Bytes of the file cost no memory.
        return !isFileOpen && isAwaited && received - max(pace, fileEnd) < Self.window
    }

    /// Whether a reader waits for the next chunk.
    private var isAwaited: Bool { readers.values.contains { $0.waiter != nil } }

    /// Detaches the readers that keep a window of bytes in memory while another reader waits.
    private mutating func detachSlowReaders() {
        guard fileError != nil, received - fileEnd >= Self.window, isAwaited else { return }
        for (id, reader) in readers where received - max(reader.offset, fileEnd) >= Self.window {
            readers[id] = nil
            detached.insert(id)
        }
        dropMemory()
    }

    private mutating func releasedPump() -> Pump? {
        hasRoom ? pump.take() : nil
    }

    /// Takes the waiter of the pump, regardless of the readers.
    package mutating func takePump() -> Pump? { pump.take() }

    /// Ends the body. Returns the waiting readers to resume.
    package mutating func end(_ piece: BodyPiece) -> [Waiter] {
        guard ending == nil else { return [] }
        ending = piece
        var waiters: [Waiter] = []
        for (id, reader) in readers {
            guard let waiter = reader.waiter else { continue }
            waiters.append(waiter)
            readers[id]?.waiter = nil
        }
        return waiters
    }
}
