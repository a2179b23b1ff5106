import TestSupport

@Suite("ReaderTable", .timeLimit(.minutes(5))) struct ReaderTableTests {
    private typealias Table = ReaderTable<Int, Int>

    @Test("Every remaining reader gets all bytes once and in order, and no reader waits forever", arguments: 0..<8)
    func model(round: Int) {
        var generator = SeededGenerator()
        for _ in 0..<40 {
            var model = ReaderModel(
                byteCount: Bool.random(using: &generator) ? 0 : .random(in: 1...600_000, using: &generator))
            for _ in 0..<Int.random(in: 10...300, using: &generator) { model.step(&generator) }
            model.finish(&generator)
        }
    }

    @Test("The fastest reader sets the pace of a file, the slowest that of a body in memory")
    func pace() {
        var table = Table()
        let (fast, slow) = (table.attach() ?? 0, table.attach() ?? 0)
        let window = Int(Table.window)
        let nobody = table.appendToFile(Data(count: window))
        #expect(nobody.isEmpty)
        let mayGoOnAtOnce = table.mayGoOn(1)
        #expect(!mayGoOnAtOnce)
        guard case .piece(.file(0..<100), pump: 1?) = table.read(fast, limit: 100, 0) else {
            Issue.record("the pump may go on as soon as one reader has moved")
            return
        }
        _ = table.read(fast, limit: .max, 0)
        table.closeFile(after: .store(.closed))
        _ = table.appendToMemory(Data(count: 1))
        let mayGoOn = table.mayGoOn(2)
        #expect(!mayGoOn, "the slowest is further behind than the window")
        guard case .piece(.chunk, pump: nil) = table.read(fast, limit: 1, 0),
            case .piece(.file, pump: 2?) = table.read(slow, limit: 100, 0)
        else {
            Issue.record("only the slowest lets the pump go on")
            return
        }
    }

    @Test("A reader that keeps a window of bytes in memory is detached once another reader waits")
    func detaching() {
        var table = Table()
        let (fast, slow) = (table.attach() ?? 0, table.attach() ?? 0)
        _ = table.appendToFile(Data(count: 100))
        table.closeFile(after: .store(.closed))
        _ = table.read(fast, limit: .max, 0)
        _ = table.appendToMemory(Data(count: Int(Table.window) - 1))
        _ = table.read(fast, limit: .max, 0)
        let mayBegin = table.mayGoOn(1)
        #expect(!mayBegin, "no reader waits")
        guard case .wait(pump: 1?) = table.read(fast, limit: .max, 5) else {
            Issue.record("the memory has less than a window")
            return
        }
        let waiters = table.appendToMemory(Data(count: 1))
        #expect(waiters == [5])
        let mayGoOn = table.mayGoOn(2)
        #expect(!mayGoOn, "no reader waits")
        guard case .wait(pump: 2?) = table.read(fast, limit: .max, 6),
            case .piece(.failed(.store(.closed)), pump: nil) = table.read(slow, limit: .max, 7)
        else {
            Issue.record("the slow reader stops the fast one")
            return
        }
        _ = table.detach(slow)
        guard case .gone = table.read(slow, limit: .max, 8) else {
            Issue.record("it has left")
            return
        }
    }

    @Test("Without readers, the pump is released; a reader that leaves while waiting is resumed")
    func leaving() {
        var table = Table()
        let reader = table.attach() ?? 0
        #expect(table.isWanted)
        _ = table.appendToFile(Data(count: Int(Table.window)))
        let mayGoOn = table.mayGoOn(7)
        #expect(!mayGoOn)
        let (waiter, pump) = table.detach(reader)
        #expect(waiter == nil)
        #expect(pump == 7)
        #expect(!table.isWanted)
        let again = table.detach(reader)
        #expect(again.waiter == nil)
        #expect(again.pump == nil)
        let other = table.attach() ?? 0
        _ = table.read(other, limit: .max, 1)
        guard case .wait = table.read(other, limit: .max, 2) else {
            Issue.record("there is nothing yet")
            return
        }
        let waiting = table.detach(other)
        #expect(waiting.waiter == 2)
        guard case .gone = table.read(other, limit: 1, 3) else {
            Issue.record("it has left")
            return
        }
    }

    @Test("A small file is not read back: its bytes stay in memory until every reader has them")
    func smallFile() {
        var table = Table()
        let (fast, slow) = (table.attach() ?? 0, table.attach() ?? 0)
        let limit = Int(Table.smallFile)
        _ = table.appendToFile(Data(repeating: 1, count: 10))
        _ = table.appendToFile(Data(repeating: 2, count: 10))
        let start = Data(repeating: 1, count: 10) + Data(repeating: 2, count: 10)
        guard case .piece(.chunk(start, isInFile: true), pump: nil) = table.read(fast, limit: 1_000, 0) else {
            Issue.record("the chunks are in memory")
            return
        }
        _ = table.appendToFile(Data(repeating: 3, count: 10))
        guard case .piece(.chunk(let rest, isInFile: true), pump: nil) = table.read(fast, limit: 1_000, 0),
            case .piece(.chunk(let all, isInFile: true), pump: nil) = table.read(slow, limit: 1_000, 0)
        else {
            Issue.record("the chunks are in memory")
            return
        }
        #expect(rest == Data(repeating: 3, count: 10))
        #expect(all == start + rest)
        // A late reader finds the first bytes only in the file.
        let late = table.attach() ?? 0
        _ = table.appendToFile(Data(count: 10))
        guard case .piece(.file(0..<40), pump: nil) = table.read(late, limit: 1_000, 0) else {
            Issue.record("the first bytes have left the memory")
            return
        }
        // A larger file drops its bytes from memory, too.
        _ = table.appendToFile(Data(count: limit))
        guard case .piece(.file(30..<1_030), pump: nil) = table.read(fast, limit: 1_000, 0) else {
            Issue.record("a larger file is in memory")
            return
        }
    }

    @Test("Without a file, one reader is allowed, and the pump continues only while it waits")
    func withoutFile() {
        var table = Table(hasFile: false)
        let reader = table.attach() ?? 0
        let second = table.attach()
        #expect(second == nil)
        #expect(table.isWanted)
        #expect(!table.isWhole)
        let mayBegin = table.mayGoOn(1)
        #expect(!mayBegin, "the reader has not asked")
        guard case .wait(pump: 1?) = table.read(reader, limit: .max, 7) else {
            Issue.record("the reader lets the pump go on")
            return
        }
        let mayGoOn = table.mayGoOn(2)
        #expect(mayGoOn, "the reader still waits")
        let waiters = table.appendToMemory(Data(count: 1))
        #expect(waiters == [7])
        let isAhead = table.mayGoOn(3)
        #expect(!isAhead, "the reader has its chunk")
        let (waiter, pump) = table.detach(reader)
        #expect(waiter == nil)
        #expect(pump == 3)
        #expect(!table.isWanted)
    }

    @Test("A reader can attach only while the file has or will have the first byte")
    func attaching() {
        var table = Table()
        let early = table.attach()
        table.closeFile(after: .store(.closed))
        let late = table.attach()
        #expect(early != nil)
        #expect(late == nil)
        var failed = Table()
        _ = failed.end(.failed(.cancelled))
        let none = failed.attach()
        #expect(none == nil)
        var complete = Table(byteCount: 5)
        _ = complete.end(.end)
        let afterwards = complete.attach()
        #expect(afterwards != nil)
    }
}

