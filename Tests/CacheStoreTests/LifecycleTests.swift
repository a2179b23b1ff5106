import Migrations
import TestSupport

#if canImport(Glibc)
import Glibc
#endif

@Suite("Suspending and read-only stores")
struct LifecycleTests {
    let sandbox = Sandbox()

    // MARK: Suspending

    /// The files of the store that this process has locked, as the kernel reports for its descriptors.
    private func lockedFiles() throws -> [String] {
        var names: [UInt64: String] = [:]
        for name in try [""] + FileManager.default.subpathsOfDirectory(atPath: sandbox.path) {
            var status = stat()
            if stat(sandbox.path + "/" + name, &status) == 0 { names[UInt64(status.st_ino)] = name }
        }
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").compactMap { descriptor in
            var status = stat()
            // "lock:   1: FLOCK  ADVISORY  READ  812 08:01:131074 0 EOF"
            guard let number = Int32(descriptor), fstat(number, &status) == 0, let name = names[UInt64(status.st_ino)],
                let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
            else { return nil }
            return text.contains("lock:") ? name : nil
        }
    }

    #if os(Linux)
    @Test(
        "a suspended store holds no lock, and an open one does",
        .enabled(if: FileManager.default.isReadableFile(atPath: "/proc/self/fdinfo")))
    func locks() async throws {
        let store = try sandbox.open()
        // The ballast may be staged under a name, with a lock.
        try await store.flush()
        try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        _ = try store.lookup(.path("a"))
        let lock = try #require(try store.tryLock(.path("a")))
        let writer = store.makeBodyWriter()
        try writer.write(Data(repeating: 1, count: 70_000))
        let staged = try lockedFiles().filter { $0.hasPrefix("staging/") }
        #expect(staged.count == (DarwinPaths.areForced ? 1 : 0))
        #expect(try Set(lockedFiles()).isSuperset(of: ["", "locks"]))
        store.suspend()
        #expect(try lockedFiles() == [])
        try store.resume()
        #expect(try Set(lockedFiles()).subtracting(["index.sqlite", "index.sqlite-shm"]) == Set([""] + staged))
        lock.release()
        store.close()
        #expect(try lockedFiles() == [])
        withExtendedLifetime(writer) {}
    }

    @Test(
        "suspending or closing the store ends a running query and waits for its end",
        .enabled(if: FileManager.default.isReadableFile(atPath: "/proc/self/fdinfo")), arguments: [false, true])
    func queryUnderWay(_ closes: Bool) throws {
        let store = try sandbox.open { $0.queryTimeout = nil }
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        store.writer.checkpointer.wait()
        let before = try sandbox.descriptorCount(of: "index.sqlite")
        let call = ThreadCall {
            _ = try store.query(
                """
                WITH RECURSIVE number(n) AS (SELECT count(*) FROM cache_entries UNION ALL SELECT n + 1 FROM number)
                SELECT max(n) FROM number
                """)
        }
        try spinWhile { try sandbox.descriptorCount(of: "index.sqlite") == before }
        if closes { store.close() } else { store.suspend() }
        #expect(try sandbox.descriptorCount(of: "index.sqlite") == 0)
        #expect(try lockedFiles() == [])
        #expect(try call.error() == (closes ? .closed : .suspended))
        guard !closes else { return }
        try store.resume()
        #expect(try store.query("SELECT count(*) AS count FROM cache_entries")[0]["count"]?.integer == 1)
    }

    @Test(
        "suspending or closing the store ends a running recovery and waits for its end",
        .enabled(if: FileManager.default.isReadableFile(atPath: "/proc/self/fdinfo")), arguments: [false, true])
    func recoveryUnderWay(_ closes: Bool) throws {
        let store = try sandbox.open { $0.busyTimeout = .seconds(60) }
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        // Another process evicts: the recovery waits for its lock.
        let blobs = open(sandbox.path + "/blobs", O_RDONLY | O_DIRECTORY)
        defer { Glibc.close(blobs) }
        #expect(flock(blobs, LOCK_EX) == 0)
        let before = try sandbox.descriptorCount(of: "blobs")
        let call = ThreadCall { try store.writer.recover() }
        try spinWhile { try sandbox.descriptorCount(of: "blobs") == before }
        if closes { store.close() } else { store.suspend() }
        #expect(try sandbox.descriptorCount(of: "blobs") <= before)
        #expect(try sandbox.descriptorCount(of: "index.sqlite") == 0)
        #expect(try call.error() == .busy(path: sandbox.indexPath))
    }
    #endif

    @Test("A store that several callers resume concurrently is open, and no later opener ends its session")
    func resumedAtOnce() throws {
        let store = try sandbox.open()
        try store.insert(
            Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"), options: EntryOptions(lifetime: .session))
        for _ in 0..<20 {
            store.suspend()
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do {
                    try store.resume()
                } catch {
                    Issue.record(error)
                }
            }
            try sandbox.open().close()
            #expect(try store.contains(.path("a")))
        }
    }

    @Test("while the store is suspended, every call throws and open bodies stay readable; afterwards nothing is lost")
    func suspended() async throws {
        let store = try sandbox.open()
        let entry = try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        _ = try store.lookup(.path("a"))
        let body = try #require(try store.openBody(of: entry))
        let begun = store.makeBodyWriter()
        try begun.write(Data("begun".utf8))
        store.suspend()
        store.suspend()
        #expect(try body.data() == Data("a".utf8))
        #expect(throws: StoreError.suspended) { try store.lookup(.path("a")) }
        #expect(throws: StoreError.suspended) { try store.openBody(of: entry) }
        #expect(throws: StoreError.suspended) { try store.query("SELECT 1") }
        #expect(throws: StoreError.suspended) { try store.statistics() }
        #expect(throws: StoreError.suspended) { try store.evict(maxBytes: 0) }
        #expect(throws: StoreError.suspended) { try store.removeAll(.everything) }
        #expect(throws: StoreError.suspended) { try store.check() }
        #expect(throws: StoreError.suspended) { try store.sweep() }
        #expect(throws: StoreError.suspended) { try begun.write(Data("more".utf8)) }
        await #expect(throws: StoreError.suspended) { try await store.remove(.path("a")) }
        await #expect(throws: StoreError.suspended) {
            try await store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        }
        // The noted access is in the index, and another store can open the index.
        let other = try sandbox.open()
        #expect(try other.statistics().hits == 1)
        try await other.insert(Data("other".utf8), metadata: sandbox.metadata(), for: .path("other"))
        other.close()

        try store.resume()
        try store.resume()
        #expect(try store.bytes(.path("a")) == Data("a".utf8))
        #expect(try store.bytes(.path("other")) == Data("other".utf8))
        try await store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        try begun.write(Data(" more".utf8))
        try await begun.commit(sandbox.metadata(), for: .path("begun"))
        #expect(try store.bytes(.path("begun")) == Data("begun more".utf8))
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a suspension drops accesses that it cannot write, because another index may have the same ids afterwards")
    func accessesOfReplacedIndex() throws {
        let store = try sandbox.open()
        let first = try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        do {
            let holder = try RawIndex(sandbox.indexPath)
            try holder.execute("BEGIN IMMEDIATE")
            _ = try store.lookup(.path("a"))
            store.suspend()
            try holder.execute("ROLLBACK")
        }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: sandbox.indexPath + suffix) }
        let other = try sandbox.open()
        let second = try other.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        #expect(first.id == second.id)
        try store.resume()
        try store.flush()
        #expect(try store.statistics().hits == 0)
    }

    @Test("a closed store stays closed, and a store closed during a suspension cannot be resumed")
    func closed() throws {
        let store = try sandbox.open()
        store.suspend()
        store.close()
        try store.resume()
        #expect(throws: StoreError.closed) { try store.lookup(.path("a")) }
        store.suspend()
        #expect(throws: StoreError.closed) { try store.lookup(.path("a")) }
        #expect(throws: StoreError.closed) { try store.remove(.path("a")) }
    }

    @Test("a store whose directory can no longer be opened stays suspended, with a typed error")
    func directoryUnusable() throws {
        let store = try sandbox.open()
        store.suspend()
        try FileManager.default.moveItem(at: sandbox.url, to: sandbox.directory.url.appending(path: "moved"))
        try Data().write(to: sandbox.url)
        let error = #expect(throws: StoreError.self) { try store.resume() }
        if case .unusableDirectory = error {} else { Issue.record("\(String(describing: error))") }
        #expect(throws: StoreError.suspended) { try store.lookup(.path("a")) }
    }

    // MARK: Read-only stores

    private func readOnly() throws -> ResponseStore { try sandbox.open { $0.isReadOnly = true } }

    @Test("a read-only store answers every read, sees the commits of other stores, and changes no file")
    func readingOnly() async throws {
        let writer = try sandbox.open()
        let entry = try await writer.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let store = try readOnly()
        #expect(try store.lookup(.path("a")) == entry)
        #expect(try store.openBody(of: entry)?.data() == Data("a".utf8))
        #expect(try store.statistics().entries == 1)
        #expect(try store.query("SELECT count(*) FROM cache_entries").rows == [[.integer(1)]])
        #expect(try await store.check(digests: true).problems == [])
        try await writer.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        #expect(try store.bytes(.path("b")) == Data("b".utf8))
        let error = StoreError.readOnly(path: store.directory.path(percentEncoded: false))
        #expect(throws: error) { try store.insert(Data("c".utf8), metadata: sandbox.metadata(), for: .path("c")) }
        #expect(throws: error) { try store.insert(Data(), metadata: sandbox.metadata(), for: .path("c")) }
        #expect(throws: error) { try store.remove(.path("a")) }
        #expect(throws: error) { try store.clear() }
        #expect(throws: error) { try store.evict(maxBytes: 0) }
        #expect(throws: error) { try store.recordFailure(for: .path("a"), status: 500) }
        #expect(throws: error) { try store.freshen(entry, with: sandbox.metadata()) }
        #expect(throws: error) { try store.flush() }
        #expect(throws: error) { try store.sweep() }
        #expect(try await store.removeAll(.everything, dryRun: true).entries == 2)
        store.close()
        #expect(try writer.statistics().hits == 0)
    }

    @Test("a read-only store drops nothing: a damaged body is a miss, and stays")
    func damagedBody() throws {
        let writer = try sandbox.open()
        let entry = try writer.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        try Data("b".utf8).write(to: sandbox.file(of: #require(entry.digest)))
        let store = try readOnly()
        #expect(try store.openBody(of: entry) == nil)
        #expect(try store.contains(.path("a")))
        #expect(sandbox.files().count == 1)
    }

    @Test("a missing store, or one of another schema, is not opened read-only, and no file changes")
    func refused() throws {
        #expect(throws: StoreError.self) { try readOnly() }
        #expect(!FileManager.default.fileExists(atPath: sandbox.path))
        try sandbox.open().close()
        try RawIndex(sandbox.indexPath).execute("PRAGMA user_version = 999")
        let path = sandbox.indexPath
        let supported = migrations.count
        #expect { try readOnly() } throws: { error in
            guard case StoreError.newerSchema(let found, 999, supported) = error else { return false }
            return found.hasSuffix(path)
        }
    }

    @Test(
        "a directory without a readable store is a typed error, and stays unchanged",
        arguments: ["", "CREATE TABLE mine (x)", "garbage"])
    func noStore(content: String) throws {
        try FileManager.default.createDirectory(at: sandbox.url, withIntermediateDirectories: true)
        switch content {
        case "": break
        case "garbage": try Data(repeating: 0xA5, count: 5_000).write(to: URL(filePath: sandbox.indexPath))
        default: try RawIndex(sandbox.indexPath).execute(content)
        }
        let before = try? Data(contentsOf: URL(filePath: sandbox.indexPath))
        switch #expect(throws: StoreError.self, performing: { try readOnly() }) {
        case .unusableDirectory: #expect(content.isEmpty)
        case .notAnIndex: #expect(!content.isEmpty)
        case let error: Issue.record("\(String(describing: error))")
        }
        #expect((try? Data(contentsOf: URL(filePath: sandbox.indexPath))) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.path).count == (content.isEmpty ? 0 : 1))
    }

    @Test("A store that no other process has open can be opened for reading, after a close and after a kill")
    func alone() async throws {
        await #expect(processExitsWith: .signal(9)) { [path = sandbox.path as String] in
            let store = try ResponseStore(directory: URL(filePath: path))
            try store.insert(Data("a".utf8), metadata: .now, for: .path("a"))
            kill(getpid(), SIGKILL)
        }
        #expect(try readOnly().bytes(.path("a")) == Data("a".utf8))
        try sandbox.open().close()
        #expect(try readOnly().bytes(.path("a")) == Data("a".utf8))
    }
}
