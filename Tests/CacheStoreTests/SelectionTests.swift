import TestSupport

/// The properties of an entry that a selection reads.
private struct Sample {
    var key: CacheKey
    var host: String
    var metadata: EntryMetadata
    var body: Data
    var options: EntryOptions

    /// Selects by the documented rules of ``EntrySelection``.
    func isIn(_ selection: EntrySelection) -> Bool {
        let type = metadata.contentType?.split(separator: ";").first.map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
        if let partition = selection.partition, !partition.utf8.elementsEqual(key.partition.utf8) { return false }
        if let prefix = selection.prefix, !key.text.utf8.starts(with: prefix.utf8) { return false }
        if let host = selection.host, host.lowercased() != self.host { return false }
        if let tag = selection.tag, options.tags?.contains(tag) != true { return false }
        switch selection.contentType {
        case nil: break
        case "image/*"?: if type?.hasPrefix("image/") != true { return false }
        case let wanted?: if type != wanted.lowercased() { return false }
        }
        switch selection.predicate {
        case "byte_size > 100"?: return body.count > 100
        case "status >= 400 OR is_pinned"?: return metadata.status >= 400 || options.isPinned == true
        case "error_count > 0"?: return false
        default: return true
        }
    }
}

@Suite("EntrySelection")
struct SelectionTests {
    let sandbox = Sandbox()
    let store: ResponseStore

    init() throws { store = try sandbox.open() }

    private static let urls = [
        "https://example.com/", "https://example.com/a%25b", "https://example.com/a_b", "https://example.com/aXb",
        "https://EXAMPLE.com/A", "https://example.com/%C3%A9", "https://example.com:8080/a",
        "https://example.community/",
        "http://example.com/a", "https://[::1]/a", "https://[::1]:8443/a", "https://b.example.com/a?q=1",
    ]

    private static func sample(_ generator: inout SeededGenerator, _ sandbox: Sandbox) throws -> Sample {
        let partition = ["", "a", "A", "é", "a%"].randomElement(using: &generator) ?? ""
        var metadata = sandbox.metadata([.content, .error].randomElement(using: &generator) ?? .content)
        metadata.variant = ["", "accept: x"].randomElement(using: &generator) ?? ""
        metadata.contentType =
            [
                nil, "text/html", "Text/HTML; charset=utf-8", "text/html ;x=\"a;b\"", "text/html\t;x", "image/png",
                "IMAGE/webp", "imagex/y", "", ";",
            ]
            .randomElement(using: &generator) ?? nil
        let key: CacheKey
        var host = ""
        if Int.random(in: 0..<5, using: &generator) == 0 {
            let name = ["é", "a", "a%_", "ÿ\u{10ffff}", ""].randomElement(using: &generator) ?? ""
            key = try CacheKey(name: name, partition: partition)
            if Bool.random(using: &generator) {
                metadata.url = "https://b.example.com/named"
                host = "b.example.com"
            }
        } else {
            let url = urls.randomElement(using: &generator) ?? ""
            key = try CacheKey(url: url, partition: partition)
            let authority = url.lowercased().split(separator: "/")[1]
            host = authority.hasPrefix("[") ? "[::1]" : String(authority.split(separator: ":")[0])
        }
        return Sample(
            key: key, host: host, metadata: metadata,
            body: .noise([0, 10, 100, 101, 5_000].randomElement(using: &generator) ?? 0, seed: generator.next() % 6),
            options: EntryOptions(
                lifetime: .permanent, isPinned: Bool.random(using: &generator),
                tags: Set(["x", "y", "%"].filter { _ in Bool.random(using: &generator) })))
    }

    private static func selection(_ generator: inout SeededGenerator) -> EntrySelection {
        func some(_ values: [String]) -> String? {
            Int.random(in: 0..<3, using: &generator) == 0 ? values.randomElement(using: &generator) : nil
        }
        return EntrySelection(
            partition: some(["", "a", "A", "e\u{301}", "é", "none"]),
            prefix: some([
                "", "https://example.com", "https://example.com/", "https://example.com/a%", "https://example.com/a_",
                "https://example.com/A", "http", "HTTP", "name=", "name=a", "name=ÿ", "é", "\u{10ffff}",
            ]),
            host: some(["example.com", "EXAMPLE.COM", "[::1]", "b.example.com", "", "%", "example.com:8080"]),
            tag: some(["x", "y", "%", "X", ""]),
            contentType: some(["text/html", "TEXT/html", "image/*", "image/png", "text", "*", "%/html"]),
            predicate: some(["byte_size > 100", "status >= 400 OR is_pinned", "1", "error_count > 0", "true -- all"]))
    }

