import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Sweep")
struct SweepTests {
    let sandbox = Sandbox()

    /// Puts an orphan where a killed process would have left it.
    private func plantOrphan(_ text: String) throws -> URL {
        let file = sandbox.file(of: ContentDigest(of: Data(text.utf8)))
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file
    }

    private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) }

    @Test("Deletes orphans; keeps entries and foreign files", .requirement("A2"))
    func orphans() throws {
        let store = try sandbox.open()
        try store.insert(Data("needed".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let orphans = try (0..<600).map { try plantOrphan("orphan \($0)") }
        let blobs = sandbox.url.appending(path: "blobs")
        let foreign = [
            blobs.appending(path: "notes.txt"), sandbox.url.appending(path: "README"),
            orphans[0].deletingLastPathComponent().appending(path: "notes.txt"),
        ]
        for file in foreign where !exists(file) { try Data("mine".utf8).write(to: file) }
        let report = try store.sweep()
        #expect(report.files == 600)
        #expect(report.bytes == (0..<600).reduce(0) { $0 + Int64("orphan \($1)".utf8.count) })
        #expect(orphans.allSatisfy { !exists($0) })
        #expect(foreign.allSatisfy(exists))
        #expect(try store.bytes(.path("a")) == Data("needed".utf8))
        #expect(try store.sweep().files == 0)
        #expect(try store.check(digests: true).isSound)
    }

    @Test("A write that fails leaves the file of its bytes to another entry, and deletes a file of its own")
    func failedWrite() async throws {
        let store = try sandbox.open()
        let (shared, own) = (Data("shared".utf8), Data("own".utf8))
        try await store.insert(shared, metadata: sandbox.metadata(), for: .path("kept"))
        let index = try RawIndex(sandbox.indexPath)
        try index.execute("CREATE TRIGGER refuse BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'refused'); END")
        for body in [shared, own] {
            await #expect(throws: StoreError.self) {
                try await store.insert(body, metadata: sandbox.metadata(), for: .path("refused"))
            }
        }
        try index.execute("DROP TRIGGER refuse")
        try await store.flush()
        #expect(exists(sandbox.file(of: ContentDigest(of: shared))))
        #expect(!exists(sandbox.file(of: ContentDigest(of: own))))
        #expect(try await store.check(digests: true).isSound)
    }

    @Test("Opening the store deletes the files that a killed process left with an unfinished index")
    func unfinishedIndex() async throws {
        let orphan = try plantOrphan("of an index before")
        let index = sandbox.url.appending(path: "index.sqlite")
        // The index is an empty file before the first transaction.
        try Data().write(to: index)
        let store = try sandbox.open()
        try await store.flush()
        #expect(!exists(orphan))
        #expect(try await store.check().isSound)
    }

    @Test("An unfinished body stays, named or not, and can be committed afterwards")
    func liveWriters() async throws {
        let store = try sandbox.open()
        // The ballast may be staged under a name, too.
        try await store.flush()
        let writer = store.makeBodyWriter()
        try writer.write(Data("on its way".utf8))
        let root = try FileDescriptor.openDirectory(atPath: sandbox.path)
        let staged = try StagedFile(namedBelow: root)
        let staging = sandbox.url.appending(path: "staging")
        // One file, plus the writer's if bodies are written under a name.
        let live = try FileManager.default.contentsOfDirectory(atPath: staging.path(percentEncoded: false))
        #expect(live.count == (DarwinPaths.areForced ? 2 : 1))
        // The staged file of an ended process: no process holds its lock.
        try Data("dead".utf8).write(to: staging.appending(path: "abc123-4711"))
        try Data("mine".utf8).write(to: staging.appending(path: "notes.txt"))
        #expect(try await store.sweep().stagedFiles == 1)
        let left = try FileManager.default.contentsOfDirectory(atPath: staging.path(percentEncoded: false))
        #expect(Set(left) == Set(live + ["notes.txt"]))
        try await writer.commit(sandbox.metadata(), for: .path("a"))
        #expect(try store.bytes(.path("a")) == Data("on its way".utf8))
        let name = staged.descriptor.path
        _ = consume staged
        #expect(!exists(URL(filePath: name)))
    }

    @Test("A store that was not shut down is swept when it opens", .requirement("A2"))
    func atOpening() async throws {
        let path = sandbox.path
        await #expect(processExitsWith: .signal(9)) { [path = path as String] in
            let store = try ResponseStore(directory: URL(filePath: path))
            try await store.insert(Data("kept".utf8), metadata: .now, for: .path("kept"))
            kill(getpid(), SIGKILL)
        }
        let orphan = try plantOrphan("orphan")
        let store = try sandbox.open()
        // The lane is serial: this job runs after the sweep.
        try await store.flush()
        #expect(!exists(orphan))
        #expect(try store.bytes(.path("kept")) == Data("kept".utf8))
        store.close()
        let later = try plantOrphan("later")
        let reopened = try sandbox.open()
        try await reopened.flush()
        #expect(exists(later), "a store that was closed is not searched through at every opening")
    }

    @Test("A sweep that did not finish runs again when the store next opens, and only then", arguments: [false, true])
    func unfinishedSweep(_ isNewIndex: Bool) async throws {
        if isNewIndex {
            // The index is an empty file before the first transaction.
            _ = try plantOrphan("of an index before")
            try Data().write(to: URL(filePath: sandbox.indexPath))
        } else {
            try sandbox.open().close()
            try RawIndex(sandbox.indexPath).execute("UPDATE state SET writer_count = 1")
        }
        // A sweep cannot delete this directory, and fails.
        let obstacle = sandbox.url.appending(path: "index.new-directory")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        var orphans: [URL] = []
        for round in 0..<3 {
            orphans.append(try plantOrphan("orphan \(round)"))
            let store = try sandbox.open()
            // The lane is serial: this job runs after the sweep.
            try await store.flush()
            store.close()
            if round == 0 { try FileManager.default.removeItem(at: obstacle) }
        }
        #expect(orphans.map(exists) == [false, false, true])
    }

    @Test(
        "A store that closes or is suspended before it has deleted all files leaves them to a sweep",
        arguments: [false, true])
    func pendingDeletions(_ closes: Bool) async throws {
        let store = try sandbox.open()
        // One transaction, which closing the store runs, deletes fewer files.
        let keys = try (0..<2_000).map { try CacheKey.path($0) }
        try await withThrowingTaskGroup { group in
            for (number, key) in keys.enumerated() {
                group.addTask { [sandbox] in
                    _ = try await store.insert(Data("\(number)".utf8), metadata: sandbox.metadata(), for: key)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.invalidate(keys) == 2_000)
        if closes { store.close() } else { store.suspend() }
        let other = try sandbox.open()
        // The lane is serial: this job runs after the sweep.
        try await other.flush()
        #expect(sandbox.files() == [])
        #expect(try await other.check().isSound)
    }
}
