import TestSupport

/// Bodies whose store is suspended during the write. On Darwin's code paths, their files have names below `staging/`,
/// which the sweep of another process deletes. On Linux's code paths, the files have no names.
@Suite("Bodies across suspensions")
struct SuspendedBodyTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var isDurable = false
        /// Whether a beginning of the body is an entry before the suspension, and a longer one after it.
        var hasPrefix = false
        /// The number of bytes written before each suspension.
        var byteCounts = [300_000]
    }

    let sandbox = Sandbox()
    private let body = Data.noise(900_000, seed: 8)

    private func write(upTo count: Int, _ writer: BodyWriter) throws {
        while writer.byteCount < count {
            let start = Int(writer.byteCount)
            try writer.write(body[start..<min(start + 50_000, count)])
        }
    }

    private func commitPrefix(_ writer: BodyWriter, replacing previous: StoredEntry?) async throws -> StoredEntry {
        var metadata = sandbox.metadata(etag: "\"1\"")
        metadata.part = EntryPart(start: 0, completeLength: Int64(body.count))
        return try #require(try await writer.commitPrefix(metadata, for: .path("a"), replacing: previous))
    }

    private func sweep() async throws -> Int {
        let other = try sandbox.open()
        defer { other.close() }
        return try await other.sweep().stagedFiles
    }

    @Test(
        "a body continues after a suspension with a sweep by another process, and is stored whole",
        arguments: [
            Case(testDescription: "relaxed"),
            Case(testDescription: "durable", isDurable: true),
            Case(testDescription: "complete before the suspension", byteCounts: [900_000]),
            Case(testDescription: "three suspensions", byteCounts: [200_000, 400_000, 600_000]),
            Case(testDescription: "with a prefix", hasPrefix: true),
            Case(testDescription: "durable, with a prefix", isDurable: true, hasPrefix: true),
            Case(
                testDescription: "three suspensions, with prefixes", hasPrefix: true,
                byteCounts: [200_000, 300_000, 500_000]),
        ])
    func goesOn(_ test: Case) async throws {
        let store = try sandbox.open { $0.durability = test.isDurable ? .durable : .relaxed }
        let writer = store.makeBodyWriter()
        var prefix: StoredEntry?
        var swept = 0
        for count in test.byteCounts {
            try write(upTo: count, writer)
            if test.hasPrefix { prefix = try await commitPrefix(writer, replacing: prefix) }
            store.suspend()
            swept += try await sweep()
            try store.resume()
        }
        // A file without prefixes is copied only at its end.
        #expect(swept == (DarwinPaths.areForced ? test.hasPrefix ? test.byteCounts.count : 1 : 0))
        if let first = prefix {
            #expect(try store.openBody(of: first)?.data() == body.prefix(test.byteCounts.last ?? 0))
            try write(upTo: 600_000, writer)
            let second = try await commitPrefix(writer, replacing: first)
            #expect(try store.openBody(of: second)?.data() == body.prefix(600_000))
            #expect(try await sweep() == 0, "the file that goes on has a lock")
            prefix = second
        }
        try write(upTo: body.count, writer)
        #expect(try writer.written().data() == body)
        try await writer.commit(sandbox.metadata(), for: .path("a"), replacing: prefix.map { [$0] } ?? [])
        #expect(try store.bytes(.path("a")) == body)
        #expect(try await store.check(digests: true).problems == [])
        writer.discard()
        // The ballast may be staged under a name, too.
        store.close()
        let left = try? FileManager.default.contentsOfDirectory(atPath: sandbox.path + "/staging")
        #expect(left ?? [] == [])
    }
}
