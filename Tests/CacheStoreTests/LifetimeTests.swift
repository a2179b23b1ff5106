import TestSupport

@Suite("Lifetimes")
struct LifetimeTests {
    let sandbox = Sandbox()

    func fill(_ store: ResponseStore) throws {
        for name in ["session", "permanent"] {
            try store.insert(
                Data(name.utf8), metadata: sandbox.metadata(), for: .path(name),
                options: EntryOptions(lifetime: name == "session" ? .session : nil, tags: ["x"]))
        }
    }

    static func fill(_ path: String, _ end: (ResponseStore) throws -> Void) throws {
        let store = try ResponseStore(directory: URL(filePath: path))
        for name in ["session", "permanent"] {
            try store.insert(
                Data(name.utf8), metadata: .now, for: .path(name),
                options: EntryOptions(lifetime: name == "session" ? .session : nil))
        }
        try end(store)
    }

    /// Expects that lookups and SQL find exactly these of the two entries.
    func expect(_ names: [String], _ store: ResponseStore) throws {
        for name in ["session", "permanent"] {
            #expect(try store.contains(.path(name)) == names.contains(name))
            #expect(try store.lookup(.path(name)) == store.peek(.path(name)))
            #expect(try store.responses(for: .path(name)).count == (names.contains(name) ? 1 : 0))
        }
        let listed = try store.query("SELECT url FROM cache_entries ORDER BY url").rows
        #expect(listed == names.sorted().map { [.text("https://example.com/\($0)")] })
    }

    static func expect(_ suite: Self, _ names: [String], _ store: ResponseStore) throws {
        try suite.expect(names, store)
    }

    @Test("reopening the store removes session entries and keeps permanent ones", .requirement("J6"))
    func reopen() async throws {
        for _ in 0..<3 {
            let store = try sandbox.open()
            try fill(store)
            try expect(["session", "permanent"], store)
            store.close()
            let reopened = try sandbox.open()
            try expect(["permanent"], reopened)
            try await reopened.flush()
            try expect(["permanent"], reopened)
            #expect(try reopened.statistics().entries == 1)
            #expect(sandbox.files().count == 1)
            #expect(try await reopened.check(digests: true).isSound)
            reopened.close()
        }
    }

    @Test("the session lasts while any store has the directory open", .requirement("J6"))
    func overlapping() throws {
        var store = try sandbox.open()
        try fill(store)
        for _ in 0..<3 {
            let next = try sandbox.open()
            store.close()
            try expect(["session", "permanent"], next)
            store = next
        }
        store.close()
        try expect(["permanent"], try sandbox.open())
    }

    @Test("an open store of another process keeps the session, a closed store does not", .requirement("J6"))
    func otherProcess() async throws {
        let (opened, release) = (sandbox.directory.path + "/opened", sandbox.directory.path + "/release")
        async let child: Void = {
            await #expect(processExitsWith: .success) {
                [path = sandbox.path as String, opened = opened as String, release = release as String] in
                try Self.fill(path) { store in
                    try Data().write(to: URL(filePath: opened))
                    while access(release, F_OK) != 0 { usleep(1_000) }
                    store.close()
                }
            }
        }()
        await eventually { access(opened, F_OK) == 0 }
        for _ in 0..<2 {
            let store = try sandbox.open()
            try Self.expect(self, ["session", "permanent"], store)
            store.close()
        }
        try Data().write(to: URL(filePath: release))
        await child
        try Self.expect(self, ["permanent"], try sandbox.open())
    }

    @Test("a kill ends the session of its process", .requirement("J6"))
    func killed() async throws {
        await #expect(processExitsWith: .signal(9)) { [path = sandbox.path as String] in
            try Self.fill(path) { _ in kill(getpid(), SIGKILL) }
        }
        let store = try sandbox.open()
        try Self.expect(self, ["permanent"], store)
        try await store.flush()
        #expect(try sandbox.names() == ["permanent"])
        #expect(sandbox.files().count == 1)
    }

    @Test("a read-only store blocks no opener, and delays the end of a session only while it is open")
    func readOnly() throws {
        let store = try sandbox.open()
        try fill(store)
        store.close()
        let reader = try sandbox.open {
            $0.isReadOnly = true
            $0.busyTimeout = .zero
        }
        let writer = try sandbox.open { $0.busyTimeout = .zero }
        let second = try sandbox.open {
            $0.isReadOnly = true
            $0.busyTimeout = .zero
        }
        for store in [reader, writer, second] { try expect(["session", "permanent"], store) }
        for store in [reader, writer, second] { store.close() }
        try expect(["permanent"], try sandbox.open())
    }

    @Test("suspending a store does not end a session that another store shares")
    func suspended() throws {
        let store = try sandbox.open()
        try fill(store)
        store.suspend()
        try store.resume()
        try expect(["session", "permanent"], store)
        let other = try sandbox.open()
        store.suspend()
        try expect(["session", "permanent"], other)
        other.close()
        let next = try sandbox.open()
        try expect(["permanent"], next)
        try store.resume()
        try expect(["permanent"], store)
    }

    // MARK: Rows that await their removal

    @Test(
        "an entry of an ended session passes no options to its replacement",
        arguments: [EntryOptions(), EntryOptions(isPinned: false), EntryOptions(tags: ["new"])])
    func replacedAfterSession(_ options: EntryOptions) throws {
        let store = try sandbox.open()
        try store.insert(
            Data("old".utf8), metadata: sandbox.metadata(), for: .path("a"),
            options: .init(lifetime: .session, isPinned: true, tags: ["old"]))
        try RawIndex(sandbox.indexPath).execute("UPDATE state SET session = session + 1")
        #expect(try !store.contains(.path("a")))
        #expect(try !store.setOptions(.init(lifetime: .permanent), for: .path("a")))
        let entry = try store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("a"), options: options)
        #expect(entry.options == .init(lifetime: .permanent, isPinned: false, tags: options.tags ?? []))
        #expect(try store.peek(.path("a")) == entry)
        #expect(try store.removeAll(.tag("old"), dryRun: true).entries == 0)
        #expect(try store.check().isSound)
    }

    @Test("an entry of an ended session is in no lookup and no list, and is removed with other entries")
    func lapsed() throws {
        let store = try sandbox.open()
        try fill(store)
        try RawIndex(sandbox.indexPath).execute("UPDATE state SET session = session + 1")
        try expect(["permanent"], store)
        #expect(try store.removeAll(.matching("lifetime = 'session'")).entries == 0)
        #expect(try store.removeAll(.everything).entries >= 1)
        #expect(try sandbox.names() == [])
        #expect(sandbox.files() == [])
    }
}
