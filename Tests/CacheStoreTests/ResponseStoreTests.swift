import CSQLite
import TestSupport

@Suite("ResponseStore")
struct ResponseStoreTests {
    let sandbox = Sandbox()
    let store: ResponseStore
    let key: CacheKey

    init() throws { (store, key) = (try sandbox.open(), try .path("a")) }

    /// Last access and hits of the entries, in SQL, in the order of their keys.
    func uses() throws -> [[String?]] {
        try RawIndex(sandbox.indexPath).rows("SELECT accessed_at, hit_count FROM cache_entries ORDER BY key")
    }

    // MARK: Keeping

    @Test("stored bodies survive reopening, byte for byte", .requirement("A1"))
    func reopen() throws {
        let bodies = [Data(), Data("x".utf8), .noise(16_384, seed: 1), .noise(1_000_000, seed: 2)]
        for (number, body) in bodies.enumerated() {
            try store.insert(body, metadata: sandbox.metadata(), for: .path(number))
        }
        store.close()
        let reopened = try sandbox.open { $0.verification = .everyRead }
        for (number, body) in bodies.enumerated() { #expect(try reopened.bytes(.path(number)) == body) }
        #expect(try reopened.check(digests: true).isSound)
    }

    @Test("acknowledged entries survive the kill of their process", .requirement("A1"))
    func killedAfterAcknowledgement() async throws {
        let sandbox = Sandbox()
        await #expect(processExitsWith: .signal(9)) { [path = sandbox.path as String] in
            try Self.fillAndDie(path)
        }
        let store = try sandbox.open()
        for number in 0..<3 { #expect(try store.bytes(.path(number)) == .noise(20_000, seed: UInt64(number))) }
        #expect(try store.failure(for: .path("failing"))?.count == 2)
        #expect(try await store.check(digests: true).isSound)
    }

    private static func fillAndDie(_ path: String) throws {
        let store = try ResponseStore(directory: URL(filePath: path))
        for number in 0..<3 {
            try store.insert(Data.noise(20_000, seed: UInt64(number)), metadata: .now, for: .path(number))
        }
        for _ in 0..<2 { try store.recordFailure(for: .path("failing"), status: 500) }
        kill(getpid(), SIGKILL)
    }

    @Test("a replacement replaces body, head and validators together", .requirement("C5"))
    func replace() throws {
        let old = try store.insert(
            Data("old".utf8), metadata: sandbox.metadata(etag: "\"A\"", expiresIn: 60, head: "A: 1\n"), for: key)
        sandbox.clock.advance(by: 5)
        let new = try store.insert(Data("new".utf8), metadata: sandbox.metadata(head: "B: 2\n"), for: key)
        let found = try #require(try store.peek(key))
        #expect(found == new)
        #expect(found.metadata.etag == nil)
        #expect(found.metadata.expiresAt == nil)
        #expect(found.createdAt == sandbox.clock.now)
        #expect(try store.bytes(key) == Data("new".utf8))
        #expect(try store.statistics().entries == 1)
        try store.flush()
        #expect(sandbox.files().count == 1)
        #expect(try store.openBody(of: old) == nil)
        #expect(try store.bytes(key) == Data("new".utf8))
    }

    @Test("an entry may lose its body, get one, and get the same one again")
    func emptyAndBack() throws {
        for body in ["x", "", "", "x", "x", "y", ""] {
            try store.insert(Data(body.utf8), metadata: sandbox.metadata(), for: key)
            #expect(try store.bytes(key) == Data(body.utf8))
            try store.flush()
            #expect(sandbox.files().count == (body.isEmpty ? 0 : 1))
            #expect(try store.check(digests: true).problems == [])
        }
    }

    @Test("an equal body under ten keys is one file, which is deleted with the last of them")
    func shared() throws {
        let body = Data.noise(5_000, seed: 3)
        for number in 0..<10 { try store.insert(body, metadata: sandbox.metadata(), for: .path(number)) }
        let statistics = try store.statistics()
        #expect(statistics.entries == 10)
        #expect(statistics.files == 1)
        #expect(statistics.logicalBytes == 50_000)
        #expect(statistics.physicalBytes == 5_000)
        for number in 0..<10 {
            #expect(try RawIndex(sandbox.indexPath).value("SELECT reference_count FROM blob") == "\(10 - number)")
            #expect(sandbox.files().count == 1)
            #expect(try store.remove(.path(number)))
        }
        #expect(sandbox.files() == [])
        #expect(try store.statistics().physicalBytes == 0)
    }

    @Test("content, error response and each variant of a key are separate entries")
    func sideBySide() throws {
        for (kind, variant) in [(EntryMetadata.Kind.content, ""), (.error, ""), (.content, "gzip"), (.error, "gzip")] {
            try store.insert(
                Data("\(kind)\(variant)".utf8), metadata: sandbox.metadata(kind, variant: variant), for: key)
        }
        #expect(try store.responses(for: key).count == 4)
        for entry in try store.responses(for: key) {
            let name = "\(entry.metadata.kind)\(entry.metadata.variant)"
            #expect(try store.openBody(of: entry)?.data() == Data(name.utf8))
        }
        sandbox.clock.advance(by: 1)
        try store.insert(Data("newer".utf8), metadata: sandbox.metadata(variant: "gzip"), for: key)
        #expect(try store.responses(for: key).count == 4)
        #expect(try store.lookup(key)?.metadata.variant == "gzip")
    }

    @Test("an error response does not count as content")
    func errorAlone() throws {
        try store.insert(Data("gone".utf8), metadata: sandbox.metadata(.error), for: key)
        #expect(try store.lookup(key) == nil)
        #expect(try !store.contains(key))
        #expect(try store.responses(for: key).count == 1)
    }

    // MARK: Accesses

    @Test("only a flushed lookup counts as an access; peek, contains and opening a body do not", .requirement("A6"))
    func onlyLookupIsUse() throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let before = try uses()
        sandbox.clock.advance(by: 60)
        #expect(try store.contains(.path("a")))
        #expect(try store.bytes(.path("a")) != nil)
        #expect(try store.responses(for: .path("a")).count == 1)
        try store.flush()
        #expect(try uses() == before)
        #expect(before == [["1994-11-06T08:49:37.000Z", "0"]])

        #expect(try store.lookup(.path("a")) != nil)
        #expect(try uses() == before)
        try store.flush()
        #expect(try uses() == [["1994-11-06T08:50:37.000Z", "1"]])
        #expect(try store.statistics().hits == 1)
    }

