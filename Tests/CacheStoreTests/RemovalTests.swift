import TestSupport

@Suite("ResponseStore.removeAll")
struct RemovalTests {
    let sandbox = Sandbox()
    let store: ResponseStore

    init() throws { store = try sandbox.open() }

    @Test("a removal in one partition, also by a prefix, keeps the same keys in other partitions", .requirement("A5"))
    func partitions() throws {
        for partition in ["", "a", "b"] {
            for name in ["a", "ab", "b"] {
                try store.insert(
                    Data((partition + name).utf8), metadata: sandbox.metadata(),
                    for: CacheKey(name: name, partition: partition))
            }
        }
        #expect(try store.removeAll(EntrySelection(partition: "a", prefix: "name=a")).entries == 2)
        #expect(try store.bytes(CacheKey(name: "b", partition: "a")) == Data("ab".utf8))
        #expect(try store.bytes(CacheKey(name: "a", partition: "b")) == Data("ba".utf8))
        #expect(try store.removeAll(.partition("b")).entries == 3)
        #expect(try store.removeAll(.partition("")).entries == 3)
        #expect(try store.query("SELECT partition, key FROM cache_entries").rows == [[.text("a"), .text("name=b")]])
    }

    @Test(
        "a removal discards the failures of its keys, and a dry run counts them",
        arguments: [
            (EntrySelection.everything, 5, 5), (.partition("p"), 1, 1), (.partition(""), 4, 4),
            (.prefix("https://example.com/"), 3, 3), (.prefix("name="), 1, 1), (.host("example.com"), 3, 4),
            (.host("other.org"), 1, 1), (.host(""), 0, 0), (.tag("x"), 2, 2), (.matching("error_count > 0"), 4, 4),
            (.matching("status = 200 AND error_count = 1"), 4, 4), (.contentType("text/html"), 0, 0),
        ])
    func failures(_ selection: EntrySelection, _ entries: Int, _ failures: Int) throws {
        let failing = [
            try CacheKey.path("a"), try .path("b"), try .path("without-entry"),
            try CacheKey(url: "http://other.org/", partition: "p"), try CacheKey(name: "n"),
        ]
        var metadata = sandbox.metadata()
        for key in failing where key != failing[2] {
            metadata.url = key == failing[4] ? "https://example.com/n" : nil
            try store.insert(Data("\(key)".utf8), metadata: metadata, for: key)
        }
        metadata.url = nil
        try store.insert(Data("whole".utf8), metadata: metadata, for: .path("whole"))
        for key in failing { try store.recordFailure(for: key, status: 500) }
        for key in failing[..<2] { try store.setOptions(.init(tags: ["x"]), for: key) }
        let isAboutEntries = selection.tag != nil || selection.predicate != nil
        let expected = try store.removeAll(selection, dryRun: true)
        #expect(try store.removeAll(selection) == expected)
        #expect(expected.failures == failures)
        #expect(expected.entries == (isAboutEntries ? entries : expected.entries))
        #expect(try store.statistics().failingKeys == failing.count - failures)
        #expect(try store.statistics().entries == 5 - expected.entries)
    }

    @Test("an expression over failures and other entries is evaluated before any removal")
    func selfReferential() throws {
        for variant in (0..<60).map({ "v\($0)" }) {
            for number in 0..<10 {
                try store.insert(Data(), metadata: sandbox.metadata(variant: variant), for: .path(number))
            }
        }
        for number in 0..<9 { try store.recordFailure(for: .path(number), status: 500) }
        let failing = EntrySelection.matching("error_count > 0")
        let expected = try store.removeAll(failing, dryRun: true)
        #expect(expected == (try store.removeAll(failing)))
        #expect(expected.entries == 540)
        #expect(expected.failures == 9)
        #expect(try store.statistics().entries == 60)
    }