/// Readers and a pump with random valid steps, and a table whose answers are checked.
private struct ReaderModel {
    private struct Reader {
        var offset: Int64 = 0
        var isWaiting = false
        var hasEnded = false
        /// Whether the reader attached after the first byte.
        let isLate: Bool
    }

    private var table: ReaderTable<UInt64, Int>
    private var readers: [UInt64: Reader] = [:]
    private var received: Int64
    private var fileEnd: Int64
    private var isFileOpen = true
    private var hasEnded = false
    private var isPumpWaiting = false

    init(byteCount: Int64) {
        table = ReaderTable(byteCount: byteCount)
        received = byteCount
        fileEnd = byteCount
    }

    mutating func step(_ generator: inout SeededGenerator) {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<2: attach()
        case 2: if let id = readers.keys.sorted().randomElement(using: &generator) { detach(id) }
        case 3..<12:
            let idle = readers.filter { !$0.value.isWaiting }.keys.sorted()
            if let id = idle.randomElement(using: &generator) { read(id, &generator) }
        case 12 where Int.random(in: 0..<8, using: &generator) == 0: closeFile()
        default:
            let longest = Bool.random(using: &generator) ? 5_000 : 150_000
            pump(.random(in: 1...longest, using: &generator))
        }
        check(generator)
    }

    /// Reads until all readers have all bytes.
    mutating func finish(_ generator: inout SeededGenerator) {
        for _ in 0..<5 { pump(1_000) }
        end()
        while let id = readers.filter({ !$0.value.hasEnded }).keys.sorted().randomElement(using: &generator) {
            read(id, &generator)
        }
        #expect(readers.values.allSatisfy { $0.offset == received }, "\(generator)")
    }

    private mutating func attach() {
        let id = table.attach()
        #expect((id != nil) == isFileOpen)
        if let id { readers[id] = Reader(isLate: received > 0) }
    }

    private mutating func detach(_ id: UInt64) {
        let (waiter, pump) = table.detach(id)
        #expect(waiter == (readers[id]?.isWaiting == true ? id : nil))
        readers[id] = nil
        resume(pump)
    }

    private mutating func read(_ id: UInt64, _ generator: inout SeededGenerator) {
        let offset = readers[id]?.offset ?? 0
        switch table.read(id, limit: .random(in: 1...200_000, using: &generator), id) {
        case .piece(.file(let range), let pump):
            #expect(range.lowerBound == offset, "\(generator)")
            #expect(!range.isEmpty, "\(generator)")
            #expect(range.upperBound <= fileEnd, "\(generator)")
            #expect(readers[id]?.isLate == true || fileEnd > ReaderTable<UInt64, Int>.smallFile, "\(generator)")
            readers[id]?.offset = range.upperBound
            resume(pump)
        case .piece(.chunk(let chunk, let isInFile), let pump):
            #expect(!chunk.isEmpty, "\(generator)")
            #expect(chunk == Self.bytes(at: offset, count: chunk.count), "\(generator)")
            readers[id]?.offset += Int64(chunk.count)
            #expect(isInFile ? readers[id]?.offset == fileEnd : offset >= fileEnd, "\(generator)")
            resume(pump)
        case .piece(.end, _):
            #expect(hasEnded, "\(generator)")
            #expect(offset == received, "\(generator)")
            readers[id]?.hasEnded = true
        case .piece(.failed, _):
            #expect(!isFileOpen, "\(generator)")
            #expect(received - max(offset, fileEnd) >= ReaderTable<UInt64, Int>.window, "\(generator)")
            readers[id] = nil
        case .gone: Issue.record("no reader has left: \(generator)")
        case .wait(let pump):
            #expect(!hasEnded, "\(generator)")
            #expect(offset == received, "\(generator)")
            readers[id]?.isWaiting = true
            resume(pump)
        }
    }

    private mutating func closeFile() {
        guard isFileOpen, !hasEnded else { return }
        isFileOpen = false
        table.closeFile(after: .store(.closed))
    }

    private mutating func pump(_ count: Int) {
        guard !isPumpWaiting, !hasEnded else { return }
        let chunk = Self.bytes(at: received, count: count)
        let waiters = isFileOpen ? table.appendToFile(chunk) : table.appendToMemory(chunk)
        #expect(Set(waiters) == Set(readers.filter(\.value.isWaiting).keys))
        for id in waiters {
            #expect(readers[id]?.offset == received)
            readers[id]?.isWaiting = false
            readers[id]?.offset += Int64(count)
        }
        received += Int64(count)
        if isFileOpen { fileEnd = received }
        #expect(table.receivedByteCount == received)
        isPumpWaiting = !table.mayGoOn(0)
    }

    private mutating func end() {
        let pump = table.takePump()
        #expect((pump != nil) == isPumpWaiting)
        isPumpWaiting = false
        hasEnded = true
        for id in table.end(.end) {
            readers[id]?.isWaiting = false
            readers[id]?.hasEnded = true
            #expect(readers[id]?.offset == received)
        }
    }

    private mutating func resume(_ pump: Int?) {
        guard pump != nil else { return }
        #expect(isPumpWaiting)
        isPumpWaiting = false
    }

    private func check(_ generator: SeededGenerator) {
        let offsets = readers.values.map(\.offset)
        guard let pace = isFileOpen ? offsets.max() : offsets.min() else {
            #expect(!isPumpWaiting, "nobody is waited for: \(generator)")
            return
        }
        let isAhead = received - pace >= ReaderTable<UInt64, Int>.window
        #expect(!isPumpWaiting || isAhead, "the pump waits although it has room: \(generator)")
    }

    /// Returns bytes that encode their position.
    private static func bytes(at position: Int64, count: Int) -> Data {
        let start = Int(position % period)
        return Data(pattern[start..<(start + count)])
    }

    private static let period: Int64 = 1_021
    private static let pattern = Data((0..<160_000).map { UInt8(truncatingIfNeeded: $0 % Int(period) * 40_503 / 256) })
}
