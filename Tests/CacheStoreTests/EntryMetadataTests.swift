import TestSupport

@Suite("EntryMetadata")
struct EntryMetadataTests {
    let sandbox = Sandbox()
    let store: ResponseStore

    init() throws { store = try sandbox.open() }

    @Test("every value reads back unchanged, after the commit and from a reopened store", .requirement("A1"))
    func roundTrip() throws {
        let key = try CacheKey.path("full")
        let metadata = EntryMetadata(
            kind: .error, variant: "accept: a\u{0}b\n", url: "https://other.example/é", status: 599, etag: "W/\"é\"",
            lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", contentType: "text/html; charset=\"utf-8\"",
            requestedAt: Date(timeIntervalSince1970: -1), receivedAt: Date(timeIntervalSince1970: 4_102_444_800),
            expiresAt: Date(timeIntervalSince1970: 253_402_300_799), isBodyDecoded: true,
            head: Array(0...255) + Array("Set-Cookie: a\nSet-Cookie: b\n".utf8))
        let committed = try store.insert(Data("body".utf8), metadata: metadata, for: key)
        store.close()
        let found = try sandbox.open().responses(for: key)
        #expect(found == [committed])
        #expect(found.first?.metadata == metadata)
        #expect(found.first?.createdAt == sandbox.clock.now)
        #expect(found.first?.byteCount == 4)
    }

    @Test("unknown values stay unknown, and an empty body stays empty", .requirement("A1"))
    func minimal() throws {
        let key = try CacheKey.path("empty")
        let metadata = EntryMetadata(requestedAt: sandbox.clock.now, receivedAt: sandbox.clock.now)
        try store.insert(Data(), metadata: metadata, for: key)
        store.close()
        let reopened = try sandbox.open()
        let entry = try #require(try reopened.lookup(key))
        #expect(entry.metadata == metadata)
        #expect(entry.digest == nil)
        let body = try #require(try reopened.openBody(of: entry))
        #expect(try body.data() == Data())
        #expect(body.fileURL == nil)
        #expect(sandbox.files() == [])
    }

    @Test("the bytes 0x80 to 0xFF of a head read back unchanged", .requirement("P28"))
    func headBytes() throws {
        var metadata = sandbox.metadata()
        metadata.head = Array("X: ".utf8) + Array(0x80...0xFF) + [0x0A]
        let key = try CacheKey.path("latin")
        try store.insert(Data(), metadata: metadata, for: key)
        #expect(try store.peek(key)?.metadata.head == metadata.head)
    }

    @Test("times have whole milliseconds, and survive a round trip")
    func milliseconds() throws {
        let key = try CacheKey.path("time")
        var generator = SeededGenerator()
        for _ in 0..<300 {
            var metadata = sandbox.metadata()
            metadata.receivedAt = Date(timeIntervalSince1970: .random(in: -1e10...1e10, using: &generator))
            let committed = try store.insert(Data(), metadata: metadata, for: key)
            let first = try #require(try store.peek(key))
            #expect(first == committed, "\(generator)")
            #expect(abs(first.metadata.receivedAt.timeIntervalSince(metadata.receivedAt)) <= 0.001)
            try store.freshen(first, with: first.metadata)
            #expect(try store.peek(key)?.metadata == first.metadata, "\(generator)")
        }
    }

    @Test(
        "times out of range are clamped, without a trap",
        arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300, .greatestFiniteMagnitude])
    func hostileTimes(_ seconds: Double) throws {
        var metadata = sandbox.metadata()
        metadata.expiresAt = Date(timeIntervalSince1970: seconds)
        let key = try CacheKey.path("time")
        try store.insert(Data("x".utf8), metadata: metadata, for: key)
        let entry = try #require(try store.lookup(key))
        #expect(try store.freshen(entry, with: entry.metadata))
        _ = try store.query("SELECT * FROM cache_entries")
    }

    @Test("refuses values of more than maxHeadByteCount bytes in every field")
    func tooLarge() throws {
        let key = try CacheKey.path("large")
        let entry = try store.insert(Data("old".utf8), metadata: sandbox.metadata(), for: key)
        let long = String(repeating: "x", count: EntryMetadata.maxHeadByteCount + 1)
        var tooLarge = [EntryMetadata](repeating: sandbox.metadata(), count: 6)
        tooLarge[0].head = Array(long.utf8)
        tooLarge[1].etag = long
        tooLarge[2].lastModified = long
        tooLarge[3].contentType = long
        tooLarge[4].variant = long
        tooLarge[5].url = long
        let expected = StoreError.headTooLarge(byteCount: long.utf8.count, limit: EntryMetadata.maxHeadByteCount)
        for metadata in tooLarge {
            #expect(throws: expected) { try store.insert(Data("new".utf8), metadata: metadata, for: key) }
            #expect(throws: expected) { try store.freshen(entry, with: metadata) }
        }
        #expect(try store.bytes(key) == Data("old".utf8))
        #expect(try store.statistics().entries == 1)
        #expect(sandbox.files().count == 1)
    }
}
