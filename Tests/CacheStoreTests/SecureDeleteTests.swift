import TestSupport

@Suite("Secure delete")
struct SecureDeleteTests {
    let sandbox = Sandbox()
    /// The text to wipe, which occurs in the key, the fields, a tag and the body.
    private let secret = "c0nf1dent1al-8512"
    private let count = 20

    /// The names of the files in the store that contain the secret.
    private func traces() throws -> [String] {
        let needle = Data(secret.utf8)
        let names = try FileManager.default.subpathsOfDirectory(atPath: sandbox.path)
        return names.filter { name in
            (try? Data(contentsOf: sandbox.url.appending(path: name)))?.range(of: needle) != nil
        }
    }

    private func fill(_ store: ResponseStore) throws {
        for number in 0..<count {
            let key = try CacheKey(url: "https://\(secret).example/\(number)", partition: "user")
            var metadata = sandbox.metadata(head: "X-Secret: \(secret)\n")
            metadata.etag = "\"\(secret)\""
            let body = Data((secret + String(repeating: "x", count: number * 100)).utf8)
            let entry = try store.insert(body, metadata: metadata, for: key, options: EntryOptions(tags: [secret]))
            try store.insertDerived(Data("form of \(secret)".utf8), name: secret, of: entry)
            _ = try store.lookup(key)
            try store.recordFailure(for: CacheKey(url: "https://\(secret).example/gone/\(number)"), status: 500)
            try store.insert(Data("kept \(number)".utf8), metadata: sandbox.metadata(), for: .path(number))
        }
        _ = try store.lookup(CacheKey(url: "https://\(secret).example/miss"))
        try store.flush()
    }

    enum Way: CaseIterable, Sendable {
        case one, partition, host, tag, clear, eviction
    }

    @Test("removed bytes are in no file, and the other entries stay", .requirement("Z02"), arguments: Way.allCases)
    func noTraces(_ way: Way) throws {
        let store = try sandbox.open { $0.secureDelete = true }
        try fill(store)
        #expect(try !traces().isEmpty)
        switch way {
        case .one:
            for number in 0..<count {
                #expect(try store.remove(CacheKey(url: "https://\(secret).example/\(number)", partition: "user")))
            }
            try store.removeAll(.host("\(secret).example"))
        case .partition:
            try store.removeAll(.partition("user"))
            try store.removeAll(.prefix("https://\(secret).example/"))
        case .host: try store.removeAll(.host("\(secret).example"))
        case .tag:
            try store.removeAll(.tag(secret))
            try store.removeAll(.prefix("https://\(secret)"))
        case .clear: try store.clear()
        case .eviction:
            try store.removeAll(.host("nowhere"))
            try store.evict(.maxEntries(0))
            try store.removeAll(.prefix("https://\(secret)"))
        }
        #expect(try traces() == [])
        if way != .clear, way != .eviction {
            for number in 0..<count { #expect(try store.bytes(.path(number)) == Data("kept \(number)".utf8)) }
        }
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("without the option a removal leaves traces, which the test detects")
    func withoutTheOption() throws {
        let store = try sandbox.open()
        try fill(store)
        try store.clear()
        #expect(try !traces().isEmpty)
    }

    @Test("a reader that keeps the WAL in use makes the removal busy, and the next removal wipes the traces")
    func reader() throws {
        let store = try sandbox.open {
            $0.secureDelete = true
            $0.busyTimeout = .milliseconds(50)
        }
        try fill(store)
        let other = try RawIndex(sandbox.indexPath)
        try other.execute("BEGIN; SELECT count(*) FROM entry")
        #expect(throws: StoreError.busy(path: store.directory.path(percentEncoded: false) + "/index.sqlite")) {
            try store.clear()
        }
        #expect(try store.statistics().entries == 0)
        try other.execute("COMMIT")
        try store.clear()
        #expect(try traces() == [])
    }
}
