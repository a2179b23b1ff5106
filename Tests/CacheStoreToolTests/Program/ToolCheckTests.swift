import TestSupport

extension ToolTests {
    @Suite("check", .serialized)
    struct Check {
        let tool: Tool

        init() throws { tool = try Tool() }

        private func fill() async throws {
            for name in ["a", "b", "c"] {
                let body = String(repeating: name, count: 1000)
                try await tool("put", "http://a.test/\(name)", "-", input: body).expect(0, error: nil)
            }
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

        /// Of three bodies, deletes the first and alters the second. Returns their paths in the store.
        private func fillAndDamage() async throws -> [String] {
            try await fill()
            let paths = try tool.rows("SELECT file_path FROM cache_entries ORDER BY key").map { row in
                guard case .text(let path) = row["file_path"] else { throw CancellationError() }
                return path
            }
            try FileManager.default.removeItem(atPath: "\(tool.store)/\(paths[0])")
            try Data(repeating: 0, count: 1000).write(to: URL(filePath: "\(tool.store)/\(paths[1])"))
            return paths
        }

        @Test("check: names the damage and exits with 1; sound entries still answer")
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
            #expect(!found.sound)
            #expect(found.problems.count == 2)

            #expect(try await tool.stored("http://a.test/a") == nil)
            #expect(try await tool.stored("http://a.test/b") == nil)
            #expect(try await tool.stored("http://a.test/c") == String(repeating: "c", count: 1000))
            #expect(try await tool("check", "--digests").text == "1 file, sound\n")
        }

        @Test("check --repair: removes the damage, keeps the rest, and leaves a sound store")
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

        @Test("check: reports damage to the index")
        func damagedIndex() async throws {
            try await fill()
            let page = try tool.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'entry'")
            guard case .number(let number) = page[0]["rootpage"] else { throw CancellationError() }
            let index = try FileHandle(forUpdating: URL(filePath: "\(tool.store)/index.sqlite"))
            try index.seek(toOffset: UInt64(number - 1) * 4096)
            try index.write(contentsOf: Data(repeating: 0xA5, count: 4096))
            try index.close()
            let output = try await tool("check")
            #expect(output.exitCode == 1)
            #expect(output.lines.first?.hasPrefix("damaged index: ") == true)
            // Readable rows are still printed; unreadable ones cause an error, without a crash.
            let stats = try await tool("stats")
            stats.expect(2, error: "\(tool.store): the index failed")
            #expect(stats.lines.first == "entries             3")
            try await tool("list").expect(2, error: "\(tool.store): the index failed")
        }
    }
}