    @Test(
        "storing another entry does not count as an access to this one", .requirement("A6"), arguments: [true, false])
    func insertIsNoUse(sharesBody: Bool) throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        sandbox.clock.advance(by: 60)
        try store.insert(Data((sharesBody ? "a" : "b").utf8), metadata: sandbox.metadata(), for: .path("b"))
        #expect(try uses() == [["1994-11-06T08:49:37.000Z", "0"], ["1994-11-06T08:50:37.000Z", "0"]])
    }

    @Test("an access renews the last access, a freshening nothing, a replacement both times", .requirement("J1", "U10"))
    func times() throws {
        func times() throws -> [[String?]] {
            try RawIndex(sandbox.indexPath).rows("SELECT created_at, accessed_at FROM cache_entries")
        }
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        sandbox.clock.advance(by: 1)
        let entry = try #require(try store.lookup(key))
        try store.flush()
        #expect(try times() == [["1994-11-06T08:49:37.000Z", "1994-11-06T08:49:38.000Z"]])
        sandbox.clock.advance(by: 1)
        #expect(try store.freshen(entry, with: sandbox.metadata(expiresIn: 60)))
        #expect(try times() == [["1994-11-06T08:49:37.000Z", "1994-11-06T08:49:38.000Z"]])
        sandbox.clock.advance(by: 1)
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: key)
        #expect(try times() == [["1994-11-06T08:49:40.000Z", "1994-11-06T08:49:40.000Z"]])
    }

    @Test("setting the clock back does not make an entry look unused")
    func clockSetBack() throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        sandbox.clock.advance(by: -3600)
        #expect(try store.lookup(.path("a")) != nil)
        try store.flush()
        #expect(try uses() == [["1994-11-06T08:49:37.000Z", "1"]])
    }

    enum Door: CaseIterable { case flush, close, write, eviction, release }

    @Test("accesses reach the index", arguments: Door.allCases)
    func usesArrive(by door: Door) throws {
        var store: ResponseStore? = try sandbox.open()
        try store?.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        for _ in 0..<3 { _ = try store?.lookup(.path("a")) }
        switch door {
        case .flush: try store?.flush()
        case .close: store?.close()
        case .write: try store?.recordFailure(for: .path("b"), status: 500)
        case .eviction: try store?.evict(maxBytes: 1 << 20)
        case .release: store = nil
        }
        #expect(try uses() == [["1994-11-06T08:49:37.000Z", "3"]])
    }

    @Test("accesses reach the index after the access interval, without another call")
    func usesArriveInTime() async throws {
        let store = try sandbox.open { $0.accessInterval = .milliseconds(1) }
        try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        for expected in 1...3 {
            _ = try store.lookup(.path("a"))
            try await eventually { try uses() == [["1994-11-06T08:49:37.000Z", "\(expected)"]] }
        }
    }

    @Test("accesses survive a failed write, and a later timer writes them")
    func usesSurviveFailure() async throws {
        let store = try sandbox.open {
            $0.busyTimeout = .zero
            $0.accessInterval = .milliseconds(1)
        }
        try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let other = try RawIndex(sandbox.indexPath)
        try other.execute("BEGIN IMMEDIATE")
        _ = try store.lookup(.path("a"))
        #expect(throws: StoreError.busy(path: store.directory.path(percentEncoded: false).dropSlash + "/index.sqlite"))
        {
            try Self.flush(store)
        }
        try other.execute("ROLLBACK")
        _ = try store.lookup(.path("a"))
        try await eventually { try uses() == [["1994-11-06T08:49:37.000Z", "2"]] }
        #expect(try store.statistics().hits == 2)
    }

    /// The synchronous method, for asynchronous tests.
    static func flush(_ store: ResponseStore) throws { try store.flush() }

    @Test("an access count at its maximum does not keep the store from writing")
    func usesSaturate() throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        try RawIndex(sandbox.indexPath).execute(
            "INSERT INTO access VALUES (1, 0, 0, \(Int64.max), 0); UPDATE total SET hit_count = \(Int64.max)")
        _ = try store.lookup(.path("a"))
        try store.flush()
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        #expect(try uses().first?.last == "\(Int64.max)")
    }

    // MARK: Freshening

    @Test("A key keeps a bounded number of variants")
    func variantLimit() throws {
        for number in 0..<100 {
            try store.insert(
                Data("\(number)".utf8), metadata: sandbox.metadata(variant: "x: \(number)"), for: .path("a"))
            sandbox.clock.advance(by: 1)
        }
        try store.flush()
        let left = try store.responses(for: .path("a")).map(\.metadata.variant)
        #expect(Set(left) == Set((36..<100).map { "x: \($0)" }))
        #expect(sandbox.files().count == 64)
        #expect(try store.check(digests: true).isSound)
    }

    @Test("A new variant stays, even if the clock was set back or all others are pinned", arguments: [true, false])
    func newVariantStays(othersArePinned: Bool) throws {
        let options = EntryOptions(isPinned: othersArePinned)
        for number in 0..<64 {
            try store.insert(
                Data("\(number)".utf8), metadata: sandbox.metadata(variant: "x: \(number)"), for: .path("a"),
                options: options)
        }
        if !othersArePinned { sandbox.clock.advance(by: -3_600) }
        try store.insert(Data("new".utf8), metadata: sandbox.metadata(variant: "x: new"), for: .path("a"))
        let left = try store.responses(for: .path("a")).map(\.metadata.variant)
        #expect(left.count == 64)
        #expect(left.contains("x: new"))
    }

    @Test("A freshening that changes an entry's variant replaces the entry that had this variant")
    func freshenedIntoAnotherVariant() throws {
        var metadata = sandbox.metadata()
        let entry = try store.insert(Data("new".utf8), metadata: metadata, for: .path("a"))
        metadata.variant = "accept-language: en"
        try store.insert(Data("old".utf8), metadata: metadata, for: .path("a"))
        let other = try store.insert(Data("other".utf8), metadata: metadata, for: .path("b"))
        #expect(try store.freshen(entry, with: metadata))
        let left = try store.responses(for: .path("a"))
        #expect(left.map(\.metadata.variant) == ["accept-language: en"])
        #expect(left.map(\.digest) == [entry.digest])
        #expect(try store.responses(for: .path("b")).map(\.digest) == [other.digest])
        try store.remove(.path("a"))
        #expect(try store.freshen(entry, with: metadata) == false)
        try store.flush()
        #expect(try store.check(digests: true).isSound)
    }

    @Test("a freshening updates only the row: the file keeps inode and modification time", .requirement("C3", "U10"))
    func freshen() throws {
        let entry = try store.insert(
            .noise(4_096, seed: 1) as Data, metadata: sandbox.metadata(etag: "\"A\"", expiresIn: 1, head: "A: 1\n"),
            for: key)
        let file = sandbox.file(of: try #require(entry.digest)).path(percentEncoded: false)
        let before = try FileManager.default.attributesOfItem(atPath: file)
        sandbox.clock.advance(by: 60)
        let metadata = sandbox.metadata(etag: "\"B\"", expiresIn: 60, head: "B: 2\n")
        #expect(try store.freshen(entry, with: metadata))
        let after = try FileManager.default.attributesOfItem(atPath: file)
        #expect(before[.systemFileNumber] as? UInt64 == after[.systemFileNumber] as? UInt64)
        #expect(before[.modificationDate] as? Date == after[.modificationDate] as? Date)
        let found = try #require(try store.peek(key))
        #expect(found.metadata == metadata)
        #expect(found.createdAt == entry.createdAt)
        #expect(found.digest == entry.digest)
    }

    @Test("a freshening changes nothing if the entry has another body, no body, or was removed")
    func freshenReplaced() throws {
        let old = try store.insert(Data("old".utf8), metadata: sandbox.metadata(etag: "\"old\""), for: key)
        for body in ["new", ""] {
            let new = try store.insert(Data(body.utf8), metadata: sandbox.metadata(etag: "\"new\""), for: key)
            #expect(try !store.freshen(old, with: old.metadata))
            #expect(try store.peek(key) == new)
        }
        try store.remove(key)
        #expect(try !store.freshen(old, with: old.metadata))
        try store.insert(Data("old".utf8), metadata: sandbox.metadata(), for: .path("takes-its-number"))
        #expect(try !store.freshen(old, with: old.metadata))
        #expect(try store.peek(key) == nil)
    }

    // MARK: Failures

    @Test("failures are counted, and discarded after a success", .requirement("D1"))
    func failures() throws {
        #expect(try store.failure(for: key) == nil)
        let entry = try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        for count in 1...3 {
            sandbox.clock.advance(by: 1)
            #expect(try store.recordFailure(for: key, status: 500 + count) == count)
        }
        let failure = try #require(try store.failure(for: key))
        #expect(failure.count == 3)
        #expect(failure.status == 503)
        #expect(failure.date == sandbox.clock.now)
        #expect(try store.peek(key) == entry)
        #expect(try store.statistics().failingKeys == 1)

        try store.insert(Data("error".utf8), metadata: sandbox.metadata(.error), for: key)
        #expect(try store.failure(for: key)?.count == 3)
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: key)
        #expect(try store.failure(for: key) == nil)

        try store.recordFailure(for: key, status: 500)
        #expect(try !store.freshen(entry, with: sandbox.metadata()))
        #expect(try store.failure(for: key)?.count == 1)
        #expect(try store.freshen(#require(try store.peek(key)), with: sandbox.metadata()))
        #expect(try store.failure(for: key) == nil)
        #expect(try store.statistics().failingKeys == 0)
    }

    @Test("failures within a window of each other add up; a later or earlier one is the first", .requirement("D1"))
    func failuresWithinWindow() throws {
        let steps: [(seconds: Double, count: Int)] = [
            (0, 1), (59.999, 2), (59.999, 3), (60, 1), (1, 2), (-2, 1), (0, 2),
        ]
        for (seconds, count) in steps {
            sandbox.clock.advance(by: seconds)
            #expect(try store.recordFailure(for: key, status: 503, within: .seconds(60)) == count)
            let date = try #require(try store.failure(for: key)?.date)
            #expect(abs(date.timeIntervalSince(sandbox.clock.now)) < 0.001)
        }
        sandbox.clock.advance(by: 1e6)
        #expect(try store.recordFailure(for: key, status: 503) == 3, "without one, however far apart they are")
    }

    @Test("asynchronous calls accept windows of any length, and discard failures", .requirement("D1"))
    func failuresWithoutBlocking() async throws {
        for (window, count) in [(Duration.seconds(60), 1), (.seconds(Int64.max), 2), (.zero, 1), (.seconds(-1), 1)] {
            #expect(try await store.recordFailure(for: key, status: 503, within: window) == count)
        }
        try await store.removeFailures(of: key)
        #expect(try store.failure(for: key) == nil)
        #expect(try store.statistics().failingKeys == 0)
    }

    @Test("the oldest failures are discarded first when there are too many")
    func tooManyFailures() throws {
        let index = try RawIndex(sandbox.indexPath)
        try index.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            INSERT INTO failure SELECT '', 'https://example.com/' || i, '', 500, 1, i FROM n
            """)
        try store.recordFailure(for: .path("new"), status: 500)
        #expect(try store.statistics().failingKeys == 10_000)
        #expect(try store.failure(for: .path(1)) == nil)
        #expect(try store.failure(for: .path(2)) != nil)
        #expect(try store.failure(for: .path("new")) != nil)
    }

    // MARK: Removing

    @Test("removing a key removes every variant, content, error response, failures and files", .requirement("J2"))
    func remove() throws {
        for (kind, variant) in [(EntryMetadata.Kind.content, ""), (.error, ""), (.content, "gzip")] {
            try store.insert(
                Data("\(kind)\(variant)".utf8), metadata: sandbox.metadata(kind, variant: variant), for: key)
        }
        try store.insert(Data("other".utf8), metadata: sandbox.metadata(), for: .path("b"))
        try store.recordFailure(for: key, status: 500)
        #expect(try store.remove(key))
        #expect(try store.responses(for: key) == [])
        #expect(try store.failure(for: key) == nil)
        #expect(sandbox.files().count == 1)
        #expect(try !store.remove(key))
        #expect(try store.bytes(.path("b")) == Data("other".utf8))
        try store.recordFailure(for: key, status: 500)
        #expect(try store.remove(key))
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("removing one entry leaves the key's other entries, and does nothing once it has another body")
    func removeEntry() async throws {
        let content = try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        let error = try await store.insert(Data("b".utf8), metadata: sandbox.metadata(.error), for: key)
        #expect(try await store.remove(error))
        #expect(try await !store.remove(error))
        #expect(try store.responses(for: key) == [content])
        try await store.insert(Data("c".utf8), metadata: sandbox.metadata(), for: key)
        #expect(try await !store.remove(content))
        #expect(try store.bytes(key) == Data("c".utf8))
    }

    // MARK: Asynchronous methods

    @Test("every asynchronous method equals the synchronous one")
    func asynchronous() async throws {
        let entry = try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        #expect(try await store.freshen(entry, with: sandbox.metadata(expiresIn: 5)))
        #expect(try await store.recordFailure(for: key, status: 500) == 1)
        let writer = store.makeBodyWriter()
        try writer.write(Data("b".utf8))
        try await writer.commit(sandbox.metadata(), for: .path("b"))
        #expect(try await store.check(digests: true).isSound)
        try await store.flush()
        #expect(try await store.evict(.maxBytes(1)).entries == 1)
        #expect(try await store.remove(.path("b")))
        #expect(try store.statistics().entries == 0)
        #expect(sandbox.files() == [])
    }

    // MARK: Closing

    @Test("a closed store throws from every call, and releases everything", .requirement("K6"))
    func closed() async throws {
        let entry = try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        let open = try #require(try store.openBody(of: entry))
        let writer = store.makeBodyWriter()
        try writer.write(Data("b".utf8))
        store.close()
        store.close()
        try Self.expectClosed(store, entry, writer, sandbox.metadata())
        await #expect(throws: StoreError.closed) { try await store.evict(.maxBytes(0)) }
        await #expect(throws: StoreError.closed) { try await store.remove(key) }
        await #expect(throws: StoreError.closed) { try await store.remove(entry) }
        await #expect(throws: StoreError.closed) { try await store.recordFailure(for: key, status: 1) }
        await #expect(throws: StoreError.closed) { try await store.freshen(entry, with: entry.metadata) }
        await #expect(throws: StoreError.closed) {
            try await store.insert(Data("c".utf8), metadata: entry.metadata, for: key)
        }
        store.touch(entry)
        #expect(try open.data() == Data("a".utf8))
        let reopened = try sandbox.open()
        #expect(try reopened.statistics().entries == 1)
        #expect(try await reopened.check(digests: true).problems == [])
    }

    private static func expectClosed(
        _ store: ResponseStore, _ entry: StoredEntry, _ writer: BodyWriter, _ metadata: EntryMetadata
    ) throws {
        let key = entry.key
        #expect(throws: StoreError.closed) { try store.lookup(key) }
        #expect(throws: StoreError.closed) { try store.peek(key) }
        #expect(throws: StoreError.closed) { try store.contains(key) }
        #expect(throws: StoreError.closed) { try store.responses(for: key) }
        #expect(throws: StoreError.closed) { try store.failure(for: key) }
        #expect(throws: StoreError.closed) { try store.openBody(of: entry) }
        #expect(throws: StoreError.closed) { try store.statistics() }
        #expect(throws: StoreError.closed) { try store.query("SELECT 1") }
        #expect(throws: StoreError.closed) { try store.check() }
        #expect(throws: StoreError.closed) { try store.insert(Data("c".utf8), metadata: metadata, for: key) }
        #expect(throws: StoreError.closed) { try writer.commit(metadata, for: key) }
        #expect(throws: StoreError.closed) { try store.freshen(entry, with: metadata) }
        #expect(throws: StoreError.closed) { try store.recordFailure(for: key, status: 500) }
        #expect(throws: StoreError.closed) { try store.remove(key) }
        #expect(throws: StoreError.closed) { try store.evict(maxBytes: 0) }
        #expect(throws: StoreError.closed) { try store.flush() }
    }

    @Test("a store released while a writer lives closes with the writer")
    func writerOutlivesStore() throws {
        var store: ResponseStore? = try sandbox.open()
        weak let observed = store
        let writer = try #require(store?.makeBodyWriter())
        try writer.write(Data("a".utf8))
        store = nil
        try writer.commit(sandbox.metadata(), for: .path("a"))
        #expect(observed != nil)
        #expect(try sandbox.open().bytes(.path("a")) == Data("a".utf8))
    }

    @Test("a store released during operations finishes them and is deallocated", .requirement("K6"))
    func released() async throws {
        weak var observed: ResponseStore?
        do {
            let store = try sandbox.open()
            observed = store
            let sandbox = sandbox
            await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask {
                        try await store.insert(Data("\(number)".utf8), metadata: sandbox.metadata(), for: .path(number))
                    }
                }
            }
        }
        await eventually { observed == nil }
        #expect(try sandbox.open().statistics().entries == 20)
    }

    @Test("creates the shared object of a type once per store")
    func sharedObject() throws {
        final class Object: Sendable {}
        let other = try sandbox.open()
        let object = store.shared { Object() }
        #expect(store.shared { Object() } === object)
        #expect(other.shared { Object() } !== object)
    }
}

extension String {
    /// The path without a trailing slash.
    var dropSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
