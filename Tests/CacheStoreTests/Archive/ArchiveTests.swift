import CacheStore
import Foundation
import Migrations
import TestSupport
import Testing

@Suite("Export and import")
struct ArchiveTests {
    let sandbox: Sandbox
    let target: Sandbox

    init() throws {
        sandbox = try Sandbox()
        target = try Sandbox()
    }

    /// A store with something of everything: 7 entries, 3 files, 301,005 bytes.
    private func filled() throws -> ResponseStore {
        let store = try sandbox.open()
        let shared = Data.noise(1_000, seed: 1)
        for number in 0..<3 { try store.insert(shared, metadata: sandbox.metadata(), for: .path(number)) }
        try store.insert(Data.noise(300_000, seed: 2), metadata: sandbox.metadata(expiresIn: 60), for: .path("large"))
        try store.insert(Data(), metadata: sandbox.metadata(head: "Empty: yes\n"), for: .path("empty"))
        try store.insert(Data("other".utf8), metadata: sandbox.metadata(.error), for: .path(0))
        try store.insert(
            shared, metadata: sandbox.metadata(variant: "accept: a\n"), for: CacheKey(url: "http://a/", partition: "p"))
        try store.recordFailure(for: .path("failing"), status: 503)
        _ = try store.lookup(.path(1))
        try store.flush()
        return store
    }

    private let whole = (entries: 7, files: 3, bytes: Int64(301_005))

    private func expectWhole(_ report: ArchiveReport, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect((report.entries, report.files, report.bytes) == whole, sourceLocation: sourceLocation)
        #expect(report.entriesLeftOut == 0, sourceLocation: sourceLocation)
    }

