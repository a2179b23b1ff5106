import TestSupport

@Suite("Open bodies")
struct OpenBodiesTests {
    let sandbox = Sandbox()

    struct Case: CustomTestStringConvertible {
        let name: String
        let staysOpen: Bool
        var byteCount = 100
        var configure: @Sendable (inout ResponseStore.Configuration) -> Void = { _ in }
        var change: @Sendable (ResponseStore, StoredEntry, URL) async throws -> Void = { _, _, _ in }

        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "a body", staysOpen: true),
        Case(name: "256 KiB", staysOpen: true, byteCount: 262_144),
        Case(name: "a byte more", staysOpen: false, byteCount: 262_145),
        Case(name: "a count of 0", staysOpen: false, configure: { $0.openBodyCount = 0 }),
        Case(name: "secure deletion", staysOpen: false, configure: { $0.secureDelete = true }),
        Case(name: "verification of each read", staysOpen: false, configure: { $0.verification = .everyRead }),
        Case(
            name: "a suspension", staysOpen: false,
            change: { store, _, _ in
                store.suspend()
                try store.resume()
            }),
        Case(
            name: "another link to the file", staysOpen: false,
            change: { _, _, file in
                try FileManager.default.linkItem(at: file, to: file.deletingLastPathComponent().appending(path: "link"))
            }),
        Case(
            name: "other bodies", staysOpen: false, configure: { $0.openBodyCount = 2 },
            change: { store, entry, _ in
                for number in 0..<2 {
                    let other = try await store.insert(
                        Data("\(number)".utf8), metadata: entry.metadata, for: .path("other\(number)"))
                    _ = try store.openBody(of: other)
                }
            }),
    ]

    @Test("the same open file serves a body again, within bounds and until the file changes", arguments: cases)
    func reused(_ c: Case) async throws {
        let store = try sandbox.open(c.configure)
        let entry = try await store.insert(
            Data(repeating: 1, count: c.byteCount), metadata: sandbox.metadata(), for: .path("a"))
        let first = try #require(try store.openBody(of: entry))
        try await c.change(store, entry, sandbox.file(of: try #require(entry.digest)))
        let again = try #require(try store.openBody(of: entry))
        #expect((again === first) == c.staysOpen)
        #expect(try again.data() == first.data())
    }

    @Test("a deleted body is closed, also by a reader that opened it earlier")
    func deleted() async throws {
        let store = try sandbox.open()
        let entry = try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        weak let body = try store.openBody(of: entry)
        #expect(body != nil)
        try await store.remove(.path("a"))
        #expect(body == nil)
        #expect(try store.openBody(of: entry) == nil)
    }
}
