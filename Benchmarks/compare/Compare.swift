import ArgumentParser
import Foundation

/// Holds the store against what the machine can do, and against its peers.
///
///     swift run -c release --package-path Benchmarks compare [--quick]
@main
struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Holds the store against the same work in C, and against its peers.",
        discussion: """
            The sides of each piece of work take turns, on the same data, in one run. Figures are medians of the rounds; \
            ratios are taken round by round.
            """)

    @Option(help: "Entries of the store that is read.")
    var entries = 10_000

    @Option(help: "Rounds; each side works once in each.")
    var rounds = 7

    @Option(help: "Only work whose name contains this; may be given more than once.")
    var only: [String] = []

    @Flag(help: "A fifth of the work, three rounds, nothing with a million entries.")
    var quick = false

    @Option(help: "Where table.md and the charts go.")
    var output = "."

    @Option(help: "Where the stores are; they stay there for the next run.")
    var data = FileManager.default.temporaryDirectory.appending(path: "CacheStore-compare").path()

    func run() async throws {
        let options = self
        // Not on the main thread, whose queue is no part of what is measured.
        try await Task.detached { try await options.compare() }.value
    }

    private func compare() async throws {
        let place = try Place(URL(filePath: data))
        try place.clear()
        let runner = Runner(rounds: quick ? min(rounds, 3) : rounds, divisor: quick ? 5 : 1)
        let sizes = quick ? [10, 10_000] : [10, 10_000, 1_000_000]
        var comparisons: [Comparison] = []
        let groups: [() throws -> [Workload]] = [
            { try Reading(place, entries: entries).workloads() },
            { try Coalescing(place: place).workloads() },
            { try Writing(place: place).workloads() },
            { try Mixed(place: place, entries: entries).workloads() },
            { try Growth(place: place, sizes: sizes).workloads() },
        ]
        for group in groups {
            for workload in try group() where only.isEmpty || only.contains(where: workload.name.contains) {
                let comparison = try await runner.run(workload)
                comparisons.append(comparison)
                print(Table(comparisons: [comparison], facts: [], omissions: []).rows.joined(separator: "\n"))
            }
        }
        try place.clear()
        let table = Table(comparisons: comparisons, facts: [], omissions: [])
        let folder = URL(filePath: output)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(table.markdown.utf8).write(to: folder.appending(path: "table.md"))
    }
}