    @Test("An imported store is the one that was exported")
    func roundTrip() throws {
        let store = try filled()
        let (bytes, report) = try store.archive()
        expectWhole(report)
        expectWhole(try ResponseStore.importing(bytes, into: target.url))
        let copy = try target.open()
        #expect(try copy.allRows() == store.allRows())
        #expect(try copy.bytes(.path("large")) == Data.noise(300_000, seed: 2))
        #expect(try copy.check(digests: true).problems == [])
        #expect(target.files() == sandbox.files())
        // The same as any other: it can be written to, and exported anew.
        try copy.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("new"))
        try copy.remove(.path("new"))
        copy.close()
        #expect(try target.surroundings().filter { !$0.contains("blobs") } == ["store", "store/index.sqlite"])
    }

    @Test("The archive is index and bodies in order, nothing else; nobody else may read what is unpacked")
    func content() throws {
        let store = try filled()
        try store.insert(Data("gone".utf8), metadata: sandbox.metadata(), for: .path("secret-path"))
        try store.remove(.path("secret-path"))
        let (bytes, _) = try store.archive()
        let files = try TarReader.files(in: bytes)
        #expect(files.map(\.name) == ["index.sqlite"] + sandbox.files().map { "blobs/" + $0 })
        // Of what was removed the pages of an index may still hold something; the copy does not.
        #expect(Data(bytes).range(of: Data("secret-path".utf8)) == nil)
        #expect(try store.archive().bytes == bytes)
        try ResponseStore.importing(bytes, into: target.url)
        for (name, mode) in try target.modes() {
            let isFile = name == "index.sqlite" || name.count > 60
            #expect(mode == (isFile ? 0o600 : 0o700), "\(name)")
        }
    }

    @Test("Through a pipe, without blocking a thread of the caller")
    func pipe() async throws {
        let store = try filled()
        let pipe = Pipe()
        let (reading, writing) = (pipe.fileHandleForReading.fileDescriptor, pipe.fileHandleForWriting)
        let url = target.url
        async let imported = ResponseStore.importArchive(from: reading, into: url)
        expectWhole(try await store.exportArchive(to: writing.fileDescriptor))
        try writing.close()
        expectWhole(try await imported)
        #expect(try await target.open().check(digests: true).problems == [])
    }

    @Test("Every older schema is imported, and is the newest afterwards", arguments: migrations.map(\.version))
    func olderSchema(version: Int32) throws {
        let path = sandbox.directory.path + "/old.sqlite"
        let index = try RawIndex(path)
        for step in migrations where step.version <= version { try index.execute(step.sql) }
        try index.execute("PRAGMA application_id = 0x43615374; PRAGMA user_version = \(version)")
        var archive = TarSample()
        archive.add("index.sqlite", try Data(contentsOf: URL(filePath: path)))
        #expect(try ResponseStore.importing(archive.ended, into: target.url).entries == 0)
        let newest = try #require(migrations.last).version
        #expect(try RawIndex(target.indexPath).value("PRAGMA user_version") == "\(newest)")
    }

    // MARK: Others at work

    @Test("While an export waits for its reader, others look up, store and evict; what is evicted is left out")
    func stalled() throws {
        let store = try sandbox.open()
        for number in 0..<20 {
            try store.insert(
                Data.noise(100_000, seed: UInt64(number)), metadata: sandbox.metadata(), for: .path(number))
        }
        let pipe = Pipe()
        let writing = pipe.fileHandleForWriting
        let exported = Background { try store.exportArchive(to: writing.fileDescriptor) }
        // Once the first byte is here, the index is copied; and the pipe holds much less than the bodies.
        let first = try #require(try pipe.fileHandleForReading.read(upToCount: 1))
        #expect(try store.bytes(.path(7)) == Data.noise(100_000, seed: 7))
        try store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("new"))
        try store.evict(maxBytes: 0)
        #expect(sandbox.files().isEmpty)

        let rest = pipe.fileHandleForReading
        let reader = Background { try rest.readToEnd() ?? Data() }
        let report = try exported.value()
        try writing.close()
        let bytes = try Array(first + reader.value())
        #expect(report.entries + report.entriesLeftOut == 20 && report.entriesLeftOut > 0)
        #expect(try ResponseStore.importing(bytes, into: target.url) == report)
        #expect(try target.open().check(digests: true).problems == [])
    }

    @Test("Whatever others store and remove meanwhile, an archive is sound")
    func concurrent() throws {
        let store = try sandbox.open()
        let other = try sandbox.open()
        let seed = SeededGenerator()
        var generator = seed
        for _ in 0..<100 { try ConcurrencyTests.act(on: store, &generator, sandbox.clock) }
        DispatchQueue.concurrentPerform(iterations: 3) { thread in
            var generator = SeededGenerator(seed: seed.seed &+ UInt64(thread))
            #expect(throws: Never.self, "\(seed)") {
                if thread > 0 {
                    for _ in 0..<300 {
                        try ConcurrencyTests.act(on: thread == 1 ? store : other, &generator, sandbox.clock)
                    }
                } else {
                    for _ in 0..<10 { try expectSound(store.archive(), seed) }
                }
            }
        }
    }

    private func expectSound(_ archive: (bytes: [UInt8], report: ArchiveReport), _ seed: SeededGenerator) throws {
        let target = try Sandbox()
        let (imported, exported) = (try ResponseStore.importing(archive.bytes, into: target.url), archive.report)
        #expect(imported.entries == exported.entries, "\(seed)")
        #expect(imported.entriesLeftOut == exported.entriesLeftOut, "\(seed)")
        // What is derived from a body that was left out goes with its entry.
        #expect(imported == exported || exported.entriesLeftOut > 0 && imported.files < exported.files, "\(seed)")
        #expect(try target.open().check(digests: true).problems == [], "\(seed)")
    }

    // MARK: Damage

    @Test(
        "Bodies that are missing or altered take their entries with them", arguments: ["missing", "short", "altered"])
    func damagedBody(damage: String) throws {
        let store = try filled()
        let file = sandbox.file(of: ContentDigest(of: Data.noise(1_000, seed: 1)))
        switch damage {
        case "missing": try FileManager.default.removeItem(at: file)
        case "short": try FileHandle(forWritingTo: file).truncate(atOffset: 10)
        default: try Data.noise(1_000, seed: 9).write(to: file)
        }
        let (bytes, report) = try store.archive()
        let isFound = damage != "altered"
        #expect(report.entries == (isFound ? 3 : 7) && report.entriesLeftOut == (isFound ? 4 : 0))
        let imported = try ResponseStore.importing(bytes, into: target.url)
        #expect((imported.entries, imported.files, imported.bytes) == (3, 2, 300_005))
        #expect(imported.entriesLeftOut == 4)
        #expect(try target.open().check(digests: true).problems == [])
        #expect(target.files().count == 2)
    }

    @Test("Bodies that the index does not name are not kept")
    func orphans() throws {
        var sample = TarSample()
        let files = try TarReader.files(in: filled().archive().bytes)
        // The order does not matter either.
        sample.add("blobs/00/" + String(repeating: "0", count: 62), "orphan".utf8)
        for file in files.reversed() { sample.add(file.name, file.body) }
        expectWhole(try ResponseStore.importing(sample.ended, into: target.url))
        #expect(target.files() == sandbox.files())
    }

    // MARK: What cannot be written

    @Test("A descriptor that cannot be used is an error, and is left open")
    func descriptors() throws {
        let store = try filled()
        #expect(throws: StoreError.self) { try store.exportArchive(to: -1) }
        #expect(throws: StoreError.self) { try ResponseStore.importArchive(from: -1, into: target.url) }
        #expect(try target.surroundings() == [])
        #if os(Linux)
        let full = try FileHandle(forUpdating: URL(filePath: "/dev/full"))
        for _ in 0..<2 {
            #expect {
                try store.exportArchive(to: full.fileDescriptor)
            } throws: { error in
                guard case StoreError.file(let error) = error else { return false }
                return error.errno == ENOSPC && error.path == "the archive"
            }
        }
        #endif
    }

    @Test("A store that is closed exports nothing")
    func closed() throws {
        let store = try filled()
        store.close()
        #expect(throws: StoreError.closed) { try store.archive() }
    }
}
