import CacheStore
import Foundation
import TestSupport
import Testing

/// What an import refuses. Whatever it is: nothing is left behind, and nothing is written elsewhere.
@Suite("Import of what is no store")
struct ImportTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    private static let hexadecimal = String(repeating: "0", count: 62)

    @Test(
        "A name that no file of a store has",
        arguments: [
            "", ".", "..", "/", "/etc/passwd", "/index.sqlite", "./index.sqlite", "../index.sqlite", "index.sqlite/",
            "INDEX.SQLITE", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite.", "staging/x", "blobs", "blobs/",
            "blobs/00", "blobs/00/", "blobs/00/00", "blobs//\(hexadecimal)", "blobs/../\(hexadecimal)",
            "blobs/00/../../../\(hexadecimal)", "blobs/00/\(hexadecimal)/", "blobs/00/\(hexadecimal)0",
            "blobs/00/\(hexadecimal.dropLast())", "blobs/00/\(hexadecimal.dropLast())G", "blobs/AA/\(hexadecimal)",
            "blobs/00/\(hexadecimal.dropLast())A", "/blobs/00/\(hexadecimal)", "./blobs/00/\(hexadecimal)",
            "blobs/0/0\(hexadecimal)", "blobs/000/\(hexadecimal.dropLast())", "blobs\\00\\\(hexadecimal)",
            "blobs/00/\(hexadecimal)\u{FF0F}x", "blobs/００/\(hexadecimal)", "BLOBS/00/\(hexadecimal)",
            "index.sqlit\u{FF45}",
        ])
    func names(name: String) throws {
        // In the header, as far as there is room, and in a record.
        if name.utf8.count <= 100 { try expect(.archive(.foreignName(name)), of: TarSample.file(name, "x")) }
        try expect(.archive(.foreignName(name)), of: Self.records(path: name))
        try expect(.archive(.foreignName(name + "\0")), of: Self.records(path: name + "\0"))
    }

    private static func records(path: String) -> [UInt8] {
        let rest = " path=\(path)\n"
        let length = (1...1_000).first { "\($0)\(rest)".utf8.count == $0 } ?? 0
        return TarSample.records("\(length)\(rest)", file: "index.sqlite", "x")
    }

    @Test("A good name and a NUL")
    func endedName() throws {
        try expect(.archive(.foreignName("index.sqlite\0")), of: Self.records(path: "index.sqlite\0"))
    }

    @Test("Something else than a file under a good name", arguments: ["1", "2", "3", "4", "5", "6", "7", "S", "V"])
    func types(type: String) throws {
        for name in ["index.sqlite", "blobs/00/" + Self.hexadecimal] {
            let error = ArchiveError.unsupportedType(name: name, type: Array(type.utf8)[0])
            try expect(.archive(error), of: TarSample.file(name, type: type, patches: [157: "../../target"]))
        }
    }

    @Test("A name that comes twice", arguments: ["index.sqlite", "blobs/00/" + hexadecimal])
    func duplicates(name: String) throws {
        var sample = TarSample()
        sample.add(name, "first".utf8)
        sample.add("blobs/11/" + Self.hexadecimal, "between".utf8)
        sample.add(name, "second".utf8)
        try expect(.archive(.duplicateName(name)), of: sample.ended)
    }

    @Test("An archive cut off anywhere")
    func truncated() throws {
        let archive = try stored()
        for count in stride(from: 0, to: archive.count, by: 1_111) {
            try expect(.archive(.truncated), of: Array(archive.prefix(count)))
        }
        try expect(.archive(.truncated), of: Array(archive.dropLast(1)))
        try expect(.archive(.trailingBytes(offset: Int64(archive.count))), of: archive + [1])
        try expect(.archive(.missingIndex), of: TarWriter.end)
        try expect(.archive(.missingIndex), of: TarSample.file("blobs/00/" + Self.hexadecimal, "x"))
    }

    /// A small store as an archive; the store itself is elsewhere, and gone.
    private func stored(_ sql: String = "") throws -> [UInt8] {
        let other = try Sandbox()
        let store = try other.open()
        try store.insert(Data.noise(2_000, seed: 1), metadata: other.metadata(), for: .path("a"))
        if !sql.isEmpty { try RawIndex(other.indexPath).execute(sql) }
        return try store.archive().bytes
    }

    private func expect(
        _ error: StoreError, of archive: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try sandbox.surroundings()
        #expect(throws: error, sourceLocation: sourceLocation) {
            try ResponseStore.importing(archive, into: sandbox.directory.url.appending(path: "new/deep/store"))
        }
        #expect(try sandbox.surroundings() == before, sourceLocation: sourceLocation)
    }

    // MARK: The index

    @Test(
        "An index that is none, or not quite",
        arguments: [
            ("CREATE TRIGGER bad AFTER INSERT ON access BEGIN DELETE FROM entry; END", "its schema"),
            ("CREATE VIEW bad AS SELECT 1", "its schema"), ("CREATE TABLE bad (x)", "its schema"),
            ("DROP VIEW cache_errors", "its schema"), ("DROP INDEX entry_by_body", "its schema"),
            ("DROP TRIGGER entry_deleted", "its schema"), ("PRAGMA application_id = 1", "it is not the index"),
            ("PRAGMA user_version = 0", "it is not the index"), ("PRAGMA user_version = -1", "it is not the index"),
        ])
    func schema(sql: String, words: String) throws {
        #expect {
            try ResponseStore.importing(stored(sql), into: sandbox.url)
        } throws: { error in
            guard case StoreError.archive(.damagedIndex(let reason)) = error else { return false }
            return reason.hasPrefix(words)
        }
        #expect(try sandbox.surroundings() == [])
    }

    @Test("An index of a newer version")
    func newer() throws {
        #expect {
            try ResponseStore.importing(stored("PRAGMA user_version = 999"), into: sandbox.url)
        } throws: { error in
            guard case StoreError.newerSchema(_, found: 999, _) = error else { return false }
            return true
        }
        #expect(try sandbox.surroundings() == [])
    }

    @Test("An index of other bytes", arguments: ["empty", "text", "zeros", "cut", "page"])
    func damaged(damage: String) throws {
        var files = try TarReader.files(in: stored())
        var index = files[0].body
        switch damage {
        case "empty": index = []
        case "text": index = Array("This is no index.".utf8)
        case "zeros": index = [UInt8](repeating: 0, count: 8_192)
        case "cut": index = Array(index.dropLast(index.count / 2))
        default: for offset in 4_096..<8_192 { index[offset] = 0xA5 }
        }
        files[0].body = index
        var sample = TarSample()
        for file in files { sample.add(file.name, file.body) }
        #expect {
            try ResponseStore.importing(sample.ended, into: sandbox.url)
        } throws: { error in
            guard case StoreError.archive(.damagedIndex) = error else { return false }
            return true
        }
        #expect(try sandbox.surroundings() == [])
    }

    @Test(
        "Rows that do not fit are mended, as repair does",
        arguments: [
            "UPDATE blob SET reference_count = 7", "DELETE FROM total", "UPDATE entry SET byte_count = 7",
        ])
    func mended(sql: String) throws {
        try ResponseStore.importing(stored(sql), into: sandbox.url)
        #expect(try sandbox.open().check(digests: true).problems == [])
    }

    // MARK: The place

    @Test(
        "Where there is something already, it stays as it is", arguments: ["store", "file", "folder", "not a folder"])
    func occupied(place: String) throws {
        let archive = try stored()
        switch place {
        case "store":
            try sandbox.open().insert(Data("mine".utf8), metadata: sandbox.metadata(), for: .path("mine"))
        case "not a folder": try Data("mine".utf8).write(to: URL(filePath: sandbox.path))
        default:
            try FileManager.default.createDirectory(
                at: sandbox.url.appending(path: "below"), withIntermediateDirectories: true)
            if place == "file" {
                try FileManager.default.removeItem(at: sandbox.url.appending(path: "below"))
                try Data("mine".utf8).write(to: sandbox.url.appending(path: "mine"))
            }
        }
        let before = try sandbox.surroundings()
        #expect {
            try ResponseStore.importing(archive, into: sandbox.url)
        } throws: { error in
            guard case StoreError.unusableDirectory = error else { return false }
            return true
        }
        #expect(try sandbox.surroundings() == before)
        if place == "store" { #expect(try sandbox.open().bytes(.path("mine")) == Data("mine".utf8)) }
    }

    @Test("Nothing there, an empty directory, and a link to one are good places")
    func places() throws {
        let archive = try stored()
        let root = sandbox.directory.url
        let manager = FileManager.default
        try manager.createDirectory(at: root.appending(path: "empty"), withIntermediateDirectories: true)
        try manager.createDirectory(at: root.appending(path: "linked"), withIntermediateDirectories: true)
        try manager.createSymbolicLink(
            at: root.appending(path: "link"), withDestinationURL: root.appending(path: "linked"))
        for name in ["empty", "link", "a/b/c", "slash/"] {
            let url = root.appending(path: name)
            #expect(try ResponseStore.importing(archive, into: url).entries == 1)
            let store = try ResponseStore(directory: url)
            #expect(try store.bytes(.path("a")) == Data.noise(2_000, seed: 1))
            store.close()
        }
        #expect(
            try manager.contentsOfDirectory(atPath: root.path).sorted() == ["a", "empty", "link", "linked", "slash"])
        #expect(try manager.contentsOfDirectory(atPath: root.path + "/linked").sorted() == ["blobs", "index.sqlite"])
    }
}
