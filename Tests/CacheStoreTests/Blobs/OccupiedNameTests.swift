import TestSupport

@Suite("Directories under the names of blobs")
struct OccupiedNameTests {
    let sandbox = Sandbox()
    let body = Data.noise(10_000, seed: 7)
    var digest: ContentDigest { ContentDigest(of: body) }
    var path: String { sandbox.file(of: digest).path(percentEncoded: false) }

    private func plantDirectory(with file: String? = nil) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        if let file { try Data("foreign".utf8).write(to: URL(filePath: path + "/" + file)) }
    }

    /// The paths of renamed directories in the shard.
    private func quarantined() throws -> [String] {
        let shard = sandbox.file(of: digest).deletingLastPathComponent().path(percentEncoded: false)
        return try FileManager.default.contentsOfDirectory(atPath: shard)
            .filter { $0.contains(".quarantined-") }.map { shard + $0 }
    }

    @Test(
        "stores content even if a directory has the name of its blob",
        arguments: [ResponseStore.Configuration.Durability.relaxed, .durable], [nil, "notes.txt"])
    func stored(durability: ResponseStore.Configuration.Durability, file: String?) throws {
        let store = try sandbox.open { $0.durability = durability }
        try plantDirectory(with: file)
        try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
        #expect(try store.bytes(.path("a")) == body)
        let quarantined = try quarantined()
        #expect(quarantined.count == (file == nil ? 0 : 1))
        for path in quarantined {
            #expect(try Data(contentsOf: URL(filePath: path + "/notes.txt")) == Data("foreign".utf8))
        }
        let report = try store.check(digests: true)
        #expect(report.problems == [])
        #expect(report.foreignFiles.count == quarantined.count)
    }

    @Test("repair frees the name, also of an entry's content", arguments: [nil, "notes.txt"], [false, true])
    func repaired(file: String?, hasEntry: Bool) throws {
        let store = try sandbox.open()
        if hasEntry {
            try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
            try FileManager.default.removeItem(atPath: path)
        }
        try plantDirectory(with: file)
        #expect(try !store.repair().isSound)
        #expect(try store.check(digests: true).problems == [])
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try quarantined().count == (file == nil ? 0 : 1))
    }

    @Test("unlinking a digest reports whether its name existed")
    func unlinked() throws {
        let blobs = try BlobDirectory(root: FileDescriptor.openDirectory(atPath: sandbox.directory.path))
        let shard = sandbox.directory.path + "/blobs/" + digest.description.prefix(2)
        try FileManager.default.createDirectory(
            atPath: shard + "/" + digest.description.dropFirst(2), withIntermediateDirectories: true)
        #expect(try blobs.unlink(digest))
        #expect(try !blobs.unlink(digest))
        #expect(try FileManager.default.contentsOfDirectory(atPath: shard) == [])
    }
}
