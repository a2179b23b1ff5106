import TestSupport

@Suite("BodyWriter")
struct BodyWriterTests {
    let sandbox = Sandbox()

    @Test("chunks become one body", arguments: [[1, 2, 3], [0, 70_000, 0, 5], [300_000, 1], []])
    func pieces(_ counts: [Int]) throws {
        let store = try sandbox.open()
        let writer = store.makeBodyWriter()
        var body = Data()
        for (number, count) in counts.enumerated() {
            let piece = Data.noise(count, seed: UInt64(number))
            try writer.write(piece)
            body += piece
            #expect(writer.byteCount == Int64(body.count))
        }
        #expect(try writer.written().data() == body)
        let entry = try writer.commit(sandbox.metadata(), for: .path("a"))
        #expect(entry.byteCount == Int64(body.count))
        #expect(entry.digest == (body.isEmpty ? nil : ContentDigest(of: body)))
        #expect(try store.bytes(.path("a")) == body)
        #expect(try writer.written().data() == body)
    }

    @Test("written bytes have no file URL before the commit")
    func writtenHasNoFile() throws {
        let writer = try sandbox.open().makeBodyWriter()
        try writer.write(Data("a".utf8))
        #expect(try writer.written().fileURL == nil)
    }

    @Test("a released or discarded writer leaves nothing behind")
    func abandoned() throws {
        let store = try sandbox.open()
        try store.makeBodyWriter().write(Data("a".utf8))
        let writer = store.makeBodyWriter()
        try writer.write(Data("b".utf8))
        writer.discard()
        #expect(sandbox.files() == [])
        #expect(throws: StoreError.closed) { try writer.write(Data("c".utf8)) }
        #expect(throws: StoreError.closed) { try writer.commit(sandbox.metadata(), for: .path("a")) }
        #expect(throws: StoreError.closed) { try writer.written() }
        #expect(try store.check().files == 0)
    }

    @Test("a second commit throws")
    func commitTwice() throws {
        let store = try sandbox.open()
        let writer = store.makeBodyWriter()
        try writer.write(Data("a".utf8))
        try writer.commit(sandbox.metadata(), for: .path("a"))
        #expect(throws: StoreError.closed) { try writer.commit(sandbox.metadata(), for: .path("b")) }
        #expect(throws: StoreError.closed) { try writer.write(Data("b".utf8)) }
        writer.discard()
        #expect(try store.bytes(.path("a")) == Data("a".utf8))
    }

    @Test("a writer discarded while its commit waits throws closed, and the old entry stays")
    func discardedWhileCommitting() async throws {
        let store = try sandbox.open { $0.busyTimeout = .seconds(60) }
        let old = try await store.insert(Data("old".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let other = try RawIndex(sandbox.indexPath)
        try other.execute("BEGIN IMMEDIATE")
        let writer = store.makeBodyWriter()
        try writer.write(Data("new".utf8))
        let commit = await store.startChanges(1) { [sandbox] _ in
            _ = try await writer.commit(sandbox.metadata(), for: .path("a"))
        }
        writer.discard()
        try other.execute("ROLLBACK")
        await #expect(throws: StoreError.closed) { try await commit[0].value }
        #expect(try store.peek(.path("a")) == old)
        #expect(try await store.check().isSound)
    }

    @Test("a commit whose head exceeds the limit leaves the writer usable")
    func headTooLarge() throws {
        let store = try sandbox.open()
        let writer = store.makeBodyWriter()
        try writer.write(Data("a".utf8))
        var metadata = sandbox.metadata()
        metadata.head = [UInt8](repeating: 0x41, count: EntryMetadata.maxHeadByteCount + 1)
        #expect(throws: StoreError.self) { try writer.commit(metadata, for: .path("a")) }
        #expect(try writer.written().data() == Data("a".utf8))
        metadata.head.removeLast()
        try writer.commit(metadata, for: .path("a"))
        #expect(try store.peek(.path("a"))?.metadata.head.count == EntryMetadata.maxHeadByteCount)
    }
}
