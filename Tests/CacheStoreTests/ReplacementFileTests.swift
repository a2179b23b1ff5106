import TestSupport

@Suite("Replacement files")
struct ReplacementFileTests {
    let sandbox = Sandbox()
    let body = Data.noise(300_000, seed: 11)
    var path: String { sandbox.directory.path + "/copy" }

    private func storedBody() throws -> StoredBody {
        let store = try sandbox.open()
        let entry = try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
        return try #require(try store.openBody(of: entry))
    }

    @Test("a copied body has the permissions of a new file, and further bytes follow it", arguments: [false, true])
    func copied(isPrivate: Bool) async throws {
        let stored = try storedBody()
        let other = sandbox.directory.path + "/other"
        let descriptor = open(other, O_WRONLY | O_CREAT, isPrivate ? 0o600 : 0o666)
        close(descriptor)
        let file = try ReplacementFile(replacing: path, isPrivate: isPrivate)
        #expect(try await file.append(stored))
        try await file.write(Data("tail".utf8))
        try file.commit()
        #expect(try Data(contentsOf: URL(filePath: path)) == body + Data("tail".utf8))
        let modes = try [path, other].map { path in
            try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        }
        #expect(modes[0] == modes[1])
        // The stored body shares no bytes with the copy.
        #expect(try stored.data() == body)
        #expect(try names() == ["copy", "other", "store"])
    }

    @Test("copies only the part from a file that is longer than the part")
    func part() async throws {
        let store = try sandbox.open()
        let writer = store.makeBodyWriter()
        var metadata = sandbox.metadata(etag: "\"1\"")
        metadata.part = EntryPart(start: 0, completeLength: Int64(body.count))
        try writer.write(body.prefix(100_000))
        let entry = try #require(try await writer.commitPrefix(metadata, for: .path("a"), replacing: nil))
        try writer.write(body[100_000..<200_000])
        let stored = try #require(try store.openBody(of: entry))
        let file = try ReplacementFile(replacing: path)
        #expect(try await file.append(stored))
        try file.commit()
        #expect(try Data(contentsOf: URL(filePath: path)) == body.prefix(100_000))
    }

    @Test("a file that is not committed leaves nothing behind")
    func abandoned() async throws {
        let stored = try storedBody()
        do {
            let file = try ReplacementFile(replacing: path)
            #expect(try await file.append(stored))
        }
        #expect(try names() == ["store"])
    }

    @Test("on Darwin's code path, a copy is a new file that replaces the first", .enabled(if: DarwinPaths.areForced))
    func cloned() async throws {
        let stored = try storedBody()
        let file = try ReplacementFile(replacing: path)
        let staged = try #require(try names().first { $0.hasPrefix(".cachestore-") })
        let first = try inode(of: staged)
        #expect(try await file.append(stored))
        #expect(try inode(of: staged) != first)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: sandbox.directory.path).sorted()
    }

    private func inode(of name: String) throws -> UInt64? {
        let attributes = try FileManager.default.attributesOfItem(atPath: sandbox.directory.path + "/" + name)
        return (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
    }
}