    @Test("clear() counts exactly, keeps foreign files, and leaves a store that works", .requirement("J3", "Z02"))
    func clear() throws {
        for number in 0..<600 {
            try store.insert(
                Data("\(number % 300)".utf8), metadata: sandbox.metadata(), for: .path(number),
                options: .init(isPinned: number % 7 == 0))
        }
        for number in 590..<610 { try store.recordFailure(for: .path(number), status: 500) }
        _ = try store.lookup(.path("nothing"))
        let bytes = try store.statistics().physicalBytes
        let foreign = ["mine", "blobs/mine", "blobs/00/mine", "blobs/zz/mine", "index.sqlite.backup"]
        for name in foreign {
            let url = sandbox.url.appending(path: name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: url)
        }
        let expected = try store.removeAll(.everything, dryRun: true)
        let report = try store.clear()
        #expect(report == expected)
        #expect(report.entries == 600)
        #expect(report.failures == 20)
        #expect(report.bytes == bytes)
        for name in foreign { #expect(try Data(contentsOf: sandbox.url.appending(path: name)) == Data("mine".utf8)) }
        #expect(sandbox.files() == ["00/mine", "mine", "zz/mine"])
        #expect(try store.query("SELECT * FROM cache_requests").rows.isEmpty)
        #expect(try store.clear() == store.removeAll(.everything, dryRun: true))
        try store.insert(Data("x".utf8), metadata: sandbox.metadata(), for: .path("x"))
        #expect(try store.bytes(.path("x")) == Data("x".utf8))
        #expect(try store.check(digests: true).isSound)
    }

    @Test("a reader that finds an entry during a removal has read it before the removal", .requirement("J2"))
    func seenMeanwhile() async throws {
        // The last entry that the removal removes.
        let key = try CacheKey.path(299)
        var wasSeen = false
        // On a busy machine the removal may be over before the first lookup.
        for _ in 0..<50 where !wasSeen {
            for number in 0..<300 { try await store.insert(Data(), metadata: sandbox.metadata(), for: .path(number)) }
            var generations = [try store.generation()]
            async let removal = store.removeAll(.partition(""))
            try spinWhile {
                let snapshot = try store.snapshot(of: key)
                guard !snapshot.entries.isEmpty, let generation = snapshot.generation else { return false }
                if generation != generations.last { generations.append(generation) }
                return true
            }
            #expect(try await removal.entries == 300)
            for generation in generations { #expect(try store.wasRemoved(key, since: generation)) }
            wasSeen = generations.count == 2
        }
        #expect(wasSeen)
    }

    @Test("a body that an entry outside the selection shares is not deleted")
    func shared() throws {
        for number in 0..<4 {
            try store.insert(
                Data.noise(1_000, seed: 1), metadata: sandbox.metadata(),
                for: CacheKey(url: "http://h\(number / 2).org/\(number)"))
        }
        #expect(try store.removeAll(.host("h0.org"), dryRun: true).bytes == 0)
        #expect(try store.removeAll(.host("h0.org")).bytes == 0)
        #expect(try store.bytes(CacheKey(url: "http://h1.org/2")) == .noise(1_000, seed: 1))
        #expect(try store.removeAll(.host("h1.org")).bytes == 1_000)
        #expect(sandbox.files() == [])
    }

    @Test("hosts have no port, match in any case, and may be IPv6 addresses, in brackets or not", .requirement("Z02"))
    func hosts() throws {
        func fill() throws {
            for url in [
                "http://[2001:DB8::1]/", "http://[2001:db8::1]:81/", "http://EXAMPLE.com:81/",
                "http://www.example.com/",
            ] {
                try store.insert(Data(url.utf8), metadata: sandbox.metadata(), for: CacheKey(url: url))
                try store.recordFailure(for: CacheKey(url: url), status: 500)
            }
        }
        for (host, count) in [
            ("[2001:db8::1]", 2), ("[2001:DB8::1]", 2), ("2001:db8::1", 2), ("Example.COM", 1), ("example.com:81", 0),
            ("%", 0),
        ] {
            try fill()
            let expected = try store.removeAll(.host(host), dryRun: true)
            #expect(try store.removeAll(.host(host)) == expected)
            #expect(expected.entries == count, "\(host)")
            #expect(expected.failures == count, "\(host)")
            try store.clear()
        }
    }

    @Test("the time of a removal is linear in its entries", arguments: [EntrySelection.tag("x"), .matching("1")])
    func large(_ selection: EntrySelection) throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"), options: .init(tags: ["x"]))
        try RawIndex(sandbox.indexPath).execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            INSERT INTO entry (partition, key, kind, variant, host, status, requested_at, received_at, created_at,
                is_body_decoded, byte_count, head, tags, is_pinned, key_checksum)
            SELECT '', 'name=' || i, 0, '', '', 200, 0, 0, 0, 0, 0, '', '["x"]', 0, 0 FROM n
            """)
        let start = ContinuousClock.now
        #expect(try store.removeAll(selection).entries == 20_001)
        // A scan of all entries for each one would take minutes.
        #expect(ContinuousClock.now - start < .seconds(120))
        #expect(try store.check().isSound)
    }

    @Test("a removal during writes: earlier entries are removed, later ones stay, and the store is sound")
    func concurrent() async throws {
        try LimitsTests.fill(sandbox, store, (0..<600).map { "old-\($0)" }, 0)
        let sandbox = sandbox
        let writer = Task {
            for number in 0..<300 {
                try await store.insert(
                    Data("\(number)".utf8), metadata: sandbox.metadata(), for: .path("new-\(number)"))
            }
        }
        let report = try await store.removeAll(.prefix("https://example.com/old"))
        #expect(report.entries == 600)
        try await writer.value
        #expect(try sandbox.names().count == 300)
        #expect(try await store.check(digests: true).isSound)
    }
}