    @Test("an empty selection selects nothing, even if an optional is nil by accident")
    func nothing() throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let user: String? = nil
        #expect(try store.removeAll(EntrySelection(partition: user)).entries == 0)
        #expect(try store.removeAll(EntrySelection(), dryRun: true).entries == 0)
        #expect(try store.contains(.path("a")))
        #expect(try store.removeAll(.everything).entries == 1)
    }

    @Test(
        "a removal takes exactly the selected entries; a dry run returns the same and changes nothing",
        .requirement("J3", "A5"),
        arguments: 0..<4)
    func random(_: Int) throws {
        var generator = SeededGenerator()
        let seed = Comment(rawValue: generator.description)
        for _ in 0..<Repetitions.count(25, debug: 6) {
            var samples: [String: Sample] = [:]
            for _ in 0..<40 {
                let sample = try Self.sample(&generator, sandbox)
                let entry = try store.insert(
                    sample.body, metadata: sample.metadata, for: sample.key, options: sample.options)
                // A sample of the same key replaces the previous one and its id.
                for (id, other) in samples
                where other.key == sample.key && other.metadata.variant == sample.metadata.variant
                    && other.metadata.kind == sample.metadata.kind
                {
                    samples[id] = nil
                }
                samples["\(entry.id)"] = sample
            }
            var selection = Self.selection(&generator)
            if selection == EntrySelection() { selection = .everything }
            let comment = Comment(rawValue: "\(generator) \(selection)")
            let gone = samples.filter { $0.value.isIn(selection) }
            let left = samples.filter { !$0.value.isIn(selection) }
            let rows = try RawIndex(sandbox.indexPath).rows("SELECT id FROM entry ORDER BY id")
            let expected = try store.removeAll(selection, dryRun: true)
            #expect(try RawIndex(sandbox.indexPath).rows("SELECT id FROM entry ORDER BY id") == rows, comment)
            #expect(try store.removeAll(selection) == expected, comment)
            #expect(expected.entries == gone.count, comment)
            let bodies = Set(gone.values.map(\.body)).subtracting(left.values.map(\.body))
            #expect(expected.bytes == Int64(bodies.reduce(0) { $0 + $1.count }), comment)
            let present = try RawIndex(sandbox.indexPath).rows("SELECT id FROM entry").compactMap { $0[0] }
            #expect(Set(present) == Set(left.keys), comment)
            #expect(sandbox.files().count == Set(left.values.map(\.body)).subtracting([Data()]).count, comment)
            #expect(try store.removeAll(selection).entries == 0, comment)
            try store.clear()
        }
        #expect(try store.check(digests: true).isSound, seed)
    }

    @Test(
        "an invalid SQL expression, or more than one, throws and removes nothing",
        arguments: [
            "", " ", "-- all", "/* all */", "1) ; DROP TABLE entry --", "1); DELETE FROM entry; --", "1;",
            "(DELETE FROM entry)", "EXISTS (DELETE FROM entry RETURNING 1)", "(1", "1)", ")", "0)) OR ((1",
            "0))) OR (((1", "1)) /*", "1)) --", "1) /*", "1 /*", "1)) LIMIT ?9 /*", "0)) LIMIT ?9 OFFSET ((0",
            "1) UNION SELECT id FROM cache_entries WHERE (1", "0) UNION SELECT 1 WHERE (1", "1) OR (1",
            "1 THEN 1 END OR CASE WHEN 1", "1) LIMIT (1", "1) ORDER BY (1", "1) GROUP BY (1", "no_such_column",
            "head LIKE '%'", "entry.id > 0", "entry_id > 0", "session IS NULL", "key_checksum IS NOT NULL", "?", "?1",
            "?9 IS NULL", ":name", "@name", "$name", "?1000", "'", "\"", "1 1", "count(*) > 0", "load_extension('x')",
            "0)) OR ((1\0", "1\0", "SELECT 1", "\u{1}", "id IN (SELECT id FROM entry)",
            "(SELECT max(byte_count) FROM blob) > 0", "EXISTS (SELECT 1 FROM pragma_hard_heap_limit)",
        ])
    func malformed(_ predicate: String) throws {
        for name in ["a", "b"] {
            try store.insert(Data(name.utf8), metadata: sandbox.metadata(), for: CacheKey(name: name, partition: name))
        }
        let generation = try store.generation()
        for selection in [EntrySelection.matching(predicate), EntrySelection(partition: "a", predicate: predicate)] {
            for dryRun in [true, false] {
                let error = #expect(throws: StoreError.self) { try store.removeAll(selection, dryRun: dryRun) }
                #expect(error?.sqlite != nil)
            }
        }
        #expect(try store.statistics().entries == 2)
        #expect(try store.generation() == generation)
        #expect(try store.check(digests: true).isSound)
    }

    @Test(
        "an SQL expression removes the entries for which it is true and the other conditions hold",
        arguments: [
            ("1", 2), ("0", 0), ("NULL", 0), ("1 -- all", 2), ("1 /* all */", 2), ("'a'", 0), ("'1'", 2), ("0.5", 2),
            ("partition = 'b'", 1), ("url IN (SELECT url FROM cache_entries)", 2),
            ("(SELECT count(*) FROM cache_entries) = 2", 2), ("key LIKE 'NAME=%'", 2), ("\n1\n", 2),
        ])
    func predicates(_ predicate: String, _ count: Int) throws {
        for name in ["a", "b"] {
            try store.insert(Data(name.utf8), metadata: sandbox.metadata(), for: CacheKey(name: name, partition: name))
        }
        #expect(try store.removeAll(EntrySelection(partition: "c", predicate: predicate)).entries == 0)
        #expect(try store.removeAll(.matching(predicate), dryRun: true).entries == count)
        #expect(try store.removeAll(.matching(predicate)).entries == count)
        #expect(try store.statistics().entries == 2 - count)
    }
}
