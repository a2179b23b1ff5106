import TestSupport

@Suite("Damage to the record of requests, and kills")
struct RequestDamageTests {
    @Test("skips and counts a torn record")
    func torn() throws {
        let fixture = try RequestFixture()
        try fixture.add(0..<4)
        try fixture.patch([0xFF], at: 512 * 2 + 90)
        let records = try fixture.store.requestRecords()
        #expect(records.records.map(\.networkByteCount) == [0, 2, 3])
        #expect(records.lost == 1)
        // Lengths that lead out of the slot.
        try fixture.patch([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], at: 512 * 3 + 80)
        #expect(try fixture.numbers() == [0, 3])
        // A record of an earlier round in place of the expected one.
        let slot = try Data(contentsOf: URL(filePath: fixture.file))[512..<1024]
        try fixture.patch(Array(slot), at: 512 * 4)
        #expect(try fixture.numbers() == [0])
        // A removal erases damaged records: their partition is unknown.
        try fixture.store.removeAll(.partition("other"))
        #expect(try fixture.numbers() == [0])
        let bytes = try Data(contentsOf: URL(filePath: fixture.file))
        #expect(bytes[1024..<2048].allSatisfy { $0 == 0 })
    }

    @Test(
        "a damaged header ends the recording; switching it on starts a new record",
        arguments: [[], Array("garbage".utf8), [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 4096)])
    func header(bytes: [UInt8]) throws {
        let fixture = try RequestFixture()
        try fixture.add(0..<4)
        try fixture.patch(Array("x".utf8), at: 24)
        #expect(try fixture.store.requestRecording() == nil)
        try Data(bytes).write(to: URL(filePath: fixture.file))
        fixture.store.requests.look()
        #expect(fixture.store.requests.beginning == nil)
        let records = try fixture.store.requestRecords()
        #expect(records.records == [])
        #expect(records.next == nil)
        try fixture.store.stopRecordingRequests()
        try fixture.store.removeAll(.partition(""))
        try fixture.store.clear()
        try fixture.store.startRecordingRequests(capacity: 4)
        try fixture.add(0..<2)
        #expect(try fixture.numbers() == [0, 1])
    }

    @Test("a file that another process truncates loses records, and no process crashes", arguments: [0, 64, 600, 1024])
    func truncated(byteCount: UInt64) throws {
        let fixture = try RequestFixture()
        try fixture.add(0..<6)
        let handle = try FileHandle(forUpdating: URL(filePath: fixture.file))
        try handle.truncate(atOffset: byteCount)
        try handle.close()
        let records = try fixture.store.requestRecords()
        #expect(records.records.count == (byteCount == 1024 ? 1 : 0))
        if byteCount > 0 { #expect(records.lost == (byteCount == 1024 ? 5 : 6)) }
        try fixture.add(6..<8)
        #expect(try fixture.numbers() == (byteCount == 0 ? [] : byteCount == 1024 ? [0, 6, 7] : [6, 7]))
    }

    @Test("follows no link, and opens nothing but a regular file", arguments: ["link", "fifo", "directory"])
    func planted(kind: String) throws {
        let fixture = try RequestFixture(capacity: nil)
        let target = fixture.sandbox.directory.path + "/target"
        try Data("untouched".utf8).write(to: URL(filePath: target))
        switch kind {
        case "link": try FileManager.default.createSymbolicLink(atPath: fixture.file, withDestinationPath: target)
        case "fifo": try #require(mkfifo(fixture.file, 0o600) == 0)
        default: try FileManager.default.createDirectory(atPath: fixture.file, withIntermediateDirectories: false)
        }
        #expect(throws: StoreError.self) { try fixture.store.startRecordingRequests() }
        #expect(throws: StoreError.self) { try fixture.store.requestRecords() }
        fixture.store.requests.look()
        #expect(fixture.store.requests.beginning == nil)
        fixture.store.close()
        // Opening succeeds without the record.
        let store = try fixture.sandbox.open { $0.recordsRequests = true }
        #expect(store.requests.beginning == nil)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "untouched")
    }

    // MARK: Processes

    /// Records requests with increasing numbers, in batches, until `deadline` or forever.
    private static func work(_ path: String, first: Int, batches: Int?) throws {
        let store = try ResponseStore(directory: URL(filePath: path))
        store.requests.look()
        var number = first
        var batch = 0
        while batches.map({ batch < $0 }) ?? true {
            try RequestFixture.add(number..<number + 37, to: store)
            number += 37
            batch += 1
        }
        // A flush gives up after 20 ms if another process has the file locked, and the last flush, at the close, drops
        // its records.
        while store.requests.pendingCount > 0 { store.requests.flush() }
        store.close()
    }

    @Test("two processes write concurrently: no record is lost or torn, and each process keeps its order")
    func processes() async throws {
        let fixture = try RequestFixture(capacity: 65_536)
        async let first: ExitTest.Result? = #expect(processExitsWith: .success) {
            [path = fixture.sandbox.path as String] in try Self.work(path, first: 0, batches: 200)
        }
        async let second: ExitTest.Result? = #expect(processExitsWith: .success) {
            [path = fixture.sandbox.path as String] in try Self.work(path, first: 1_000_000, batches: 200)
        }
        _ = await (first, second)
        let records = try fixture.store.requestRecords(limit: .max)
        #expect(records.lost == 0)
        let numbers = records.records.map { Int($0.networkByteCount) }
        #expect(numbers.filter { $0 < 1_000_000 } == Array(0..<7_400))
        #expect(numbers.filter { $0 >= 1_000_000 } == Array(1_000_000..<1_007_400))
        #expect(Set(records.records.map(\.processID)).count == 2)
    }

    @Test("a kill during a write leaves a record that can be read and continued")
    func killed() async throws {
        let fixture = try RequestFixture(capacity: 100)
        for round in 0..<Repetitions.count(8, debug: 3) {
            await #expect(processExitsWith: .signal(9)) {
                [path = fixture.sandbox.path as String, delay = UInt32(3_000 + round * 7_919) as UInt32] in
                Thread.detachNewThread {
                    usleep(delay)
                    kill(getpid(), SIGKILL)
                }
                try Self.work(path, first: 0, batches: nil)
            }
            let records = try fixture.store.requestRecords()
            let recording = try #require(try fixture.store.requestRecording())
            #expect(recording.isOn)
            // A kill during a write can tear at most one record, beyond the last number or among the oldest.
            #expect(records.records.count >= Int(recording.count) - 37 - 1)
            for record in records.records { #expect(record.url.hasPrefix("https://example.com/")) }
            let cursor = records.next
            try fixture.add(0..<3)
            #expect(try fixture.numbers(since: cursor) == [0, 1, 2])
        }
    }

    @Test("a process that writes stops when another one switches the recording off")
    func switchedOff() async throws {
        let fixture = try RequestFixture(capacity: 1_000)
        let store = fixture.store
        async let child: ExitTest.Result? = #expect(processExitsWith: .success) {
            [path = fixture.sandbox.path as String] in
            let store = try ResponseStore(directory: URL(filePath: path))
            store.requests.look()
            // Ends when the switch is off.
            while let beginning = store.requests.beginning {
                store.requests.add(try RequestFixture.record(1), since: beginning)
                store.requests.flush()
            }
            store.close()
        }
        try await eventually { try !store.requestRecords(limit: 1).records.isEmpty }
        try store.stopRecordingRequests()
        let end = try store.requestRecording()?.end
        _ = await child
        #expect(try store.requestRecording()?.end == end)
    }
}
