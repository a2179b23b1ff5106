import TestSupport

extension ToolTests {
    /// The screens of `Documentation/Screens.md`.
    @Suite("screens", .serialized)
    struct Screens {
        private struct Screen {
            let title: String
            let text: String
            let width: Int
            let command: [String]

            init(_ title: String, _ text: String, width: Int = 80, _ command: String...) {
                self.title = title
                self.text = text
                self.width = width
                self.command = command
            }
        }

        private static let screens = [
            Screen("Help", "Each command has a help of its own.", "--help"),
            Screen(
                "List",
                """
                On a terminal a line fits its width. A cut URL keeps both ends, times count from now, and a variant shows the
                values of the fields that `Vary` names.
                """,
                "list"),
            Screen("List, at 120 columns", "The URLs get the room.", width: 120, "list"),
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

        /// `CACHESTORE_WRITE_SCREENS=1` writes the file, as `Scripts/screens` does.
        @Test("The documented screens equal the tool's")
        func screens() async throws {
            try ScreenStore.fill(tool.directory.url.appending(path: "cachestore"))
            var text = """
                # Screens

                The tool `cachestore` on a terminal, of 80 columns unless a title has another number. A test makes these screens and
                compares them; `Scripts/screens` writes this page.

                """
            for screen in Self.screens {
                let words = screen.command.map { $0.contains { " *;".contains($0) } ? "'\($0)'" : $0 }
                // A slow command shows its progress, and erases it before its result.
                let output = try await tool.screen(width: screen.width, screen.command, environment: environment)
                    .split(separator: "\n", omittingEmptySubsequences: false)
                    .map { $0.components(separatedBy: "\r\u{1B}[K").last ?? "" }.joined(separator: "\n")
                #expect(output.split(separator: "\n").allSatisfy { $0.count <= screen.width }, "\(output)")
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
