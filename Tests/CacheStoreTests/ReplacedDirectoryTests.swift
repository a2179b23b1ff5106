import TestSupport

@Suite("Replaced directory")
struct ReplacedDirectoryTests {
    enum Change: CaseIterable, Sendable {
        case contentsDeleted, bodiesDeleted, indexDeleted, deleted, deletedAndMade, moved, movedAndMade, movedAndOpened
    }

    let sandbox = Sandbox()
    let old = Data.noise(10_000, seed: 1)
    let new = Data.noise(10_000, seed: 2)

    private var moved: URL { sandbox.directory.url.appending(path: "moved", directoryHint: .isDirectory) }

    private func make(_ change: Change) throws {
        let manager = FileManager.default
        func deleteContents(where isIncluded: (String) -> Bool) throws {
            for name in try manager.contentsOfDirectory(atPath: sandbox.path) where isIncluded(name) {
                try manager.removeItem(at: sandbox.url.appending(path: name))
            }
        }
        switch change {
        case .contentsDeleted: try deleteContents { _ in true }
        case .bodiesDeleted: try deleteContents { $0 == "blobs" }
        case .indexDeleted: try deleteContents { $0.hasPrefix("index.sqlite") }
        case .deleted, .deletedAndMade:
            // A store that was just opened creates its ballast in the background, perhaps in the directory during its
            // removal.
            for _ in 0..<100 where manager.fileExists(atPath: sandbox.path) { try? manager.removeItem(at: sandbox.url) }
            try #require(!manager.fileExists(atPath: sandbox.path))
        case .moved, .movedAndMade, .movedAndOpened: try manager.moveItem(at: sandbox.url, to: moved)
        }
        switch change {
        case .deletedAndMade, .movedAndMade:
            try manager.createDirectory(at: sandbox.url, withIntermediateDirectories: false)
        case .movedAndOpened: try insert("other", into: sandbox.open())
        default: break
        }
    }

    private func insert(_ name: String, into store: ResponseStore, _ lifetime: EntryOptions.Lifetime? = nil) throws {
        try store.insert(
            name == "old" ? old : new, metadata: sandbox.metadata(), for: .path(name),
            options: EntryOptions(lifetime: lifetime))
    }

    /// A lookup drops an entry without a body, and a sweep a body without an entry.
    private func expectSound(_ store: ResponseStore) throws {
        _ = try store.bytes(.path("old"))
        try store.sweep()
        #expect(try store.check(digests: true).problems == [])
    }

    /// Defects would be a row and its body in different directories, or writes that fail until the process ends.
    @Test("an open store continues in the directory that now has its path", arguments: Change.allCases, [false, true])
    func writing(_ change: Change, looksUpFirst: Bool) throws {
        let store = try sandbox.open()
        try insert("old", into: store)
        let entry = try #require(try store.peek(.path("old")))
        let body = try #require(try store.openBody(of: entry))
        try make(change)
        #expect(try body.data() == old)
        if [.contentsDeleted, .bodiesDeleted, .deleted, .deletedAndMade].contains(change) {
            #expect(try store.openBody(of: entry) == nil)
        }
        if looksUpFirst {
            let found = try store.bytes(.path("old"))
            #expect(found == nil || found == old)
        }
        try insert("new", into: store)
        #expect(try store.bytes(.path("new")) == new)
        try expectSound(store)
        let other = try sandbox.open()
        #expect(try other.bytes(.path("new")) == new)
        #expect(try other.bytes(.path("other")) == (change == .movedAndOpened ? new : nil))
        #expect(try other.check(digests: true).isSound)
        if [.moved, .movedAndMade, .movedAndOpened].contains(change) {
            let left = try ResponseStore(directory: moved, configuration: sandbox.configuration())
            #expect(try left.bytes(.path("old")) == old)
            #expect(try left.peek(.path("new")) == nil)
            #expect(try left.check(digests: true).isSound)
        }
    }

    @Test("an asynchronous write continues in the directory that now has its path", arguments: Change.allCases)
    func asynchronousWriting(_ change: Change) async throws {
        let store = try sandbox.open()
        try await store.insert(old, metadata: sandbox.metadata(), for: .path("old"))
        try make(change)
        try await store.insert(new, metadata: sandbox.metadata(), for: .path("new"))
        try await store.setOptions(EntryOptions(isPinned: true), for: .path("new"))
        #expect(try store.bytes(.path("new")) == new)
        try expectSound(store)
    }

    @Test("a store that has only looked up finds the entries of the directory that now has its path")
    func reading() throws {
        let store = try sandbox.open()
        try make(.movedAndOpened)
        #expect(try store.bytes(.path("other")) == new)
        #expect(try store.check(digests: true).isSound)
    }

    @Test("a read-only store follows its path")
    func readingOnly() throws {
        try insert("old", into: sandbox.open())
        let store = try sandbox.open { $0.isReadOnly = true }
        try make(.movedAndOpened)
        #expect(try store.bytes(.path("other")) == new)
    }

    @Test("a suspended store continues in the directory that now has its path", arguments: Change.allCases)
    func suspended(_ change: Change) throws {
        let store = try sandbox.open()
        try insert("old", into: store)
        store.suspend()
        try make(change)
        try store.resume()
        try insert("new", into: store)
        #expect(try store.bytes(.path("new")) == new)
        try expectSound(store)
    }

    @Test("the locks of a store belong to the directory that now has its path")
    func locks() throws {
        let store = try sandbox.open()
        try make(.movedAndMade)
        try insert("new", into: store, .session)
        let other = try sandbox.open()
        // An only opener would have begun a new session, without the entry.
        #expect(try other.bytes(.path("new")) == new)
        let lock = try #require(try store.tryLock(.path("a")))
        #expect(try other.tryLock(.path("a")) == nil)
        lock.release()
        #expect(try other.tryLock(.path("a")) != nil)
    }

    @Test("a file or a link in place of the directory is a typed error", arguments: [false, true])
    func occupied(_ isLink: Bool) throws {
        let store = try sandbox.open()
        try insert("old", into: store)
        try make(.moved)
        if isLink {
            try FileManager.default.createSymbolicLink(at: sandbox.url, withDestinationURL: moved)
        } else {
            try Data().write(to: sandbox.url)
        }
        if !isLink {
            let error = #expect(throws: StoreError.self) { try insert("new", into: store) }
            if case .unusableDirectory = error {} else { Issue.record("\(String(describing: error))") }
        }
        try FileManager.default.removeItem(at: sandbox.url)
        try insert("new", into: store)
        #expect(try store.bytes(.path("new")) == new)
    }
}
