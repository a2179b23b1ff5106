import CacheStore
import Foundation
import TestSupport
import Testing

@Suite("TarWriter")
struct TarWriterTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static func archive(_ files: [TarReader.File]) -> [UInt8] {
        files.flatMap { file -> [UInt8] in
            let entry = TarEntry(name: file.name, byteCount: Int64(file.body.count))
            return TarWriter.header(of: entry, modifiedAt: 784_111_777) + file.body
                + [UInt8](repeating: 0, count: entry.paddingByteCount)
        } + TarWriter.end
    }

    private static let files = [0, 1, 511, 512, 513, 100_000].map { count in
        TarReader.File(name: "blobs/file of \(count)", body: Array(Data.noise(count, seed: UInt64(count))))
    }

    @Test("What is written is read again, however it arrives", arguments: [1, 100, 512, 4_000, .max])
    func roundTrip(chunk: Int) throws {
        let bytes = Self.archive(Self.files)
        #expect(bytes.count % 512 == 0)
        #expect(try TarReader.files(in: bytes, chunk: chunk) == Self.files)
    }

    @Test("From 8 GiB on the size is in a record", arguments: [0o777_7777_7777, 0o1000_0000_0000, 1 << 50, Int64.max])
    func large(byteCount: Int64) throws {
        let header = TarWriter.header(of: TarEntry(name: "name", byteCount: byteCount), modifiedAt: -5)
        #expect(header.count == (byteCount > 0o777_7777_7777 ? 3 : 1) * 512)
        var reader = TarReader()
        try header.withUnsafeBytes { bytes in
            var input = bytes
            guard case .file(let entry) = try reader.next(&input) else { throw CancellationError() }
            #expect(entry == TarEntry(name: "name", byteCount: byteCount))
        }
        #expect(throws: ArchiveError.truncated) { try reader.finish() }
    }

    // MARK: The program of that name

    private static let program = ["/usr/bin/tar", "/bin/tar"].first { FileManager.default.isExecutableFile(atPath: $0) }

    private func tar(_ arguments: String...) async throws -> String {
        let tar = URL(filePath: try #require(Self.program))
        let output = try await ProcessRunner.run(tar, ["-C", directory.path] + arguments)
        #expect(output.exitCode == 0 && output.errorText.isEmpty, "\(output.errorText)")
        return output.text
    }

    @Test("tar lists and unpacks what is written", .enabled(if: program != nil))
    func unpacked() async throws {
        try Data(Self.archive(Self.files)).write(to: directory.url.appending(path: "a.tar"))
        let lines = try await tar("-t", "-f", directory.path + "/a.tar").split(separator: "\n").map(String.init)
        #expect(lines == Self.files.map(\.name))
        let details = try await tar("-t", "-v", "-f", directory.path + "/a.tar")
        #expect(details.hasPrefix("-rw-------") && details.contains("1994"))
        _ = try await tar("-x", "-f", directory.path + "/a.tar")
        for file in Self.files {
            #expect(try Data(contentsOf: directory.url.appending(path: file.name)) == Data(file.body))
        }
    }

    @Test("tar understands a file of 9 GiB", .enabled(if: program != nil))
    func unpackedLarge() async throws {
        let path = directory.path + "/large.tar"
        let header = TarWriter.header(of: TarEntry(name: "large", byteCount: 9 << 30), modifiedAt: 0)
        try Data(header).write(to: URL(filePath: path))
        // A hole: it takes no room.
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: UInt64(header.count) + 9 << 30 + 1024)
        let line = try await tar("-t", "-v", "-f", path)
        #expect(line.contains("9663676416") && line.hasSuffix(" large\n"))
    }

    @Test(
        "What tar packs is read", .enabled(if: program != nil), arguments: [[], ["--format=ustar"], ["--format=pax"]])
    func packed(options: [String]) async throws {
        for file in Self.files {
            try FileManager.default.createDirectory(
                at: directory.url.appending(path: "blobs"), withIntermediateDirectories: true)
            try Data(file.body).write(to: directory.url.appending(path: file.name))
        }
        let arguments = ["-C", directory.path] + options + ["-c", "-f", directory.path + "/b.tar"]
        let output = try await ProcessRunner.run(
            URL(filePath: try #require(Self.program)), arguments + Self.files.map(\.name))
        #expect(output.exitCode == 0, "\(output.errorText)")
        let bytes = try Array(Data(contentsOf: directory.url.appending(path: "b.tar")))
        #expect(try TarReader.files(in: bytes, chunk: 1000) == Self.files)
    }
}
