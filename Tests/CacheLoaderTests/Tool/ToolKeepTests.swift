import Foundation
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

extension ToolTests {
    @Suite("evict, remove and check", .serialized)
    struct Keep {
        let tool: Tool

        init() throws {
            tool = try Tool()
        }

        private func fill() async throws {
            for name in ["a", "b", "c"] {
                let body = String(repeating: name, count: 1000)
                try await tool("put", "http://a.test/\(name)", "-", input: body).expect(0, error: nil)
            }
        }

        // MARK: evict

        @Test("evict: what was used least recently goes, until the rest fits")
        func evict() async throws {
            try await fill()
            _ = try await tool("get", "http://a.test/a")
            #expect(
                try await tool("evict", "--max-bytes", "1K").text
                    == "evicted 2 entries, freed 2.0 kB; 1 entry, 1.0 kB left\n")
            #expect(try await tool.stored("http://a.test/a") != nil)
            #expect(try await tool.stored("http://a.test/b") == nil)
            #expect(
                try await tool("evict", "--max-bytes", "0", "--json").json([String: JSON].self) == [
                    "entries": 1, "bytes": 1000, "entries_left": 0, "bytes_left": 0,
                ])
            #expect(
                try await tool("evict", "--max-bytes", "0").text
                    == "evicted 0 entries, freed 0 B; 0 entries, 0 B left\n")
        }

        @Test(
            "evict: a size is a number with K, M or G",
            arguments: [
                ("100", 0), ("3000", 0), ("2K", 0), ("10k", 0), ("1M", 0), ("8589934591G", 0),
                ("8589934592G", 64), ("9223372036854775808", 64), ("-1", 64), ("+1", 64), ("1.5K", 64), ("K", 64),
                ("", 64), ("10KB", 64), ("1T", 64), ("0x10", 64), ("１", 64),
            ])
        func sizes(text: String, exitCode: Int) async throws {
            _ = try await tool("put", "http://a.test/", "/dev/null")
            let output = try await tool("evict", "--max-bytes=\(text)")
            #expect(output.exitCode == Int32(exitCode))
        }

        @Test("evict: without a size it is wrong usage")
        func noSize() async throws {
            try await tool("evict").expect(64, error: "--max-bytes")
        }

        // MARK: remove

        @Test("J2: remove takes everything that is stored for a URL, and says whether there was anything")
        func remove() async throws {
            let origin = try await LoopbackOrigin { request in
                .resource("hello".utf8, for: request, etag: "\"1\"", cacheControl: "max-age=60")
            }
            let url = origin.url("/a")
            _ = try await tool("get", url)
            let removal = try await tool("remove", url)
            removal.expect(0, error: nil)
            #expect(removal.text == "removed \(url)\n")
            #expect(try await tool.stored(url) == nil)
            #expect(
                try await tool.rows("SELECT entries, files, physical_bytes FROM cache_stats") == [
                    ["entries": 0, "files": 0, "physical_bytes": 0]
                ])

            _ = try await tool("get", url)
            #expect(origin.requestCount == 2)
            #expect(origin.requests.last?.fields[.ifNoneMatch] == nil)
        }

        @Test("remove: what is not stored is a no, and does not keep the others")
        func removeMissing() async throws {
            try await fill()
            let output = try await tool("remove", "http://a.test/a", "http://a.test/x", "http://a.test/b")
            output.expect(1, error: "http://a.test/x: not stored")
            #expect(output.text == "removed http://a.test/a\nremoved http://a.test/b\n")
            let report = try await tool("remove", "http://a.test/c", "http://a.test/x", "--json")
            #expect(report.exitCode == 1)
            #expect(
                try JSONDecoder().decode([String: [String]].self, from: report.standardOutput) == [
                    "removed": ["http://a.test/c"], "not_stored": ["http://a.test/x"],
                ])
        }

        // MARK: check

        @Test("check: a sound store")
        func sound() async throws {
            try await fill()
            #expect(try await tool("check").text == "3 files, sound\n")
            #expect(try await tool("check", "--digests").text == "3 files, sound\n")
            let report = try await tool("check", "--json").json(Report.self)
            #expect(report == Report(files: 3, foreign_files: [], problems: [], sound: true))
        }

        private struct Report: Decodable, Equatable {
            var files: Int
            var foreign_files: [String]
            var problems: [String]
            var sound: Bool
        }

        /// Of three bodies the first is lost and the second altered; returns their paths in the store.
        private func fillAndDamage() async throws -> [String] {
            try await fill()
            let paths = try await tool.rows("SELECT file_path FROM cache_entries ORDER BY key").map { row in
                guard case .text(let path) = row["file_path"] else { throw CancellationError() }
                return path
            }
            try FileManager.default.removeItem(atPath: "\(tool.store)/\(paths[0])")
            try Data(repeating: 0, count: 1000).write(to: URL(filePath: "\(tool.store)/\(paths[1])"))
            return paths
        }

        @Test("check: what was damaged is named, and a no; what is sound is still served")
        func damage() async throws {
            let paths = try await fillAndDamage()

            let quick = try await tool("check")
            #expect(quick.exitCode == 1)
            #expect(quick.lines == ["missing or wrong length: \(paths[0])", "3 files, 1 problem"])
            let thorough = try await tool("check", "--digests")
            #expect(thorough.exitCode == 1)
            #expect(
                Set(thorough.lines) == [
                    "missing or wrong length: \(paths[0])", "altered: \(paths[1])", "3 files, 2 problems",
                ])
            let report = try await tool("check", "--digests", "--json")
            #expect(report.exitCode == 1)
            let found = try JSONDecoder().decode(Report.self, from: report.standardOutput)
            #expect(!found.sound && found.problems.count == 2)

            #expect(try await tool.stored("http://a.test/a") == nil)
            #expect(try await tool.stored("http://a.test/b") == nil)
            #expect(try await tool.stored("http://a.test/c") == String(repeating: "c", count: 1000))
            #expect(try await tool("check", "--digests").text == "1 file, sound\n")
        }

        @Test("check --repair: what was damaged goes, the rest stays, and the store is sound")
        func repair() async throws {
            let paths = try await fillAndDamage()
            let orphan = "\(tool.store)/blobs/\(paths[2].split(separator: "/")[1])/\(String(repeating: "0", count: 62))"
            try Data("orphan".utf8).write(to: URL(filePath: orphan))
            let output = try await tool("check", "--digests", "--repair")
            #expect(output.exitCode == 0)
            #expect(output.lines.last == "3 files, 3 problems, mended")
            #expect(!FileManager.default.fileExists(atPath: orphan))
            #expect(try await tool("check", "--digests", "--repair").text == "1 file, sound\n")
            #expect(try await tool.stored("http://a.test/c") == String(repeating: "c", count: 1000))
        }

        @Test("check: damage to the index is damage found")
        func damagedIndex() async throws {
            try await fill()
            let page = try await tool.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'entry'")
            guard case .number(let number) = page[0]["rootpage"] else { throw CancellationError() }
            let index = try FileHandle(forUpdating: URL(filePath: "\(tool.store)/index.sqlite"))
            try index.seek(toOffset: UInt64(number - 1) * 4096)
            try index.write(contentsOf: Data(repeating: 0xA5, count: 4096))
            try index.close()
            let output = try await tool("check")
            #expect(output.exitCode == 1)
            #expect(output.lines.first?.hasPrefix("damaged index: ") == true)
            // What SQLite can still answer is still answered, what it cannot is an error and no crash.
            let stats = try await tool("stats")
            stats.expect(2, error: "\(tool.store): the index failed")
            #expect(stats.lines.first == "entries             3")
            try await tool("list").expect(2, error: "\(tool.store): the index failed")
        }
    }
}
