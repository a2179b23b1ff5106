import TestSupport

/// A store and its record of requests.
struct RequestFixture {
    let sandbox: Sandbox
    let store: ResponseStore

    /// - Parameter capacity: The capacity of the record, or `nil` to leave the recording off.
    init(capacity: Int? = 8) throws {
        sandbox = Sandbox()
        store = try sandbox.open()
        if let capacity { try store.startRecordingRequests(capacity: capacity) }
    }

    var file: String { sandbox.path + "/requests" }

    static func record(_ number: Int, partition: String = "", url: String? = nil) throws -> RequestRecord {
        let key = try CacheKey(url: url ?? "https://example.com/\(number)", partition: partition)
        var record = RequestRecord(
            startedAt: Date(timeIntervalSince1970: Double(number)), method: "GET", target: key, outcome: .hit)
        record.networkByteCount = Int64(number)
        return record
    }

    /// Records requests with the given numbers, and writes them.
    static func add(_ numbers: Range<Int>, partition: String = "", to store: ResponseStore) throws {
        for number in numbers {
            guard let beginning = store.requests.beginning else { continue }
            store.requests.add(try record(number, partition: partition), since: beginning)
        }
        store.requests.flush()
    }

    func add(_ numbers: Range<Int>, partition: String = "") throws {
        try Self.add(numbers, partition: partition, to: store)
    }

    /// The numbers of the records since a cursor.
    func numbers(since cursor: RequestCursor? = nil) throws -> [Int64] {
        try store.requestRecords(since: cursor).records.map(\.networkByteCount)
    }

    /// Changes bytes of the file.
    func patch(_ bytes: [UInt8], at offset: Int) throws {
        let handle = try FileHandle(forUpdating: URL(filePath: file))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data(bytes))
    }
}

@Suite("Record of requests")
struct RequestRecordTests {
    @Test("off by default: no file, no record, nothing to read")
    func off() throws {
        let fixture = try RequestFixture(capacity: nil)
        #expect(fixture.store.requests.beginning == nil)
        try fixture.add(0..<3)
        #expect(try fixture.store.requestRecording() == nil)
        let records = try fixture.store.requestRecords()
        #expect(records.records == [])
        #expect(records.next == nil)
        #expect(records.lost == 0)
        #expect(!FileManager.default.fileExists(atPath: fixture.file))
        try fixture.store.stopRecordingRequests(discardsRecords: true)
        #expect(!FileManager.default.fileExists(atPath: fixture.file))
    }

    @Test("a record keeps every property, and the file is for its owner only")
    func properties() throws {
        let fixture = try RequestFixture()
        let key = try CacheKey(url: "https://[::1]:81/ä?q=1", partition: "user-17")
        var record = RequestRecord(
            startedAt: Date(timeIntervalSince1970: 1_800_000_000.25), method: "HEAD", target: key,
            key: try CacheKey(name: "feed", partition: "user-17"), outcome: .revalidated, isBackground: true)
        record.status = 304
        record.contentByteCount = 0
        record.diskByteCount = 5
        record.networkByteCount = 1 << 40
        record.latency = .microseconds(1_234)
        record.duration = .seconds(100_000)
        record.forwardCode = 7
        record.replyCode = 255
        let beginning = try #require(fixture.store.requests.beginning)
        fixture.store.requests.add(record, since: beginning)
        fixture.store.requests.flush()
        let read = try #require(try fixture.store.requestRecords().records.first)
        record.processID = getpid()
        #expect(read == record)
        #expect(read.host == "[::1]")
        #expect(!read.isTruncated)
        #expect(read.partition == "user-17")
        #expect(try FileManager.default.attributesOfItem(atPath: fixture.file)[.posixPermissions] as? Int == 0o600)
    }

    @Test("truncates long texts at a whole character, and marks them", arguments: ["a", "ä", "€", "😀"])
    func truncation(character: String) throws {
        let fixture = try RequestFixture()
        let beginning = try #require(fixture.store.requests.beginning)
        let name = String(repeating: character, count: 500)
        let key = try CacheKey(name: name)
        let start = Date(timeIntervalSince1970: 0)
        let method = String(repeating: "M", count: 30)
        let partition = String(repeating: "p", count: 200)
        for (key, method) in [
            (key, "GET"), (try CacheKey(url: "http://a/"), method),
            (try CacheKey(url: "http://a/", partition: partition), "GET"),
        ] {
            fixture.store.requests.add(
                RequestRecord(startedAt: start, method: method, target: key, outcome: .miss), since: beginning)
        }
        fixture.store.requests.flush()
        let records = try fixture.store.requestRecords().records
        try #require(records.count == 3)
        #expect(records.map(\.isTruncated) == [true, true, true])
        #expect("name=\(name)".hasPrefix(records[0].url))
        #expect(!records[0].url.contains("\u{FFFD}"))
        // The slot has 424 bytes for texts; the method takes three of them.
        #expect((422 - character.utf8.count...421).contains(records[0].url.utf8.count))
        #expect(records[1].method == String(repeating: "M", count: 24))
        #expect(records[2].partition == String(repeating: "p", count: 128))
        #expect(records[2].url == "http://a/")
    }

