import Dispatch
import TestSupport

@Suite("Opening")
struct OpeningTests {
    let sandbox = Sandbox()

    var indexURL: URL { URL(filePath: sandbox.indexPath) }

    /// The path without symbolic links, as errors name it.
    func resolved(_ path: String) throws -> String { try #require(realpath(path, nil).map { String(cString: $0) }) }

    @Test("the ballast has its bytes as soon as it has its name")
    func ballast() async throws {
        let isDone = Atomic(false)
        let sizes = Mutex<Set<Int>>([])
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [path = sandbox.path] in
            while !isDone.load(ordering: .relaxed) {
                let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/ballast")
                if let size = attributes?[.size] as? Int { sizes.withLock { _ = $0.insert(size) } }
            }
            ended.signal()
        }
        for _ in 0..<20 {
            let store = try sandbox.open()
            try await store.flush()
            store.close()
            try FileManager.default.removeItem(atPath: sandbox.path + "/ballast")
        }
        isDone.store(true, ordering: .relaxed)
        await Task.detached { Self.wait(for: ended) }.value
        #expect(sizes.withLock { $0 } == [1 << 20])
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test(
        "a directory and its missing parents are created for their owner only, under any umask", .requirement("J6"),
        arguments: [0, 0o022, 0o077])
    func created(umask mask: UInt32) async throws {
        await #expect(processExitsWith: .success) { [path = sandbox.directory.path as String, mask = mask as UInt32] in
            umask(mask_t(mask))
            try await Self.createAndCompare(path)
        }
    }

