import TestSupport

@Suite("EntryOptions")
struct OptionsTests {
    let sandbox = Sandbox()
    let store: ResponseStore

    init() throws { store = try sandbox.open() }

    static let plain = EntryOptions(lifetime: .permanent, isPinned: false, tags: [])

    // MARK: Replacing

    @Test(
        "an omitted option keeps that of the entry; a new entry is permanent, not pinned, without tags",
        arguments: [
            (EntryOptions?.none, EntryOptions(), plain),
            (nil, EntryOptions(lifetime: .session), EntryOptions(lifetime: .session, isPinned: false, tags: [])),
            (nil, EntryOptions(isPinned: true), EntryOptions(lifetime: .permanent, isPinned: true, tags: [])),
            (nil, EntryOptions(tags: ["a"]), EntryOptions(lifetime: .permanent, isPinned: false, tags: ["a"])),
            (EntryOptions(), EntryOptions(), plain),
            (
                EntryOptions(lifetime: .session, isPinned: true, tags: ["a", "b"]), EntryOptions(),
                EntryOptions(lifetime: .session, isPinned: true, tags: ["a", "b"])
            ),
            (EntryOptions(lifetime: .session, isPinned: true, tags: ["a", "b"]), plain, plain),
            (
                EntryOptions(lifetime: .session, isPinned: true, tags: ["a"]), EntryOptions(tags: ["b", "c"]),
                EntryOptions(lifetime: .session, isPinned: true, tags: ["b", "c"])
            ),
            (
                EntryOptions(isPinned: true, tags: ["a"]), EntryOptions(lifetime: .session, isPinned: false),
                EntryOptions(lifetime: .session, isPinned: false, tags: ["a"])
            ),
            (EntryOptions(tags: ["a"]), EntryOptions(tags: []), plain),
        ])
    func replaced(_ old: EntryOptions?, _ new: EntryOptions, _ expected: EntryOptions) throws {
        let key = try CacheKey.path("a")
        if let old {
            let entry = try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key, options: old)
            #expect(try store.setOptions(new, for: key))
            #expect(try store.peek(key)?.options == expected)
            #expect(try store.check().isSound)
            try store.remove(entry.key)
            try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key, options: old)
        }
        let entry = try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: key, options: new)
        #expect(entry.options == expected)
        #expect(try store.peek(key) == entry)
        #expect(try store.freshen(entry, with: sandbox.metadata(etag: "\"x\"")))
        #expect(try store.peek(key)?.options == expected)
        #expect(try store.check().isSound)
        let row = try store.query("SELECT lifetime, is_pinned, tags IS NULL FROM cache_entries").rows
        #expect(
            row == [
                [
                    .text(expected.lifetime == .session ? "session" : "permanent"),
                    .integer(expected.isPinned == true ? 1 : 0), .integer(expected.tags == [] ? 1 : 0),
                ]
            ])
        for tag in ["a", "b", "c"] {
            let found = try store.removeAll(.tag(tag), dryRun: true).entries
            #expect(found == (expected.tags?.contains(tag) == true ? 1 : 0))
        }
    }

    @Test("sets options for every response of a key, and of no other key")
    func setOptions() throws {
        #expect(try !store.setOptions(EntryOptions(isPinned: true), for: .path("a")))
        for (kind, variant) in [(EntryMetadata.Kind.content, ""), (.error, ""), (.content, "gzip")] {
            try store.insert(
                Data("\(kind)\(variant)".utf8), metadata: sandbox.metadata(kind, variant: variant), for: .path("a"))
        }
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        let options = EntryOptions(lifetime: .session, isPinned: true, tags: ["x", "y"])
        #expect(try store.setOptions(options, for: .path("a")))
        #expect(try store.responses(for: .path("a")).map(\.options) == [options, options, options])
        #expect(try store.peek(.path("b"))?.options == Self.plain)
        #expect(try store.setOptions(EntryOptions(), for: .path("a")))
        #expect(try store.responses(for: .path("a")).map(\.options) == [options, options, options])
        #expect(try store.setOptions(Self.plain, for: .path("a")))
        #expect(try store.responses(for: .path("a")).map(\.options) == [Self.plain, Self.plain, Self.plain])
        #expect(try RawIndex(sandbox.indexPath).value("SELECT count(*) FROM tag") == "0")
        #expect(try store.check().isSound)
    }

    // MARK: Tags

    static let hostileTags: [String] = [
        "a", "A", " ", "é", "e\u{301}x", "日本語", "👩‍👩‍👧‍👦", "\u{1}\u{2}\u{1f}\u{7f}", "\n\r\t", "\"", "\\", "\\u0041",
        "'", "''; DROP TABLE tag --", "[\"a\"]", "[]", "{}", "null", "NULL", "0", "-1.5e3", "true", "%", "_", "*", "/",
        "</script>", "\u{feff}", "\u{202e}", "\u{2028}", "\u{10ffff}", "\u{fffd}", "\u{e000}", "a,b",
        String(repeating: "x", count: 256),
    ]

    @Test("tags are stored byte by byte, and each selects only its own entries")
    func tags() throws {
        for (number, tag) in Self.hostileTags.enumerated() {
            let entry = try store.insert(
                Data("\(number)".utf8), metadata: sandbox.metadata(), for: .path(number),
                options: EntryOptions(tags: [tag, "all"]))
            #expect(entry.options.tags == [tag, "all"])
            let found = try store.peek(.path(number))?.options.tags ?? []
            #expect(found == [tag, "all"])
            #expect(found.contains { $0.utf8.elementsEqual(tag.utf8) }, "\(tag.debugDescription)")
        }
        #expect(try store.check().isSound)
        for (number, tag) in Self.hostileTags.enumerated() {
            #expect(try store.removeAll(.tag("all"), dryRun: true).entries == Self.hostileTags.count - number)
            #expect(try store.removeAll(.tag(tag)).entries == 1, "\(tag.debugDescription)")
            #expect(try !store.contains(.path(number)))
        }
        #expect(try RawIndex(sandbox.indexPath).value("SELECT count(*) FROM tag") == "0")
    }

    @Test("keeps 64 tags; refuses one more, an empty one, a long one and a NUL, and then stores nothing")
    func refused() throws {
        let most = Set((0..<EntryOptions.maxTagCount).map { "\($0)" })
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"), options: .init(tags: most))
        #expect(try store.peek(.path("a"))?.options.tags == most)
        for tags in [
            most.union(["more"]), [""], ["a", ""], [String(repeating: "x", count: 257)],
            [String(repeating: "é", count: 128) + "x"], ["a\0b"],
        ] {
            let calls: [() throws -> Void] = [
                {
                    try store.insert(
                        Data("b".utf8), metadata: sandbox.metadata(), for: .path("a"), options: .init(tags: tags))
                },
                { try store.setOptions(.init(isPinned: true, tags: tags), for: .path("a")) },
            ]
            for call in calls {
                #expect(performing: call, throws: { if case StoreError.invalidTag = $0 { true } else { false } })
            }
        }
        #expect(try store.bytes(.path("a")) == Data("a".utf8))
        #expect(try store.peek(.path("a"))?.options == .init(lifetime: .permanent, isPinned: false, tags: most))
        #expect(sandbox.files().count == 1)
    }

    @Test("tags that were edited into other JSON count as none", arguments: ["1", "{}", "[1]", "\"a\"", "null"])
    func edited(_ json: String) throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"), options: .init(tags: ["x"]))
        try RawIndex(sandbox.indexPath).execute("UPDATE entry SET tags = '\(json)'")
        #expect(try store.peek(.path("a"))?.options.tags == [])
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("a"))
        try store.setOptions(.init(tags: ["y"]), for: .path("a"))
        #expect(try store.removeAll(.tag("y")).entries == 1)
        #expect(try RawIndex(sandbox.indexPath).value("SELECT count(*) FROM tag") == "0")
    }
}
