import TestSupport

extension ToolTests {
    @Suite("help", .serialized)
    struct Help {
        let tool: Tool

        init() throws { tool = try Tool() }

        @Test(
            "Requested help goes to the standard output, with exit code 0",
            arguments: [
                [], ["help"], ["--help"], ["-h"], ["put", "--help"], ["put", "-h"], ["help", "put"],
                ["get", "http://a.test/", "--help"], ["check", "--repair", "--help"],
            ])
        func help(arguments: [String]) async throws {
            let output = try await tool.raw(arguments)
            output.expect(0, error: nil)
            let command = arguments.first { !$0.hasPrefix("-") && $0 != "help" } ?? arguments.dropFirst().first
            #expect(output.text.contains("USAGE: cachestore \(command ?? "<subcommand>")"))
            #expect(!output.text.contains("CommandError"))
        }

        @Test("Help, and the usage below an error, fit 80 columns")
        func width() async throws {
            let commands = [
                "", "demo", "get", "prefetch", "put", "list", "show", "explain", "stats", "watch", "record",
                "record on", "record off", "record status", "record show", "evict", "simulate", "remove", "check",
                "sql", "snapshot", "serve", "tier", "tier check", "tier stats", "tier get", "tier remove", "dir",
            ].map { $0.split(separator: " ").map(String.init) }
            for command in commands {
                let help = try await tool.raw(command + ["--help"])
                help.expect(0, error: nil)
                #expect(help.lines.allSatisfy { $0.count <= 80 }, "\(help.text)")
                let wrong = try await tool.raw(command + ["--no-such-option"])
                wrong.expect(64, error: "Usage: cachestore")
                #expect(wrong.standardOutput.isEmpty)
                // A terminal wraps the message itself.
                let rest = wrong.errorText.split(separator: "\n").drop { $0.hasPrefix("Error: ") }
                #expect(rest.allSatisfy { $0.count <= 80 }, "\(wrong.errorText)")
            }
        }

        @Test("Shell completions know files, directories and words of an option", arguments: ["bash", "zsh", "fish"])
        func completions(shell: String) async throws {
            let output = try await tool.raw(["--generate-completion-script", shell])
            output.expect(0, error: nil)
            for word in [
                "max-entries", "unused-for", "dry-run", "partition", "content-type", "pin", "30d", "100M", "image/",
            ] {
                #expect(output.text.contains(word), "\(word)")
            }
        }

        @Test("--version prints the version of the file VERSION, and dir the directory of the other commands")
        func version() async throws {
            var root = URL(filePath: #filePath)
            for _ in 0..<4 { root.deleteLastPathComponent() }
            let version = try String(contentsOf: root.appending(path: "VERSION"), encoding: .utf8)
            let output = try await tool.raw(["--version"])
            output.expect(0, error: nil)
            #expect(output.text == version)
            #expect(try await tool("dir").text == "\(tool.store)\n")
            #expect(!FileManager.default.fileExists(atPath: tool.store))
            #if os(Linux)
            let environment = ["XDG_CACHE_HOME": tool.directory.path]
            let directory = try await tool.raw(["dir"], environment: environment)
            #expect(directory.text == "\(tool.directory.path)/cachestore\n")
            let relative = try await tool.raw(["dir", "--store", "a/b"], environment: environment)
            #expect(relative.text == "\(FileManager.default.currentDirectoryPath)/a/b\n")
            #endif
        }
    }
}
