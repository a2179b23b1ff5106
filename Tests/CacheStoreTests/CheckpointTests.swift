import TestSupport

@Suite("Checkpoints")
struct CheckpointTests {
    let sandbox = Sandbox()

    private func size(_ suffix: String = "") throws -> Int {
        let path = sandbox.indexPath + suffix
        return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    /// Stores entries. Each adds some five pages to the WAL, plus those of its head.
    private func fill(_ store: ResponseStore, _ numbers: Range<Int>, headPages: Int = 0) throws {
        let head = String(repeating: "x", count: headPages * 4_096)
        for number in numbers {
            try store.insert(Data("\(number)".utf8), metadata: sandbox.metadata(head: head), for: .path(number))
        }
    }

    /// Stores entries in rounds. Returns the largest size of the WAL after a round and `wait`.
    private func largestWAL(
        of store: ResponseStore, rounds: Int, entries: Int, wait: () -> Void = {}
    ) throws -> Int {
        var largest = 0
        for round in 0..<rounds {
            try fill(store, round * entries..<(round + 1) * entries, headPages: 14)
            wait()
            largest = max(largest, try size("-wal"))
        }
        return largest
    }

    @Test("Copies the WAL into the index while the writer runs")
    func beside() throws {
        let store = try sandbox.open()
        // A second connection: SQLite checkpoints the WAL when the last connection closes.
        let other = try RawIndex(sandbox.indexPath)
        try fill(store, 0..<50)
        #expect(try other.value("SELECT count(*) FROM entry") == "50")
        let before = try size()
        try fill(store, 50..<200, headPages: 10)
        store.writer.checkpointer.wait()
        #expect(try size() > before)
        #expect(try other.value("SELECT count(*) FROM entry") == "200")
        #expect(try store.check(digests: true).isSound)
    }

    @Test("The WAL stays below its bound")
    func bounded() throws {
        let store = try sandbox.open()
        let largest = try largestWAL(of: store, rounds: 20, entries: 25)
        // The commit that reaches the bound exceeds it.
        #expect(largest <= 4_200 * (4_096 + 24))
        #expect(try store.check(digests: true).isSound)
    }

    @Test("A commit overwrites a copied WAL before the WAL is so long that commits wait")
    func overwritten() throws {
        let store = try sandbox.open()
        let largest = try largestWAL(of: store, rounds: 40, entries: 15) { store.writer.checkpointer.wait() }
        #expect(largest > 900 * (4_096 + 24))
        #expect(largest <= 3_600 * (4_096 + 24))
        #expect(try store.check(digests: true).isSound)
    }

    @Test("A long reader delays the restart of the WAL; it restarts after the reader")
    func heldBack() throws {
        let store = try sandbox.open()
        try fill(store, 0..<5)
        let reader = try Connection(path: sandbox.indexPath, role: .checkpointer, busyTimeout: .zero)
        try reader.beginReading()
        let largest = try largestWAL(of: store, rounds: 20, entries: 20)
        #expect(largest > 6_000 * (4_096 + 24))
        store.writer.checkpointer.wait()
        reader.endReading()
        // The lane tries again after 125 pages.
        _ = try largestWAL(of: store, rounds: 3, entries: 8) { store.writer.checkpointer.wait() }
        // SQLite truncates the file to 5,000 pages when it restarts the WAL.
        #expect(try size("-wal") <= 5_000 * 4_096)
        #expect(try store.check(digests: true).isSound)
    }

    @Test("The commit that reaches the bound restarts the WAL once the reader of the earlier copies has ended")
    func heldBackBefore() throws {
        let store = try sandbox.open()
        let reader = try Connection(path: sandbox.indexPath, role: .checkpointer, busyTimeout: .zero)
        try fill(store, 0..<5)
        try reader.beginReading()
        var number = 5
        while try walPageCounts().all < 3_950 {
            try fill(store, number..<number + 1, headPages: 14)
            store.writer.checkpointer.wait()
            number += 1
        }
        reader.endReading()
        var largest: UInt32 = 0
        for number in number..<number + 10 {
            try fill(store, number..<number + 1, headPages: 14)
            largest = max(largest, try walPageCounts().all)
        }
        #expect(largest >= 4_000)
        #expect(largest <= 4_040)
    }

    @Test("A suspension interrupts the copying of a long WAL")
    func interrupted() throws {
        let store = try sandbox.open()
        // Keeps the WAL when the store closes its last connection.
        let other = try RawIndex(sandbox.indexPath)
        _ = try other.value("SELECT count(*) FROM entry")
        var wasInterrupted = false
        // A copy may be faster than the suspension.
        for round in 0..<20 where !wasInterrupted {
            let reader = try Connection(path: sandbox.indexPath, role: .checkpointer, busyTimeout: .zero)
            try reader.beginReading()
            try fill(store, round * 300..<round * 300 + 296, headPages: 14)
            store.writer.checkpointer.wait()
            reader.endReading()
            let pageCount = try walPageCounts().all
            // Makes the WAL long enough for the next copy.
            try fill(store, round * 300 + 296..<round * 300 + 300, headPages: 40)
            store.suspend()
            wasInterrupted = try walPageCounts().copied < pageCount
            try store.resume()
        }
        #expect(wasInterrupted)
        #expect(try store.check(digests: true).isSound)
    }

    /// The pages in the WAL and the copied pages, from the WAL-index (SQLite, "WAL-mode File Format").
    private func walPageCounts() throws -> (all: UInt32, copied: UInt32) {
        let index = try Data(contentsOf: URL(filePath: sandbox.indexPath + "-shm"))
        return index.withUnsafeBytes { bytes in
            (bytes.load(fromByteOffset: 16, as: UInt32.self), bytes.load(fromByteOffset: 96, as: UInt32.self))
        }
    }

    @Test("The index, its WAL and the bodies stay below the limit together")
    func withinLimit() throws {
        let store = try sandbox.open { $0.limits = Limits(maxBytes: 32 << 20) }
        let blobs = URL(filePath: sandbox.indexPath).deletingLastPathComponent().appending(path: "blobs")
        var (largest, longest) = (0, 0)
        for round in 0..<12 {
            for number in round * 62..<(round + 1) * 62 {
                let body = Data(repeating: UInt8(truncatingIfNeeded: number), count: 64 << 10) + Data("\(number)".utf8)
                try store.insert(body, metadata: sandbox.metadata(), for: .path(number))
            }
            let wal = try size("-wal")
            longest = max(longest, wal)
            largest = max(largest, try bodyBytes(below: blobs) + size() + wal)
        }
        #expect(try store.statistics().entries < 700)
        #expect(longest <= 1_200 * (4_096 + 24))
        // Later commits delete the files of removed entries.
        #expect(largest <= 33 << 20)
        #expect(largest > 24 << 20)
    }

    private func bodyBytes(below directory: URL) throws -> Int {
        let files = try #require(FileManager.default.enumerator(atPath: directory.path(percentEncoded: false)))
        var sum = 0
        while files.nextObject() != nil {
            if files.fileAttributes?[.type] as? FileAttributeType == .typeRegular {
                sum += files.fileAttributes?[.size] as? Int ?? 0
            }
        }
        return sum
    }

    @Test("The WAL stays below its bound while several stores write")
    func boundedTogether() throws {
        let stores = try (0..<3).map { _ in try sandbox.open() }
        let largest = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: stores.count) { number in
            do {
                for round in 0..<12 {
                    let first = (number * 100 + round) * 25
                    try fill(stores[number], first..<first + 25, headPages: 14)
                    let size = try size("-wal")
                    largest.withLock { $0 = max($0, size) }
                }
            } catch {
                Issue.record(error)
            }
        }
        // While one store waits for its checkpoint, the other stores commit until the checkpoint blocks them. Without a
        // bound there would be 17,000 pages.
        #expect(largest.withLock { $0 } <= 12_000 * (4_096 + 24))
        #expect(try stores[0].check(digests: true).isSound)
    }

