#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What a reader of a body gets.
package enum BodyPiece: Sendable {
    /// Bytes of the file.
    case file(Range<Int64>)
    /// Bytes that have just arrived; whether they are in the file, too.
    case chunk(Data, isInFile: Bool)
    /// The body is complete.
    case end
    /// The body is not going to be complete.
    case failed(LoadError)
}

/// Who has read how much of a body that is still arriving. Pure: each method says what its owner has to do once it has let
/// go of the lock.
///
/// The bytes go to a file, and readers take them from there, each at its own pace; the fastest sets the pace of the origin.
/// If the file cannot take any more, what follows is kept in memory until the slowest reader has it, and the slowest sets
/// the pace.
///
///     file    ├───────────────────┤
///     memory                      ├──────┤
///     readers      ↑     ↑               ↑ waits
package struct ReaderTable<Waiter, Pump> {
    /// Bytes that the origin may be ahead of the reader that sets the pace.
    package static var window: Int64 { 262_144 }

    /// Names a reader.
    package typealias ID = UInt64

    private struct Reader {
        var offset: Int64 = 0
        var waiter: Waiter?
    }

    private var readers: [ID: Reader] = [:]
    private var lastID: ID = 0
    private var fileEnd: Int64
    private var isFileOpen = true
    /// What came after the end of the file, and the position of the first of it.
    private var memory: [Data] = []
    private var memoryStart: Int64 = 0
    private var received: Int64
    private var ending: BodyPiece?
    private var hasHadReaders = false
    private var pump: Pump?

    /// - Parameter byteCount: What is in the file from the beginning.
    package init(byteCount: Int64 = 0) {
        fileEnd = byteCount
        received = byteCount
    }

    /// How many bytes there are.
    package var receivedByteCount: Int64 { received }

    /// Whether all that was received is in the file.
    package var isWhole: Bool { isFileOpen }

    /// Whether somebody reads, or may still come to.
    package var isWanted: Bool { !readers.isEmpty || !hasHadReaders }

    // MARK: Readers

    /// A reader that begins with the first byte; `nil` if it is too late for that.
    package mutating func attach() -> ID? {
        guard isFileOpen else { return nil }
        if case .failed = ending { return nil }
        lastID += 1
        readers[lastID] = Reader()
        hasHadReaders = true
        return lastID
    }

    /// A reader wants no more.
    ///
    /// - Returns: The reader's waiter, to be told, and the pump's, if the others let it go on.
    package mutating func detach(_ id: ID) -> (waiter: Waiter?, pump: Pump?) {
        guard let reader = readers.removeValue(forKey: id) else { return (nil, nil) }
        dropMemory()
        return (reader.waiter, releasedPump())
    }

    package enum Reading {
        /// The piece, and the pump's waiter, if it may go on.
        case piece(BodyPiece, pump: Pump?)
        /// Nothing is there yet: the waiter is kept. The pump may go on.
        case wait(pump: Pump?)
        /// There is no such reader any more.
        case gone
    }

    /// What comes next for a reader; `waiter` is kept if that has not arrived.
    package mutating func read(_ id: ID, limit: Int64, _ waiter: @autoclosure () -> Waiter) -> Reading {
        guard var reader = readers[id] else { return .gone }
        if reader.offset < fileEnd {
            let range = reader.offset..<min(fileEnd, reader.offset + limit)
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

    /// Lets go of what all have read.
    private mutating func dropMemory() {
        guard let slowest = readers.values.map(\.offset).min() else { return memory.removeAll() }
        while let first = memory.first, memoryStart + Int64(first.count) <= slowest {
            memoryStart += Int64(first.count)
            memory.removeFirst()
        }
    }

    // MARK: The pump

    /// A chunk is in the file. Returns those who have waited for it.
    package mutating func appendToFile(_ count: Int) -> [Waiter] {
        fileEnd += Int64(count)
        return arrived(count)
    }

    /// The file takes no more: what comes now is kept for those who read already.
    package mutating func closeFile() {
        isFileOpen = false
        memoryStart = fileEnd
    }

    /// A chunk is in memory only. Returns those who have waited for it.
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

    /// Whether the pump may ask for more; if not, its waiter is kept.
    package mutating func mayGoOn(_ waiter: @autoclosure () -> Pump) -> Bool {
        if hasRoom { return true }
        pump = waiter()
        return false
    }

    private var hasRoom: Bool {
        let offsets = readers.values.map(\.offset)
        guard let pace = isFileOpen ? offsets.max() : offsets.min() else { return true }
        return received - pace < Self.window
    }

    private mutating func releasedPump() -> Pump? {
        hasRoom ? pump.take() : nil
    }

    /// Wakes the pump whatever the readers do.
    package mutating func takePump() -> Pump? { pump.take() }

    /// The body has ended. Returns those who have waited for more.
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
