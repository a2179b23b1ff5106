import Foundation
import TestSupport
import Testing

extension ToolTests {
    @Suite("export and import", .serialized)
    struct Archive {
        let tool: Tool
        /// The archive.
        let file: String

        init() async throws {
            tool = try Tool()
            file = tool.directory.path + "/a.tar"
            for name in ["a", "b", "c"] {
                let body = String(repeating: name, count: 1000)
                try await tool("put", "http://a.test/\(name)", "-", input: body).expect(0, error: nil)
            }
        }

        private func names(of directory: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        }

        @Test("A store goes into a file and comes out of it")
        func roundTrip() async throws {
            let output = try await tool("export", file)
            output.expect(0, error: nil)
            #expect(output.text == "exported 3 entries, 3 files, 3.0 kB\n")
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)

            let copy = tool.directory.path + "/copy"
            let imported = try await tool.raw(["import", file, "--store", copy])
            imported.expect(0, error: nil)
            #expect(imported.text == "imported 3 entries, 3 files, 3.0 kB\n")
            #expect(try await tool.raw(["check", "--digests", "--store", copy]).text == "3 files, sound\n")
            let body = try await tool.raw(["get", "http://a.test/b", "--policy", "cache-only", "--store", copy])
            #expect(body.text == String(repeating: "b", count: 1000))
            #expect(try names(of: tool.directory.path) == ["a.tar", "copy", "store"])
        }

        @Test("Through a pipe; --json gives the numbers")
        func pipe() async throws {
            let output = try await tool.shell(
                #""$0" export - --store "$STORE" | "$0" import - --store "$STORE-copy" --json"#)
            #expect(
                try output.json([String: Int].self) == [
                    "entries": 3, "files": 3, "bytes": 3000, "entries_left_out": 0,
                ])
            #expect(
                try await tool("export", file, "--json").json([String: Int].self) == [
                    "entries": 3, "files": 3, "bytes": 3000, "entries_left_out": 0,
                ])
            try await tool("export", "-", "--json").expect(64, error: "--json")
        }

        @Test(
            "tar finds the files of the store",
            .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tar")))
        func tar() async throws {
            let output = try await tool.shell(#""$0" export - --store "$STORE" | tar -t -f -"#)
            let rows = try await tool.rows("SELECT file_path FROM cache_entries ORDER BY file_path")
            #expect([JSON.text("index.sqlite")] + rows.compactMap { $0["file_path"] } == output.lines.map(JSON.text))
        }

        @Test(
            "A store that tar has packed is imported, but nothing else than its files",
            .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tar")))
        func packedByTar() async throws {
            let whole = try await tool.shell(
                #"(cd "$STORE" && tar -c -f - index.sqlite blobs/*/*) | "$0" import - --store "$STORE-copy""#)
            #expect(whole.text == "imported 3 entries, 3 files, 3.0 kB\n")
            let more = try await tool.shell(
                #"(cd "$STORE" && tar -c -f - . 2>&-) | "$0" import - --store "$STORE-more""#)
            more.expect(2, error: #""./" is not a regular file"#)
            #expect(try names(of: tool.directory.path) == ["store", "store-copy"])
        }

        @Test("What was lost or altered is left out, and said")
        func damaged() async throws {
            let paths = try await tool.rows("SELECT file_path FROM cache_entries ORDER BY key").map { row in
                guard case .text(let path) = row["file_path"] else { throw CancellationError() }
                return "\(tool.store)/\(path)"
            }
            try FileManager.default.removeItem(atPath: paths[0])
            try Data(repeating: 0, count: 1000).write(to: URL(filePath: paths[1]))
            #expect(
                try await tool("export", file).text
                    == "exported 2 entries, 2 files, 2.0 kB; left out 1 entry, body gone meanwhile\n")
            #expect(
                try await tool.raw(["import", file, "--store", tool.directory.path + "/copy"]).text
                    == "imported 1 entry, 1 file, 1.0 kB; left out 2 entries, body damaged or missing\n")
        }

        @Test("An export that fails leaves the file as it was, and no other")
        func failedExport() async throws {
            _ = try tool.file("a.tar", Data("mine".utf8))
            let missing = tool.directory.path + "/missing"
            try await tool.raw(["export", file, "--store", missing]).expect(2, error: "there is no store in \(missing)")
            try await tool("export", "\(missing)/a.tar").expect(2, error: "\(missing)/a.tar: ")
            try await tool("export", tool.directory.path).expect(2, error: "\(tool.directory.path): ")
            #if os(Linux)
            try await tool("export", "/dev/full").expect(2, error: "/dev/full: No space")
            #endif
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
            #expect(try names(of: tool.directory.path) == ["a.tar", "store"])
        }

        @Test("A reader that leaves early ends an export")
        func goneReader() async throws {
            let large = try tool.file("large", Data(repeating: 1, count: 2_000_000))
            _ = try await tool("put", "http://a.test/large", large)
            let output = try await tool.shell(#"{ "$0" export - --store "$STORE"; echo "exit $?" >&2; } | head -c 1"#)
            #expect(output.errorText == "exit 0\n")
        }

        @Test("An export leaves nothing in the directory for temporary files")
        func temporaryFiles() async throws {
            let temporary = tool.directory.path + "/tmp"
            try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
            var environment = ProcessInfo.processInfo.environment
            environment["TMPDIR"] = temporary
            for target in [file, tool.directory.path] {
                _ = try await tool.raw(["export", target, "--store", tool.store], environment: environment)
            }
            #expect(try names(of: temporary) == [])
            environment["TMPDIR"] = temporary + "/missing"
            let output = try await tool.raw(["export", file, "--store", tool.store], environment: environment)
            output.expect(2, error: "\(temporary)/missing")
        }

        @Test("An import that fails says why in one line, and leaves nothing behind")
        func failedImport() async throws {
            let garbage = try tool.file("garbage", Data(repeating: 0xA5, count: 5000))
            let before = try names(of: tool.directory.path)
            let place = tool.directory.path + "/new/copy"
            for (arguments, code, words) in [
                ([garbage, "--store", place], 2, "\(garbage) is not the archive of a store: "),
                (["-", "--store", place], 2, "the standard input is not the archive of a store: it ends too early"),
                (["/nowhere", "--store", place], 2, "/nowhere: "), (["/", "--store", place], 2, "cachestore: /: "),
                (["-", "--store", tool.store], 2, "cannot use \(tool.store)"), (["-"], 64, "--store"),
                ([], 64, "file"),
            ] as [([String], Int32, String)] {
                try await tool.raw(["import"] + arguments).expect(code, error: words)
            }
            #expect(try names(of: tool.directory.path) == before)
            #expect(try await tool("check", "--digests").text == "3 files, sound\n")
        }
    }
}
