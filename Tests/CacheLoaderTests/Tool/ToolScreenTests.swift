import CacheStore
import CacheStoreTesting
import Foundation
import TestSupport
import Testing

extension ToolTests {
    /// The screens of `Documentation/Screens.md`.
    @Suite("screens", .serialized)
    struct Screens {
        private struct Screen {
            let title: String
            let text: String
            let command: [String]

            init(_ title: String, _ text: String, _ command: String...) {
                self.title = title
                self.text = text
                self.command = command
            }
        }

        private static let screens = [
            Screen("Help", "Each command has a help of its own.", "--help"),
            Screen(
                "List", "On a terminal a line fits its width: a cut URL keeps its end, and times count from now.",
                "list"),
            Screen("Totals", "The numbers of the store, the answers to requests, and where the bytes are.", "stats"),
            Screen(
                "SQL", "Texts are cut, numbers are not.", "sql",
                "SELECT host, entries, byte_size, hits FROM cache_hosts"),
            Screen(
                "One field a line",
                "As `psql` prints rows with `\\x`. Rows with many columns are printed like this, too.",
                "sql", "SELECT url, content_type, byte_size, sha256 FROM cache_entries WHERE status = 404", "-x"),
            Screen("A misspelt command", "The nearest command is suggested.", "lsit"),
            Screen("A misspelt column", "The nearest column is suggested.", "sql", "SELECT ulr FROM cache_entries"),
            Screen(
                "A dry run", "What an eviction would free. The units are those of the output, or `MiB`.", "evict",
                "--max-bytes", "100kB", "--dry-run"),
            Screen("Sound or not", "Compares the index with the files.", "check"),
            Screen(
                "Remove", "By host, tag, media type, prefix, or an SQL expression.", "remove", "--host", "example.com"),
        ]

        private let tool: Tool
        private let environment: [String: String]

        init() throws {
            tool = try Tool()
            environment = ["XDG_CACHE_HOME": tool.directory.path, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
        }

        private func fill() throws {
            let clock = ManualClock()
            var configuration = ResponseStore.Configuration()
            configuration.clock = clock.date
            let store = try ResponseStore(
                directory: tool.directory.url.appending(path: "cachestore"), configuration: configuration)
            defer { store.close() }
            // Halves of units: the duration of the test changes no number.
            let (hour, day) = (3_600.0, 86_400.0)
            let entries: [(url: String, type: String, byteCount: Int, age: Double, lifetime: Double?, status: Int)] = [
                ("https://example.com/", "text/html", 18_432, 5.5 * hour, nil, 200),
                (
                    "https://example.com/articles/2026/how-a-cache-keeps-its-promises.html", "text/html; charset=utf-8",
                    40_960,
                    4.5 * hour, 7 * hour, 200
                ),
                ("https://static.example.net/assets/app.6f1c2d.css", "text/css", 96_000, 3.5 * hour, 365.5 * day, 200),
                ("https://static.example.net/assets/logo.png", "image/png", 5_120, 2.5 * hour, 40.5 * day, 200),
                ("https://api.example.org/v2/items?page=1", "application/json", 2_048, 1.5 * hour, 0.5 * hour, 200),
                ("https://api.example.org/v2/items?page=99", "application/json", 37, 0.5 * hour, nil, 404),
            ]
            for (number, entry) in entries.enumerated() {
                clock.set(Date() - entry.age)
                try store.insert(
                    Data(repeating: UInt8(number), count: entry.byteCount),
                    metadata: EntryMetadata(
                        status: entry.status, contentType: entry.type, requestedAt: clock.now, receivedAt: clock.now,
                        expiresAt: entry.lifetime.map { clock.now + $0 }),
                    for: CacheKey(url: entry.url))
            }
            clock.set(Date() - 0.25 * hour)
            for _ in 0..<3 {
                _ = try store.lookup(CacheKey(url: entries[2].url))
                _ = try store.lookup(CacheKey(url: entries[3].url))
            }
            _ = try store.lookup(CacheKey(url: "https://example.com/missing"))
        }

        /// `CACHESTORE_WRITE_SCREENS=1` writes the file, as `Scripts/screens` does.
        @Test("The documented screens equal the tool's")
        func screens() async throws {
            try fill()
            var text = """
                # Screens

                The tool `cachestore` on a terminal of 80 columns. A test makes these screens and compares them; `Scripts/screens`
                writes this page.

                """
            for screen in Self.screens {
                let words = screen.command.map { $0.contains { " *;".contains($0) } ? "'\($0)'" : $0 }
                // A slow command shows its progress, and erases it before its result.
                let output = try await tool.screen(screen.command, environment: environment)
                    .split(separator: "\n", omittingEmptySubsequences: false)
                    .map { $0.components(separatedBy: "\r\u{1B}[K").last ?? "" }.joined(separator: "\n")
                #expect(
                    screen.command == ["--help"] || output.split(separator: "\n").allSatisfy { $0.count <= 80 },
                    "\(output)")
                text += """

                    ## \(screen.title)

                    \(screen.text)

                    ```text
                    $ cachestore \(words.joined(separator: " "))
                    \(output)```

                    """
            }
            var root = URL(filePath: #filePath)
            for _ in 0..<4 { root.deleteLastPathComponent() }
            let page = root.appending(path: "Documentation/Screens.md")
            if ProcessInfo.processInfo.environment["CACHESTORE_WRITE_SCREENS"] == "1" {
                try text.write(to: page, atomically: true, encoding: .utf8)
            } else {
                let kept = try String(contentsOf: page, encoding: .utf8)
                #expect(kept == text, "Scripts/screens writes the page")
            }
        }
    }
}
