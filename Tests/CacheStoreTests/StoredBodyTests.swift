import TestSupport

@Suite("StoredBody")
struct StoredBodyTests {
    let sandbox = Sandbox()

    static let threshold = Int(StoredBody.mappingThreshold)

    @Test(
        "data() is the body, copied or mapped",
        arguments: [0, 1, 16_384, threshold - 1, threshold, threshold + 1, 3_000_000])
    func data(_ count: Int) throws {
        let store = try sandbox.open()
        let data = Data.noise(count, seed: 7)
        let entry = try store.insert(data, metadata: sandbox.metadata(), for: .path("a"))
        let body = try #require(try store.openBody(of: entry))
        #expect(try body.data() == data)
        #expect(body.byteCount == Int64(count))
        #expect(body.digest == entry.digest)
        #expect(try body.fileURL.map { try Data(contentsOf: $0) } ?? Data() == data)
    }

    @Test(
        "bytes(at:count:) returns the part of the range that exists",
        arguments: [
            (0, 10, 0..<10), (0, 0, 0..<0), (3, 4, 3..<7), (9, 1, 9..<10), (9, 5, 9..<10), (10, 1, 0..<0),
            (11, 1, 0..<0), (0, Int.max, 0..<10), (Int.max, Int.max, 0..<0),
        ])
    func ranges(_ offset: Int, _ count: Int, _ expected: Range<Int>) throws {
        let store = try sandbox.open()
        let data = Data("0123456789".utf8)
        let entry = try store.insert(data, metadata: sandbox.metadata(), for: .path("a"))
        let body = try #require(try store.openBody(of: entry))
        #expect(try body.bytes(at: Int64(offset), count: count) == data[expected])
    }

    @Test(
        "an open body stays readable when its entry is removed, evicted or replaced, or the store is closed",
        arguments: ["remove", "evict", "replace", "close"])
    func undisturbed(by change: String) throws {
        let store = try sandbox.open()
        let data = Data.noise(Self.threshold * 2, seed: 9)
        let entry = try store.insert(data, metadata: sandbox.metadata(), for: .path("a"))
        let body = try #require(try store.openBody(of: entry))
        let mapped = try body.data()
        switch change {
        case "remove": try store.remove(.path("a"))
        case "evict": try store.evict(maxBytes: 0)
        case "replace": try store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("a"))
        default: store.close()
        }
        if change != "close" {
            try store.flush()
            #expect(sandbox.files().count == (change == "replace" ? 1 : 0))
        }
        #expect(mapped == data)
        #expect(try body.data() == data)
        #expect(try body.bytes(at: 5, count: 100) == data[5..<105])
    }

    @Test("a file truncated while it is open throws, and never returns wrong bytes", arguments: [100, threshold])
    func truncated(_ count: Int) throws {
        let store = try sandbox.open()
        let entry = try store.insert(Data.noise(count, seed: 1), metadata: sandbox.metadata(), for: .path("a"))
        let body = try #require(try store.openBody(of: entry))
        let file = try #require(body.fileURL)
        try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(count - 1))
        let path = file.path(percentEncoded: false)
        #expect(throws: StoreError.truncatedBody(path: path)) { try body.data() }
        #expect(throws: StoreError.truncatedBody(path: path)) { try body.bytes(at: 1, count: count) }
    }
}
