import ArgumentParser
import CacheReports
import CacheStore

/// Checks the store for damage.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compare index and files, and say what does not fit; nothing is changed without --repair.",
        discussion: "The exit code is 1 when there is anything, with --repair when anything is left.")

    @Flag(help: "Read every file, too, and compare its bytes with its name.")
    var digests = false

    @Flag(help: "Remove entries that are damaged and files that none needs, and count anew.")
    var repair = false

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let (found, isSound) = try await store.withExistingStore(isReadOnly: !repair) { store in
            let line = ProgressLine()
            line.say("checking the index")
            return try await line.show {
                guard repair else {
                    let found = try await check(store, line)
                    return (found, found.isSound)
                }
                line.say("repairing")
                let found = try await store.repair(digests: digests)
                return (found, try await check(store, line).isSound)
            }
        }
        let problems = found.problems.map { "\($0)" }
        let foreign = found.foreignFiles.map { "not the store's, left alone: \($0)" }
        let mended = repair ? (isSound ? ", mended" : ", not all mended") : ""
        let verdict = found.isSound ? "sound" : problems.count.of("problem", "problems") + mended
        let lines = foreign + problems + ["\(found.files.of("file", "files")), \(verdict)"]
        try report.write(
            [
                "files": .integer(found.files), "foreign_files": .array(found.foreignFiles.map(JSON.text)),
                "problems": .array(problems.map(JSON.text)), "sound": .bool(isSound),
            ],
            text: lines.map(\.inOneLine).joined(separator: "\n"))
        if !isSound { throw ExitCode(Failure.Kind.no.rawValue) }
    }

    private func check(_ store: ResponseStore, _ line: ProgressLine) async throws -> CheckReport {
        let meter = WorkMeter("checking", digests ? .bytes : .count("file", "files"))
        return try await store.check(digests: digests) { progress in
            line.say(
                digests
                    ? meter.text(done: progress.bytes, total: progress.totalBytes)
                    : meter.text(done: progress.files, total: progress.totalFiles))
        }
    }
}
