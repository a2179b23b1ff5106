import ArgumentParser
import CacheStore

/// The command `cachestore`: loads through a cache, inspects the cache, and limits its size.
@main
struct Tool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cachestore",
        abstract: "A persistent HTTP cache: load through it, look into it, keep it small.",
        discussion: """
            Exit codes: 0 done; 1 the answer is no (not cached, an HTTP status of 400 or more, damage found, a URL of a \
            list that could not be loaded); 2 the store or the network failed; 64 the command line is wrong; 130 \
            interrupted; 143 terminated. CACHESTORE_STORE in the environment names the store of commands without --store.
            """,
        version: Version.text,
        subcommands: [
            Demo.self, Get.self, Prefetch.self, Put.self, List.self, Show.self, Explain.self, Stats.self, Watch.self,
            Record.self, Evict.self, Simulate.self, Remove.self, Check.self, SQL.self, Snapshot.self,
            Export.self, Import.self, Serve.self, Tier.self, Directory.self,
        ])

    func run() throws {
        throw CleanExit.helpRequest(self)
    }

    static func main() async {
        StandardOutput.survivesItsReader()
        // No other code in this process uses SQLite.
        ResponseStore.disableSQLiteMemoryStatistics()
        do {
            var command = await parsed()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch is StandardOutput.ReaderIsGone {
            // The reader of the output has closed the pipe and needs no more.
            exit(withError: nil)
        } catch  where error is ExitCode || exitCode(for: error) == .success {
            // Requested help text is also thrown, with a type that only the parser knows.
            end(withMessageOf: error)
        } catch {
            let failure = Failure(error)
            failure.report()
            exit(withError: failure.exitCode)
        }
    }

    /// Parses the command line. A wrong command line ends the process.
    private static func parsed() async -> any ParsableCommand {
        do {
            return try await asyncParseAsRoot()
        } catch {
            if let problem = unknownCommand {
                StandardError.write(problem)
                exit(withError: ExitCode.validationFailure)
            }
            end(withMessageOf: error)
        }
    }

    /// Ends the process like `exit(withError:)`, with lines of usage that fit the terminal.
    private static func end(withMessageOf error: any Error) -> Never {
        let code = exitCode(for: error)
        let message = UsageText.wrapped(fullMessage(for: error), width: Terminal.ofOutput?.width ?? 80)
        switch (code, message.isEmpty) {
        case (_, true): break
        case (.success, _): try? StandardOutput.write(line: message)
        default: StandardError.write("\(message)\n")
        }
        exit(withError: code)
    }

    /// The error for an unknown command, with the closest match. The parser would report an option after it instead.
    private static var unknownCommand: String? {
        var command: any ParsableCommand.Type = Tool.self
        var path = "cachestore"
        for word in CommandLine.arguments.dropFirst() {
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty || word.hasPrefix("-") || path == "cachestore" && word == "help" { return nil }
            if let next = subcommands.first(where: { name(of: $0) == word }) {
                command = next
                path += " \(word)"
                continue
            }
            let suggestion = word.nearest(of: subcommands.map { name(of: $0) }).map { " Did you mean '\($0)'?" } ?? ""
            return """
                Error: There is no command '\(word.inOneLine)'\(path == "cachestore" ? "" : " of '\(path)'").\(suggestion)
                Usage: \(path) <subcommand>
                  See '\(path) --help' for more information.

                """
        }
        return nil
    }

    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? "\(command)".lowercased()
    }
}
