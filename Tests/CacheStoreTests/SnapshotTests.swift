import Dispatch
import TestSupport

@Suite("Snapshots of a store")
struct SnapshotTests {
    let sandbox = Sandbox()
    let target = Sandbox()

    /// Files and directories around and below the target.
    private func contents(of sandbox: Sandbox) throws -> [String] {
        // An open store creates the ballast in the background, perhaps below `staging`.
        try FileManager.default.subpathsOfDirectory(atPath: sandbox.directory.path)
            .filter { !$0.hasSuffix("ballast") && !$0.contains("/staging") }
            .sorted()
    }

    private func expectSound(_ store: ResponseStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try store.check(digests: true).problems == [], sourceLocation: sourceLocation)
    }

    // MARK: Contents

    @Test("A snapshot of an empty store is an empty store")
    func empty() throws {
        let report = try sandbox.open().snapshot(to: target.url)
        #expect(report.entries == 0)
        #expect(report.files == 0)
        #expect(report.bytes == 0)
        #expect(try contents(of: target) == ["store", "store/blobs", "store/index.sqlite"])
        let copy = try target.open()
        #expect(try copy.statistics().entries == 0)
        try copy.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("new"))
        try expectSound(copy)
    }

    @Test("A snapshot has the entries, options, variants, derived representations and failures of the store")
    func sameContents() async throws {
        let store = try sandbox.open()
        try await fill(store, count: 1_000)
        let report = try await store.snapshot(to: target.url)
        let statistics = try store.statistics()
        #expect(report.entries == 1_000)
        #expect(report.entriesLeftOut == 0)
        #expect(report.copiedFiles == 0)
        #expect(report.files == statistics.files)
        #expect(report.bytes == statistics.physicalBytes)
        #expect(target.files() == sandbox.files())
        let copy = try target.open()
        #expect(try rows(of: copy) == rows(of: store))
        for number in stride(from: 0, to: 1_000, by: 37) {
            #expect(try copy.bytes(.path(number)) == store.bytes(.path(number)))
        }
        let entry = try #require(try copy.peek(.path(10)))
        #expect(try copy.openDerived(name: "form", of: entry)?.data() == Data("form of 10".utf8))
        #expect(entry.options == EntryOptions(lifetime: .permanent, isPinned: true, tags: ["tens"]))
        #expect(try await copy.check(digests: true).problems == [])
    }

    /// Stores entries with shared bodies, and with every option.
    private func fill(_ store: ResponseStore, count: Int) async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<count {
                group.addTask { [sandbox] in
                    let isTenth = number % 10 == 0
                    let key = try CacheKey(
                        url: "https://example.com/\(number)", partition: number % 7 == 6 ? "user" : "")
                    let entry = try await store.insert(
                        Data.noise(number % 11 == 0 ? 0 : 100 + number % 300, seed: UInt64(number % 300)),
                        metadata: sandbox.metadata(
                            number % 13 == 12 ? .error : .content, variant: number % 5 == 4 ? "accept: a\n" : "",
                            expiresIn: number % 3 == 0 ? 60 : nil, head: "Number: \(number)\n"),
                        for: key, options: isTenth ? EntryOptions(isPinned: true, tags: ["tens"]) : EntryOptions())
                    if isTenth {
                        try await store.insertDerived(Data("form of \(number)".utf8), name: "form", of: entry)
                    }
                }
            }
            try await group.waitForAll()
        }
        try await store.recordFailure(for: .path("failing"), status: 503)
        _ = try store.lookup(.path(1))
        try await store.flush()
    }

    private func rows(of store: ResponseStore) throws -> [SQLRows] {
        try [
            store.query("SELECT * FROM cache_entries ORDER BY partition, key, kind, variant"),
            store.query("SELECT * FROM cache_derived ORDER BY entry_id, name"),
            store.query("SELECT * FROM cache_stats"),
            store.query("SELECT * FROM cache_errors ORDER BY partition, key"),
        ]
    }

    @Test("Copies neither session entries nor the bytes of removed rows")
    func sessionEntries() throws {
        let store = try sandbox.open()
        try store.insert(Data("kept".utf8), metadata: sandbox.metadata(), for: .path("kept"))
        try store.insert(
            Data("session".utf8), metadata: sandbox.metadata(), for: .path("session-path"),
            options: EntryOptions(lifetime: .session))
        try store.insert(Data("removed".utf8), metadata: sandbox.metadata(), for: .path("removed-path"))
        try store.remove(.path("removed-path"))
        #expect(try store.snapshot(to: target.url).entries == 1)
        let index = try Data(contentsOf: URL(filePath: target.indexPath))
        #expect(index.firstRange(of: Data("session-path".utf8)) == nil)
        #expect(index.firstRange(of: Data("removed-path".utf8)) == nil)
        #expect(try target.names() == ["kept"])
        #expect(try store.bytes(.path("session-path")) == Data("session".utf8))
        try expectSound(target.open())
    }

    @Test("Files have mode 0600 and directories 0700, including created parents of the target")
    func modes() throws {
        let store = try sandbox.open()
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let nested = target.url.appending(path: "a/b", directoryHint: .notDirectory)
        try store.snapshot(to: nested)
        for (name, mode) in try target.modes() {
            let isFile = name.hasSuffix("index.sqlite") || name.count > 60
            #expect(mode == (isFile ? 0o600 : 0o700), "\(name)")
        }
    }

    @Test("A read-only store can be copied; a closed or suspended one cannot")
    func phases() throws {
        let store = try sandbox.open()
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        store.suspend()
        #expect(throws: StoreError.suspended) { try store.snapshot(to: target.url) }
        store.close()
        #expect(throws: StoreError.closed) { try store.snapshot(to: target.url) }
        #expect(try contents(of: target) == [])
        #expect(try sandbox.open { $0.isReadOnly = true }.snapshot(to: target.url).entries == 1)
        #expect(try target.open { $0.isReadOnly = true }.bytes(.path("a")) == Data("a".utf8))
    }

    // MARK: Shared files

    @Test("The store and its snapshot share files, but evictions and writes in one do not change the other")
    func independence() throws {
        let store = try sandbox.open()
        try sandbox.fill(store, ["a", "b", "c"])
        let bodies = try ["a", "b", "c"].map { try store.bytes(.path($0)) }
        try store.snapshot(to: target.url)
        let digest = try #require(try store.peek(.path("a"))?.digest)
        let numbers = try [sandbox, target].map { sandbox in
            let attributes = try FileManager.default.attributesOfItem(
                atPath: sandbox.file(of: digest).path(percentEncoded: false))
            return attributes[.systemFileNumber] as? NSNumber
        }
        #expect(numbers[0] != nil)
        #expect(numbers[0] == numbers[1])

        let copy = try target.open()
        try store.evict(maxBytes: 0)
        #expect(sandbox.files() == [])
        #expect(try ["a", "b", "c"].map { try copy.bytes(.path($0)) } == bodies)
        // The store gets a separate file where the snapshot has one, and vice versa.
        try sandbox.fill(store, ["a"])
        try copy.evict(maxBytes: 0)
        #expect(try store.bytes(.path("a")) == bodies[0])
        try sandbox.fill(copy, ["b"])
        #expect(try copy.bytes(.path("b")) == bodies[1])
        #expect(try !store.contains(.path("b")))
        #expect(try !copy.contains(.path("a")))
        for store in [store, copy] { try expectSound(store) }
    }

    @Test(
        "Copies the bytes on another file system",
        .enabled(if: OtherFileSystem.isPresent, "needs /dev/shm on a file system of its own"),
        arguments: [ResponseStore.Configuration.Durability.relaxed, .durable])
    func otherFileSystem(_ durability: ResponseStore.Configuration.Durability) throws {
        let store = try sandbox.open { $0.durability = durability }
        try sandbox.fill(store, ["a", "b", "c"], byteCount: 3_000_000)
        let other = try OtherFileSystem()
        let report = try store.snapshot(to: other.url)
        #expect(report.files == 3)
        #expect(report.copiedFiles == 3)
        #expect(report.bytes == 9_000_000)
        let copy = try ResponseStore(directory: other.url)
        for name in ["a", "b", "c"] { #expect(try copy.bytes(.path(name)) == store.bytes(.path(name))) }
        try expectSound(copy)
    }

    // MARK: Missing bodies

    @Test(
        "Omits a missing body, or one of another length or kind, with its entries",
        arguments: ["missing", "short", "link", "directory"], [false, true])
    func unusableBody(_ damage: String, isOnOtherFileSystem: Bool) throws {
        guard !isOnOtherFileSystem || OtherFileSystem.isPresent else { return }
        let store = try sandbox.open()
        try sandbox.fill(store, ["a", "b"])
        let body = try #require(try store.bytes(.path("a")))
        try store.insert(body, metadata: sandbox.metadata(), for: .path("same"))
        let file = sandbox.file(of: try #require(try store.peek(.path("a"))?.digest))
        let manager = FileManager.default
        switch damage {
        case "short": try FileHandle(forWritingTo: file).truncate(atOffset: 10)
        default: try manager.removeItem(at: file)
        }
        switch damage {
        case "link": try manager.createSymbolicLink(atPath: file.path(percentEncoded: false), withDestinationPath: "x")
        case "directory": try manager.createDirectory(at: file, withIntermediateDirectories: false)
        default: break
        }
        let other = isOnOtherFileSystem ? try OtherFileSystem() : nil
        let url = other?.url ?? target.url
        let report = try store.snapshot(to: url)
        #expect(report.entries == 1)
        #expect(report.entriesLeftOut == 2)
        #expect(report.files == 1)
        #expect(report.bytes == 1_000)
        let copy = try ResponseStore(directory: url)
        #expect(try copy.bytes(.path("b")) == store.bytes(.path("b")))
        try expectSound(copy)
        try copy.sweep()
        #expect(try copy.check().foreignFiles == [])
    }

    @Test("Omits a missing derived representation, but not its entry")
    func missingDerivedForm() throws {
        let store = try sandbox.open()
        try sandbox.fill(store, ["a"])
        let entry = try #require(try store.peek(.path("a")))
        for name in ["form", "other"] { try store.insertDerived(Data(name.utf8), name: name, of: entry) }
        try FileManager.default.removeItem(at: sandbox.file(of: ContentDigest(of: Data("form".utf8))))
        let report = try store.snapshot(to: target.url)
        #expect(report.entries == 1)
        #expect(report.entriesLeftOut == 0)
        #expect(report.files == 2)
        let copy = try target.open()
        let copied = try #require(try copy.peek(.path("a")))
        #expect(try copy.openDerived(name: "form", of: copied) == nil)
        #expect(try copy.openDerived(name: "other", of: copied)?.data() == Data("other".utf8))
        try expectSound(copy)
    }

    @Test("Omits the derived representations of an omitted entry, with their files", arguments: [false, true])
    func derivedFormOfMissingEntry(isOnOtherFileSystem: Bool) throws {
        guard !isOnOtherFileSystem || OtherFileSystem.isPresent else { return }
        let store = try sandbox.open()
        try sandbox.fill(store, ["a", "b"])
        let entry = try #require(try store.peek(.path("a")))
        for name in ["form", "shared"] { try store.insertDerived(Data(name.utf8), name: name, of: entry) }
        try store.insert(Data("shared".utf8), metadata: sandbox.metadata(), for: .path("c"))
        try FileManager.default.removeItem(at: sandbox.file(of: try #require(entry.digest)))
        let other = isOnOtherFileSystem ? try OtherFileSystem() : nil
        let url = other?.url ?? target.url
        let report = try store.snapshot(to: url)
        #expect(report.entries == 2)
        #expect(report.entriesLeftOut == 1)
        #expect(report.files == 2)
        #expect(report.bytes == 1_006)
        #expect(report.copiedFiles == (isOnOtherFileSystem ? 2 : 0))
        try expectSound(ResponseStore(directory: url))
    }

    @Test("A snapshot taken while two tasks write, remove and evict is sound")
    func concurrentWriters() async throws {
        let stores = try (0..<2).map { _ in try sandbox.open() }
        let seed = SeededGenerator()
        let isDone = Flag()
        try await withThrowingTaskGroup { group in
            for (number, store) in stores.enumerated() {
                group.addTask { [sandbox] in
                    var generator = SeededGenerator(seed: seed.seed &+ UInt64(number))
                    while !isDone.value {
                        try await MixedConcurrencyTests.act(on: store, &generator, sandbox, .manyChanges)
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                defer { isDone.set() }
                for round in 0..<Repetitions.count(15, debug: 5) {
                    let target = Sandbox()
                    let report = try await stores[round % 2].snapshot(to: target.url)
                    let copy = try target.open()
                    #expect(try await copy.check(digests: true).problems == [], "\(seed)")
                    #expect(try copy.statistics().entries == report.entries, "\(seed)")
                }
            }
            try await group.waitForAll()
        }
    }

    private final class Flag: Sendable {
        private let isSet = Atomic(false)

        var value: Bool { isSet.load(ordering: .relaxed) }

        func set() { isSet.store(true, ordering: .relaxed) }
    }

    // MARK: Targets

    @Test(
        "A target that is not an empty directory is refused, and stays unchanged",
        arguments: ["file in it", "store", "open store", "remains", "no directory", "locked"])
    func refusedTarget(_ obstacle: String) throws {
        let store = try sandbox.open()
        try sandbox.fill(store, ["a"])
        let manager = FileManager.default
        var openStore: ResponseStore?
        var lock: Int32 = -1
        switch obstacle {
        case "store": try target.open().close()
        case "open store": openStore = try target.open()
        case "no directory": try Data("mine".utf8).write(to: URL(filePath: target.path))
        default: try manager.createDirectory(at: target.url, withIntermediateDirectories: true)
        }
        switch obstacle {
        case "file in it": try Data("mine".utf8).write(to: URL(filePath: target.path + "/mine"))
        case "remains": try manager.createDirectory(atPath: target.path + "/blobs", withIntermediateDirectories: true)
        case "locked":
            // Another snapshot into this directory would hold this lock.
            lock = open(target.path, O_RDONLY | O_DIRECTORY)
            #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        default: break
        }
        defer { if lock >= 0 { close(lock) } }
        let before = try contents(of: target)
        #expect {
            try store.snapshot(to: target.url)
        } throws: { error in
            guard case StoreError.unusableDirectory(let path, let reason) = error else { return false }
            return path.hasSuffix("/store") && !reason.isEmpty
        }
        #expect(throws: StoreError.self) { try store.snapshot(to: sandbox.url) }
        #expect(try contents(of: target) == before)
        try openStore?.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        try expectSound(store)
    }

    @Test("A snapshot that finds another owner of its directory leaves the files of that owner")
    func targetTakenMeanwhile() throws {
        let store = try sandbox.open()
        try FileManager.default.createDirectory(at: target.url, withIntermediateDirectories: true)
        // Another snapshot into this directory would hold this lock.
        let lock = open(target.path, O_RDONLY | O_DIRECTORY)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        // The owner creates its index before, while and after a snapshot looks at the directory, and alone removes it.
        let index = target.url.appending(path: "index.sqlite").path(percentEncoded: false)
        let end = DispatchSemaphore(value: 0)
        let owner = ThreadCall {
            while end.wait(timeout: .now()) == .timedOut {
                close(open(index, O_CREAT | O_WRONLY, 0o600))
                for _ in 0..<10 { sched_yield() }
                guard unlink(index) == 0 else { throw CocoaError(.fileNoSuchFile) }
            }
        }
        for _ in 0..<1_000 {
            let error = #expect(throws: StoreError.self) { try store.snapshot(to: target.url) }
            guard case .unusableDirectory = error else {
                Issue.record("the directory was usable")
                break
            }
        }
        end.signal()
        #expect(try owner.error() == nil)
    }

    @Test("An empty directory is accepted, also through a symbolic link")
    func emptyDirectory() throws {
        let store = try sandbox.open()
        try sandbox.fill(store, ["a"])
        try FileManager.default.createDirectory(at: target.url, withIntermediateDirectories: true)
        let link = target.directory.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target.url)
        #expect(try store.snapshot(to: link).entries == 1)
        try expectSound(target.open())
    }

    // MARK: Interruptions

    @Test("Closing or suspending the store ends a running snapshot and removes it", arguments: [true, false])
    func endedByStore(closes: Bool) throws {
        let filling = try sandbox.open()
        try sandbox.fill(filling, (0..<300).map(String.init), byteCount: 2_000)
        filling.close()
        var wasEnded = false
        // A snapshot may be faster than the thread that ends it.
        for _ in 0..<50 where !wasEnded {
            let store = try sandbox.open()
            let target = Sandbox()
            let call = ThreadCall { () throws(StoreError) in _ = try store.snapshot(to: target.url) }
            try spinWhile { !FileManager.default.fileExists(atPath: target.path) }
            if closes { store.close() } else { store.suspend() }
            if let error = try call.error() {
                #expect(error == (closes ? .closed : .suspended))
                #expect(try contents(of: target) == [])
                wasEnded = true
            } else {
                try expectSound(target.open())
            }
            if !closes {
                try store.resume()
                #expect(try store.snapshot(to: Sandbox().url).entries == 300)
            }
        }
        #expect(wasEnded)
    }

    @Test("A killed snapshot is not a store; its directory is refused as a target, and swept by a store opened there")
    func killed() async throws {
        let store = try sandbox.open()
        try sandbox.fill(store, (0..<300).map(String.init), byteCount: 2_000)
        await #expect(processExitsWith: .signal(9)) {
            [source = sandbox.path as String, path = target.path as String] in
            let store = try ResponseStore(directory: URL(filePath: source))
            Thread.detachNewThread { _ = try? store.snapshot(to: URL(filePath: path)) }
            while !FileManager.default.fileExists(atPath: path + "/blobs") { sched_yield() }
            kill(getpid(), SIGKILL)
        }
        if FileManager.default.fileExists(atPath: target.indexPath) {
            // The snapshot was faster than the kill.
            #expect(try target.open().statistics().entries == 300)
        } else {
            #expect(throws: StoreError.self) { try target.open { $0.isReadOnly = true } }
            await #expect(throws: StoreError.self) { try await store.snapshot(to: target.url) }
            let fresh = try target.open()
            try await fresh.sweep()
            #expect(target.files() == [])
            #expect(FileManager.default.fileExists(atPath: target.indexPath))
            #expect(!FileManager.default.fileExists(atPath: target.path + "/index.new-snapshot"))
        }
        #expect(try await target.open().check(digests: true).problems == [])
    }
}

/// A directory on another file system than the temporary directory. Removed with the last reference.
private final class OtherFileSystem: Sendable {
    let url: URL

    init() throws { url = URL(filePath: "/dev/shm/CacheStoreTests-\(UUID().uuidString)", directoryHint: .notDirectory) }

    deinit { try? FileManager.default.removeItem(at: url) }

    static var isPresent: Bool {
        var (shared, temporary) = (stat(), stat())
        return stat("/dev/shm", &shared) == 0
            && stat(FileManager.default.temporaryDirectory.path(percentEncoded: false), &temporary) == 0
            && shared.st_dev != temporary.st_dev && access("/dev/shm", W_OK) == 0
    }
}