    @Test("a full record overwrites the oldest requests, and the reader counts them")
    func full() throws {
        let fixture = try RequestFixture(capacity: 8)
        try fixture.add(0..<5)
        let first = try fixture.store.requestRecords(limit: 3)
        #expect(first.records.map(\.networkByteCount) == [0, 1, 2])
        #expect(first.lost == 0)
        try fixture.add(5..<20)
        let late = try fixture.store.requestRecords(since: first.next)
        #expect(late.records.map(\.networkByteCount) == Array(12..<20))
        #expect(late.lost == 9)
        #expect(try fixture.store.requestRecords(since: late.next).records == [])
        let fresh = try fixture.store.requestRecords()
        #expect(fresh.records.count == 8)
        #expect(fresh.lost == 12)
        let recording = try #require(try fixture.store.requestRecording())
        #expect(recording.isOn)
        #expect(recording.capacity == 8)
        #expect(recording.count == 8)
        #expect(recording.lost == 12)
        #expect(recording.byteCount == 9 * 512)
        #expect(recording.end == late.next)
        // A batch of more requests than the file can hold.
        try fixture.add(20..<60)
        #expect(try fixture.numbers() == Array(52..<60))
        #expect(try fixture.store.requestRecords(since: late.next).lost == 32)
    }

    @Test("a cursor survives as text; the cursor of a replaced record starts again")
    func cursors() throws {
        let fixture = try RequestFixture()
        try fixture.add(0..<4)
        let cursor = try #require(try fixture.store.requestRecords(limit: 2).next)
        #expect(RequestCursor("\(cursor)") == cursor)
        #expect(try fixture.numbers(since: RequestCursor("\(cursor)")) == [2, 3])
        for text in ["", "-", "1", "x-1", "1-x", "1-2-3", "1--2", " 1-2"] { #expect(RequestCursor(text) == nil) }
        try fixture.store.startRecordingRequests(capacity: 9)
        try fixture.add(10..<12)
        #expect(try fixture.numbers(since: cursor) == [10, 11])
        // The same capacity, or none, continues the record.
        try fixture.store.startRecordingRequests(capacity: 9)
        try fixture.store.startRecordingRequests()
        #expect(try fixture.numbers() == [10, 11])
    }

    @Test("the switch belongs to the store: every process follows it, even during requests")
    func switching() throws {
        let fixture = try RequestFixture(capacity: nil)
        let other = try fixture.sandbox.open()
        #expect(other.requests.beginning == nil)
        try fixture.store.startRecordingRequests(capacity: 8)
        other.requests.look()
        try RequestFixture.add(0..<2, to: other)
        try fixture.add(2..<3)
        #expect(try fixture.numbers() == [0, 1, 2])
        let beginning = try #require(other.requests.beginning)
        try fixture.store.stopRecordingRequests()
        #expect(try fixture.store.requestRecording()?.isOn == false)
        // The other process has not read the switch yet: its next batch finds the switch off.
        other.requests.add(try RequestFixture.record(3), since: beginning)
        other.requests.flush()
        #expect(other.requests.beginning == nil)
        #expect(try fixture.numbers() == [0, 1, 2])
        try other.stopRecordingRequests(discardsRecords: true)
        #expect(!FileManager.default.fileExists(atPath: fixture.file))
        #expect(try fixture.store.requestRecords().next == nil)
    }

    @Test("the configuration switches the recording when a store opens; without a choice the setting stays")
    func configuration() throws {
        let sandbox = Sandbox()
        for (choice, expected) in [(true, true), (nil, true), (false, false), (nil, false)] as [(Bool?, Bool)] {
            let store = try sandbox.open { $0.recordsRequests = choice }
            #expect(try store.requestRecording()?.isOn == expected)
            #expect((store.requests.beginning != nil) == expected)
            store.close()
        }
        let reader = try sandbox.open {
            $0.isReadOnly = true
            $0.recordsRequests = true
        }
        #expect(try reader.requestRecording()?.isOn == false)
        #expect(throws: StoreError.readOnly(path: sandbox.path)) { try reader.startRecordingRequests() }
    }

    @Test("closing and suspending write the records in memory; a resumed store records again")
    func lifecycle() throws {
        let fixture = try RequestFixture()
        func add(_ number: Int) throws {
            let beginning = try #require(fixture.store.requests.beginning)
            fixture.store.requests.add(try RequestFixture.record(number), since: beginning)
        }
        try add(0)
        fixture.store.suspend()
        #expect(fixture.store.requests.beginning == nil)
        #expect(throws: StoreError.suspended) { try fixture.store.requestRecords() }
        try fixture.store.resume()
        try add(1)
        try fixture.store.flush()
        #expect(try fixture.numbers() == [0, 1])
        try add(2)
        fixture.store.close()
        let reader = try fixture.sandbox.open { $0.isReadOnly = true }
        #expect(reader.requests.beginning == nil)
        #expect(try reader.requestRecords().records.map(\.networkByteCount) == [0, 1, 2])
    }

    @Test("too many requests in memory are dropped and counted; no call waits")
    func dropped() throws {
        let fixture = try RequestFixture(capacity: 20_000)
        let lock = try #require(try RequestRing.open(in: .openDirectory(atPath: fixture.sandbox.path)))
        let beginning = try #require(fixture.store.requests.beginning)
        let record = try RequestFixture.record(1)
        _ = try lock.withLock(within: .zero) {
            for _ in 0..<RequestRecorder.maxPending + 100 { fixture.store.requests.add(record, since: beginning) }
            fixture.store.requests.flush()
        }
        fixture.store.requests.flush()
        let records = try fixture.store.requestRecords(limit: .max)
        #expect(records.records.count + Int(records.lost) == RequestRecorder.maxPending + 100)
        #expect(records.lost == 100)
    }

    // MARK: Removals

    @Test("the removal of a partition erases its requests, also unfinished ones; removing everything erases all")
    func removal() throws {
        let fixture = try RequestFixture(capacity: 16)
        let other = try fixture.sandbox.open()
        other.requests.look()
        let long = String(repeating: "p", count: 200)
        try fixture.add(0..<2, partition: "alice")
        try fixture.add(2..<4, partition: "alicea")
        try fixture.add(4..<5, partition: long)
        try fixture.add(5..<6)
        let beginning = try #require(other.requests.beginning)
        try fixture.store.removeAll(.partition("alice"))
        #expect(try fixture.numbers() == [2, 3, 4, 5])
        // A request that began before the removal ends after it.
        other.requests.add(try RequestFixture.record(6, partition: "alice"), since: beginning)
        other.requests.flush()
        #expect(try fixture.numbers() == [2, 3, 4, 5])
        let bytes = try Data(contentsOf: URL(filePath: fixture.file))
        #expect(bytes.range(of: Data("alicehttps".utf8)) == nil)
        try fixture.store.removeAll(.partition(long))
        #expect(try fixture.numbers() == [2, 3, 5])
        // These removals do not change the record.
        try fixture.store.removeAll(.host("example.com"))
        try fixture.store.removeAll(EntrySelection(partition: "alicea", host: "example.com"))
        try fixture.store.removeAll(.everything, dryRun: true)
        try fixture.store.remove(.path("5"))
        #expect(try fixture.numbers() == [2, 3, 5])
        other.requests.look()
        try RequestFixture.add(7..<8, to: other)
        #expect(try fixture.numbers() == [2, 3, 5, 7])
        let cursor = try fixture.store.requestRecords(limit: 1).next
        try fixture.store.clear()
        #expect(try fixture.numbers() == [])
        #expect(try Data(contentsOf: URL(filePath: fixture.file)).count == 512)
        try fixture.add(8..<9)
        #expect(try fixture.numbers(since: cursor) == [8])
        #expect(try fixture.store.requestRecording()?.isOn == true)
    }

    @Test("a store that deletes securely erases the requests for a removed key, and all after any other removal")
    func secureRemoval() throws {
        let fixture = try RequestFixture(capacity: 16)
        let store = try fixture.sandbox.open { $0.secureDelete = true }
        try fixture.add(0..<4)
        let key = try CacheKey(url: try RequestFixture.record(2).url)
        try store.remove(key)
        #expect(try fixture.numbers() == [0, 1, 3])
        let bytes = try Data(contentsOf: URL(filePath: fixture.file))
        #expect(bytes.range(of: Data(key.text.utf8)) == nil)
        try store.removeAll(.host("example.org"))
        #expect(try fixture.numbers() == [])
    }
}