    private static func createAndCompare(_ path: String) async throws {
        let store = try ResponseStore(directory: URL(filePath: path + "/a/b/c"))
        try await store.insert(Data("x".utf8), metadata: .now, for: .path("x"))
        // Waits for the ballast.
        try await store.flush()
        let names = try FileManager.default.subpathsOfDirectory(atPath: path).filter { !$0.hasSuffix("ballast") }
        // `staging` exists only if bodies are written under a name.
        #expect(names.filter { !$0.hasSuffix("staging") }.count == 10)
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            let isDirectory = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(attributes[.posixPermissions] as? Int == (isDirectory ? 0o700 : 0o600), "\(name)")
        }
    }

    @Test("by default, the store is in the platform's cache directory, which is created", .requirement("J6"))
    func defaultDirectory() async throws {
        await #expect(processExitsWith: .success) { [path = sandbox.directory.path as String] in
            for (caches, expected) in [(path + "/x/caches", "/x/caches"), ("relative", "/home/.cache")] {
                setenv("XDG_CACHE_HOME", caches, 1)
                setenv("HOME", path + "/home", 1)
                #expect(ResponseStore.defaultDirectory().path(percentEncoded: false) == path + expected + "/CacheStore")
                #expect(ResponseStore.defaultDirectory(named: "feeds").lastPathComponent == "feeds")
                try ResponseStore().close()
                #expect(FileManager.default.fileExists(atPath: path + expected + "/CacheStore/index.sqlite"))
            }
        }
    }

    @Test("an existing directory keeps its permissions and its files")
    func existing() throws {
        try FileManager.default.createDirectory(
            at: sandbox.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        try Data("mine".utf8).write(to: sandbox.url.appending(path: "notes.txt"))
        let store = try sandbox.open()
        try store.insert(Data("x".utf8), metadata: sandbox.metadata(), for: .path("x"))
        try store.evict(maxBytes: 0)
        #expect(try FileManager.default.attributesOfItem(atPath: sandbox.path)[.posixPermissions] as? Int == 0o755)
        #expect(try Data(contentsOf: sandbox.url.appending(path: "notes.txt")) == Data("mine".utf8))
    }

    @Test("a link to the directory leads to the same store")
    func symbolicLink() throws {
        let store = try sandbox.open()
        let link = sandbox.directory.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: sandbox.url)
        let linked = try ResponseStore(directory: link, configuration: sandbox.configuration())
        #expect(linked.directory == store.directory)
        try store.insert(Data("x".utf8), metadata: sandbox.metadata(), for: .path("x"))
        #expect(try linked.bytes(.path("x")) == Data("x".utf8))
        #expect(
            try ResponseStore(directory: link.appending(path: "below")).directory.path().dropSlash.hasSuffix(
                "/store/below"))
    }

    @Test(
        "a relative path, and one with dots, is resolved against the current directory",
        arguments: [
            "relative", "relative/", "./a/../relative", "ä b%20c",
        ])
    func relative(_ path: String) async throws {
        await #expect(processExitsWith: .success) {
            [directory = sandbox.directory.path as String, path = path as String] in
            #expect(chdir(directory) == 0)
            let store = try ResponseStore(directory: URL(filePath: path))
            #expect(chdir("/") == 0)
            try await store.insert(Data("x".utf8), metadata: .now, for: .path("x"))
            let last = path.split(separator: "/").last.map(String.init) ?? ""
            #expect(FileManager.default.fileExists(atPath: "\(directory)/\(last)/index.sqlite"))
        }
    }

    // MARK: Unusable directories

    func expectUnusable(_ url: URL, naming path: String) {
        let error = #expect(throws: StoreError.self) { try ResponseStore(directory: url) }
        guard case .unusableDirectory(let named, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(named.hasSuffix(path), "\(named)")
        #expect(!reason.isEmpty)
    }

    #if os(Linux)
    @Test("The longest path that SQLite accepts works; a longer one is refused, with the lengths")
    func longPaths() throws {
        let directory = try TemporaryDirectory()
        let root = directory.url.resolvingSymlinksInPath().path(percentEncoded: false)
        func url(ofLength length: Int) -> URL {
            var path = root.hasSuffix("/") ? String(root.dropLast()) : root
            while path.utf8.count + 102 < length { path += "/" + String(repeating: "a", count: 100) }
            path += "/" + String(repeating: "b", count: length - path.utf8.count - 1)
            return URL(filePath: path)
        }
        let store = try ResponseStore(directory: url(ofLength: 491))
        try store.insert(Data("body".utf8), metadata: .now, for: CacheKey(url: "https://example.com/"))
        store.close()
        let error = #expect(throws: StoreError.self) { try ResponseStore(directory: url(ofLength: 492)) }
        guard case .unusableDirectory(_, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason == "its path has 492 bytes, and SQLite takes at most 491")
    }
    #endif

    @Test("a file in place of the directory, or of a parent, is an error that names it")
    func fileInTheWay() throws {
        let file = sandbox.directory.url.appending(path: "file")
        try Data("mine".utf8).write(to: file)
        expectUnusable(file, naming: "/file")
        expectUnusable(file.appending(path: "below/store"), naming: "/file")
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }

    @Test("refuses a URL that names no file", arguments: ["https://example.com/store", "data:,x"])
    func notAFile(_ text: String) throws { expectUnusable(try #require(URL(string: text)), naming: text) }

    @Test(
        "refuses impossible paths",
        arguments: [
            "/proc/nowhere/store", "/dev/null", "/dev/null/store", "/" + String(repeating: "x", count: 300),
            "/tmp/" + String(repeating: "x/", count: 3_000),
        ])
    func impossible(_ path: String) {
        #expect(throws: StoreError.self) { try ResponseStore(directory: URL(filePath: path)) }
    }

    @Test("a NUL does not truncate a path")
    func nul() throws {
        #expect(throws: StoreError.self) {
            try ResponseStore(directory: #require(URL(string: "file://\(sandbox.directory.path)/cut%00short")))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.directory.path) == [])
    }

    @Test("a loop of links is an error")
    func loop() throws {
        let loop = sandbox.directory.url.appending(path: "loop")
        try FileManager.default.createSymbolicLink(at: loop, withDestinationURL: loop)
        expectUnusable(loop, naming: "/loop")
    }

    @Test("a link in place of blobs/ is an error, and is not followed")
    func blobsIsLink() throws {
        let elsewhere = sandbox.directory.url.appending(path: "elsewhere", directoryHint: .isDirectory)
        for directory in [elsewhere, sandbox.url] {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(
            at: sandbox.url.appending(path: "blobs"), withDestinationURL: elsewhere)
        expectUnusable(sandbox.url, naming: "/store")
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path(percentEncoded: false)) == [])
    }

    @Test("a read-only directory is an error, with or without a store in it", arguments: [true, false])
    func readOnly(hasStore: Bool) async throws {
        if hasStore { try sandbox.open().close() }
        try FileManager.default.createDirectory(at: sandbox.url, withIntermediateDirectories: true)
        defer { Unprivileged.restore(sandbox.path) }
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            try Unprivileged.become(ownerOf: path)
            for place in [path, path + "/below"] {
                let error = try #require(throws: StoreError.self) { try ResponseStore(directory: URL(filePath: place)) }
                guard case .unusableDirectory(let named, _) = error else { preconditionFailure("\(error)") }
                #expect(named.hasSuffix(place))
            }
        }
    }

    /// A user with write access to the directory can plant an index.
    @Test(
        "a directory of another user, or one writable by others, is refused unless the program accepts it",
        arguments: [(0o700, true), (0o777, false), (0o702, false), (0o720, true), (0o755, false)] as [(mode_t, Bool)])
    func foreign(mode: mode_t, isOfOther: Bool) throws {
        try sandbox.open().close()
        chmod(sandbox.path, mode)
        defer { chmod(sandbox.path, 0o700) }
        guard geteuid() == 0 || !isOfOther else { return }
        if isOfOther { #expect(chown(sandbox.path, mode & 0o20 != 0 ? 0 : 65_534, 65_534) == 0) }
        let isTrusted = mode == 0o755
        if isTrusted {
            try sandbox.open().close()
        } else {
            #expect(throws: StoreError.self) { try sandbox.open() }
            do { _ = try sandbox.open() } catch StoreError.foreignDirectory(let path, let reason) {
                #expect(path == sandbox.path)
                #expect(!reason.isEmpty)
            }
            #expect(throws: StoreError.self) { try sandbox.open { $0.isReadOnly = true } }
        }
        try sandbox.open { $0.acceptsForeignDirectory = true }.close()
    }

    @Test("an error and a check name a folder that root left in a user's store, with its owner")
    func foldersOfRoot() async throws {
        guard geteuid() == 0 else { return }
        let store = try sandbox.open()
        for number in 0..<40 {
            try await store.insert(Data("body \(number)".utf8), metadata: sandbox.metadata(), for: .path(number))
        }
        store.close()
        for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: sandbox.path)) {
            #expect(chown(sandbox.path + "/" + name, 65_534, 65_534) == 0)
        }
        let shard = try #require(sandbox.files().first.map { String($0.prefix(2)) })
        #expect(chown(sandbox.path + "/blobs/\(shard)", 0, 0) == 0)
        defer { chown(sandbox.path, 0, 0) }
        await #expect(processExitsWith: .success) { [path = sandbox.path as String, shard = shard as String] in
            chmod(String(path.dropLast("/store".count)), 0o755)
            precondition(setgid(65_534) == 0 && setuid(65_534) == 0)
            let store = try ResponseStore(directory: URL(filePath: path))
            var failures: Set<StoreError> = []
            for number in 0..<1_000 {
                let key = try CacheKey.path(number)
                do throws(StoreError) {
                    try store.insert(Data("new \(number)".utf8), metadata: .now, for: key)
                } catch { failures.insert(error) }
            }
            precondition(failures == [.unwritableFolder(path: path + "/blobs/" + shard, owner: 0)], "\(failures)")
        }
        let own = try sandbox.open { $0.acceptsForeignDirectory = true }
        let problems = try await own.check().problems
        #expect(problems.contains(.foreignFolder(path: "blobs/\(shard)", owner: 0)))
        #expect("\(problems)".contains(shard))
    }

    @Test("TRAPS 1: a read-only index is an error at opening, not at the first write")
    func readOnlyIndex() async throws {
        try sandbox.open().close()
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            chmod(path, 0o777)
            chmod(path + "/blobs", 0o777)
            chmod(path + "/index.sqlite", 0o444)
            Unprivileged.giveUpRoot()
            let error = try #require(throws: StoreError.self) {
                var configuration = ResponseStore.Configuration()
                configuration.acceptsForeignDirectory = true
                return try ResponseStore(directory: URL(filePath: path), configuration: configuration)
            }
            guard case .unusableDirectory(let named, let reason) = error else { preconditionFailure("\(error)") }
            #expect(named.hasSuffix(path))
            #expect(!reason.isEmpty)
        }
    }

    // MARK: Files that are not an index

    func expectNotAnIndex(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let path = try resolved(sandbox.path) + "/index.sqlite"
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try sandbox.open() }
        guard case .notAnIndex(path, let reason) = error else {
            Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
            return
        }
        #expect(!reason.isEmpty, sourceLocation: sourceLocation)
    }

    @Test(
        "another program's database is an error and stays unchanged",
        arguments: [
            "CREATE TABLE mine (x)", "PRAGMA application_id = 7", "PRAGMA user_version = 1",
            "PRAGMA application_id = 7; CREATE TABLE mine (x); PRAGMA user_version = 3",
        ])
    func otherDatabase(_ sql: String) throws {
        try FileManager.default.createDirectory(at: sandbox.url, withIntermediateDirectories: true)
        try RawIndex(sandbox.indexPath).execute(sql)
        let bytes = try Data(contentsOf: indexURL)
        try expectNotAnIndex()
        #expect(try Data(contentsOf: indexURL) == bytes)
        #expect(try RawIndex(sandbox.indexPath).value("PRAGMA journal_mode") == "delete")
    }

    @Test("an empty index, as a kill during its creation leaves it, becomes a valid one")
    func emptyIndex() throws {
        try FileManager.default.createDirectory(at: sandbox.url, withIntermediateDirectories: true)
        try Data().write(to: indexURL)
        let store = try sandbox.open()
        try store.insert(Data("x".utf8), metadata: sandbox.metadata(), for: .path("x"))
        #expect(try store.check().isSound)
    }

    // MARK: Concurrent openings

    @Test("TRAPS 2: threads that open a new directory concurrently all succeed")
    func threads() throws {
        for _ in 0..<20 {
            let sandbox = Sandbox()
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                #expect(throws: Never.self) {
                    try sandbox.open().insert(Data("\(thread)".utf8), metadata: sandbox.metadata(), for: .path(thread))
                }
            }
            let store = try sandbox.open()
            #expect(try store.statistics().entries == 4)
            #expect(try store.check(digests: true).problems == [])
            #expect(try !FileManager.default.contentsOfDirectory(atPath: sandbox.path).contains { $0.contains("new") })
        }
    }

    @Test("TRAPS 2: processes that open a new directory concurrently all succeed")
    func processes() async throws {
        await withTaskGroup { group in
            for number in 0..<2 {
                group.addTask { [path = sandbox.directory.path] in
                    await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
                        try Self.openTogether(path, number)
                    }
                }
            }
        }
        for round in 0..<20 {
            let store = try ResponseStore(directory: sandbox.directory.url.appending(path: "\(round)"))
            #expect(try store.statistics().entries == 2)
        }
    }

    /// Opens new stores one after another, each at the same time as the other process.
    private static func openTogether(_ path: String, _ number: Int) throws {
        for round in 0..<20 {
            #expect(FileManager.default.createFile(atPath: "\(path)/ready-\(round)-\(number)", contents: nil))
            while access("\(path)/ready-\(round)-\(1 - number)", F_OK) != 0 { sched_yield() }
            let store = try ResponseStore(directory: URL(filePath: "\(path)/\(round)"))
            try store.insert(Data("\(number)".utf8), metadata: .now, for: .path(number))
        }
    }

    @Test("processes share a store: each finds the other's commits, and a lock held too long is busy")
    func shared() async throws {
        let store = try sandbox.open { $0.busyTimeout = .milliseconds(1) }
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            let store = try ResponseStore(directory: URL(filePath: path))
            try await store.insert(Data("x".utf8), metadata: .now, for: .path("x"))
        }
        #expect(try store.bytes(.path("x")) == Data("x".utf8))
        let other = try RawIndex(sandbox.indexPath)
        try other.execute("BEGIN IMMEDIATE")
        let path = try resolved(sandbox.path) + "/index.sqlite"
        await #expect(throws: StoreError.busy(path: path)) {
            try await store.recordFailure(for: .path("x"), status: 500)
        }
        #expect(try store.lookup(.path("x")) != nil)
        try other.execute("ROLLBACK")
        #expect(try await store.recordFailure(for: .path("x"), status: 500) == 1)
    }
}

#if canImport(Darwin)
private typealias mask_t = mode_t
#else
private typealias mask_t = __mode_t
#endif
