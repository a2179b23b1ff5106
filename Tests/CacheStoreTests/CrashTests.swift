import TestSupport

@Suite("Killed processes")
struct CrashTests {
    /// The journal of a killed process: for each key the stored seed, and the seed of an unacknowledged change.
    struct Journal {
        var stored: [String: UInt64?] = [:]
        var unfinished: [String: UInt64?] = [:]

        /// A line is `key seed` when a change begins, and `key seed .` when the change is acknowledged. Seed 0 removes.
        init(_ url: URL) throws {
            for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ").map(String.init)
                guard words.count >= 2, let seed = UInt64(words[1]) else { continue }
                if words.count == 3 {
                    stored[words[0]] = seed
                    unfinished[words[0]] = nil
                } else {
                    unfinished[words[0]] = seed
                }
            }
        }
    }

    @Test(
        "after a kill, acknowledged changes are whole, others whole or absent, and no orphan stays",
        .requirement("A2"))
    func killed() async throws {
        let sandbox = try Sandbox()
        let seed = SeededGenerator()
        let rounds = Repetitions.count(10, debug: 5)
        for round in 0..<rounds {
            let delay = UInt32(5_000 + round * 120_000 / rounds)
            await #expect(processExitsWith: .signal(9)) {
                [path = sandbox.path as String, seed = seed.seed &+ UInt64(round) as UInt64, delay = delay as UInt32] in
                Self.work(path, seed, delay)
            }
            let store = try sandbox.open { $0.verification = .everyRead }
            for thread in 0..<3 {
                let url = sandbox.directory.url.appending(path: "journal-\(thread)")
                guard FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) else { continue }
                let journal = try Journal(url)
                for key in Set(journal.stored.keys).union(journal.unfinished.keys) {
                    let found = try store.bytes(.path(key))
                    var allowed = [Self.body(journal.stored[key] ?? nil)]
                    if let begun = journal.unfinished[key] { allowed.append(Self.body(begun)) }
                    #expect(allowed.contains(found), "\(seed), round \(round), \(key)")
                }
                // Lets the next rounds expect the outcome of unfinished operations.
                try Self.settle(url, journal, store)
            }
            // A kill between the link of a file and the commit of its row leaves an orphan.
            try await store.sweep()
            #expect(try await store.check(digests: true).problems == [], "\(seed), round \(round)")
        }
    }

    private static func settle(_ url: URL, _ journal: Journal, _ store: ResponseStore) throws {
        var lines = ""
        for key in Set(journal.stored.keys).union(journal.unfinished.keys) {
            var seed = journal.stored[key] ?? nil
            if let begun = journal.unfinished[key], try store.bytes(.path(key)) == body(begun) { seed = begun }
            lines += "\(key) \(seed ?? 0) .\n"
        }
        try Data(lines.utf8).write(to: url)
    }

    /// The body of a seed, or `nil` for seed 0 and for no seed.
    static func body(_ seed: UInt64?) -> Data? {
        guard let seed, seed != 0 else { return nil }
        // Few bodies, so that entries share them, and the store deletes and stores them again.
        return .noise([10, 3_000, 20_000, 300_000][Int(seed % 4)], seed: seed % 24)
    }

    /// Stores, replaces, removes and evicts on three threads until the kill.
    private static func work(_ path: String, _ seed: UInt64, _ delay: UInt32) {
        for thread in 0..<3 {
            Thread.detachNewThread {
                do {
                    try work(path, thread, SeededGenerator(seed: seed &+ UInt64(thread) &* 1_000))
                } catch {
                    fatalError("\(error)")
                }
            }
        }
        // Waits for the first acknowledgement, then for a delay that is independent of the work.
        while access(path + "/../journal-0", F_OK) != 0 { usleep(100) }
        usleep(delay)
        kill(getpid(), SIGKILL)
        while true { pause() }
    }

    /// One store for all threads of a child. Guards its opening.
    private static let shared = Mutex<ResponseStore?>(nil)

    private static func work(_ path: String, _ thread: Int, _ start: SeededGenerator) throws {
        var generator = start
        let store = try shared.withLock { shared in
            let store = try shared ?? ResponseStore(directory: URL(filePath: path))
            shared = store
            return store
        }
        let journal = open(path + "/../journal-\(thread)", O_WRONLY | O_APPEND | O_CREAT, 0o600)
        func note(_ line: String) {
            var line = line
            line.withUTF8 { bytes in precondition(write(journal, bytes.baseAddress, bytes.count) == bytes.count) }
        }
        while true {
            let key = "\(thread)-\(Int.random(in: 0..<12, using: &generator))"
            let seed = Bool.random(using: &generator) ? generator.next() | 4 : 0
            note("\(key) \(seed)\n")
            if let body = body(seed) {
                let metadata = EntryMetadata(requestedAt: Date(), receivedAt: Date())
                try store.insert(body, metadata: metadata, for: .path(key))
            } else {
                try store.remove(.path(key))
            }
            note("\(key) \(seed) .\n")
        }
    }
}
