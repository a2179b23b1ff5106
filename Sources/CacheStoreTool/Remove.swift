import ArgumentParser
import CacheStore

/// Removes what is stored for URLs.
struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove what is stored for URLs: bodies, validators, variants and counted failures.",
        discussion: "The exit code is 1 when nothing was stored for one of them.")

    @Argument(help: ArgumentHelp("What to remove.", valueName: "url"))
    var urls: [String]

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let targets = try urls.map { text throws(Failure) in try URLArgument(text) }
        var result = Result()
        try await store.withExistingStore { store in
            for target in targets {
                if try await store.remove(target.key) {
                    result.removed.append(target.key.text)
                    if !report.json { try StandardOutput.write(line: "removed \(target.key)") }
                } else {
                    result.notStored.append(target.key.text)
                    if !report.json { Failure(.no, "\(target.key): not stored").report() }
                }
            }
        }
        if report.json { try JSONOutput.write(result) }
        if !result.notStored.isEmpty { throw ExitCode(Failure.Kind.no.rawValue) }
    }

    private struct Result: Encodable {
        var removed: [String] = []
        var notStored: [String] = []

        enum CodingKeys: String, CodingKey {
            case removed
            case notStored = "not_stored"
        }
    }
}