    @Test("No writer restarts the WAL during a read transaction")
    func pinned() throws {
        let store = try sandbox.open()
        try fill(store, 0..<5)
        let reader = try Connection(path: sandbox.indexPath, role: .checkpointer, busyTimeout: .zero)
        let other = try RawIndex(sandbox.indexPath, busyTimeout: 100)
        try reader.beginReading()
        try fill(store, 5..<10)
        #expect(try other.value("PRAGMA wal_checkpoint(RESTART)") == "1")
        reader.endReading()
        #expect(try other.value("PRAGMA wal_checkpoint(RESTART)") == "0")
    }

    @Test("A closed store has no open file, and leaves no WAL", arguments: [(1, 0), (120, 0), (120, 14)])
    func closed(_ count: Int, headPages: Int) throws {
        let store = try sandbox.open()
        try fill(store, 0..<count, headPages: headPages)
        store.close()
        #expect(!FileManager.default.fileExists(atPath: sandbox.indexPath + "-wal"))
        #expect(try sandbox.open().statistics().entries == count)
    }

    @Test("Two stores that checkpoint concurrently, and evictions that restart the WAL, lose nothing")
    func together() throws {
        let stores = try [sandbox.open(), sandbox.open { $0.secureDelete = true }]
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            do {
                let store = stores[thread % 2]
                for round in 0..<4 {
                    try fill(store, thread * 10_000 + round * 60..<thread * 10_000 + (round + 1) * 60)
                    if round == 2 { try store.removeAll(.prefix("https://example.com/\(thread)000")) }
                }
            } catch {
                Issue.record(error)
            }
        }
        for thread in 0..<4 {
            for number in thread * 10_000 + 180..<thread * 10_000 + 240 {
                #expect(try stores[0].bytes(.path(number)) == Data("\(number)".utf8))
            }
        }
        #expect(try stores[0].check(digests: true).problems == [])
    }
}
