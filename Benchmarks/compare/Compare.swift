import ArgumentParser
import CacheStore
import Foundation

/// Compares the store with the same work in C, and with other caches.
///
///     swift run -c release --package-path Benchmarks compare [--quick]
@main
struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Holds the store against the same work in C, and against its peers.",
        discussion: """
            The sides of each piece of work take turns, on the same data, in one run. Figures are medians of the rounds; \
            ratios are taken round by round.
            """,
        subcommands: [
            Run.self, Scale.self, Shared.self, Charts.self, Worker.self, SharedProcess.self, URLCachePeer.self,
        ], defaultSubcommand: Run.self)
}

/// Runs the whole comparison.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Measures, and writes a table and charts.")

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
    var data = FileManager.default.temporaryDirectory.appending(path: "CacheStore-compare").path(percentEncoded: false)

    @Option(help: "The built example cacheproxy.")
    var proxy: String?

    @Flag(help: "Without SQLite's count of its own memory, on all sides.")
    var noMemoryStatistics = false

    func run() async throws {
        if noMemoryStatistics, !ResponseStore.disableSQLiteMemoryStatistics() {
            throw ValidationError("SQLite counts its memory already")
        }
        let options = self
        // Runs off the main thread, whose queue is not part of the measurement.
        try await Task.detached { try await options.compare() }.value
    }

    private func compare() async throws {
        let place = try Place(URL(filePath: data))
        try place.clear()
        let runner = Runner(rounds: quick ? min(rounds, 3) : rounds, divisor: divisor)
        var (plan, omissions) = self.plan(place)
        plan = plan.filter { isWanted($0.name) }
        var comparisons: [Comparison] = []
        for work in plan {
            do {
                let comparison = try await runner.run(work)
                comparisons.append(comparison)
                print(Table(comparisons: [comparison], facts: [], omissions: []).rows.joined(separator: "\n"))
            } catch {
                // A failed workload, for example of a peer, must not prevent the others.
                omissions.append(Omission(work: work.name, reason: "\(error)"))
            }
            fflush(nil)
            try write(Table(comparisons: comparisons, facts: [], omissions: omissions))
        }
        var facts: [Fact] = []
        if isWanted("resources") { facts += try Resources(place: place, sizes: sizes).facts() }
        if isWanted("first loads") { facts += try await FirstReads(place: place).facts() }
        if isWanted("lookups during eviction") {
            for size in sizes.dropFirst() { facts += try LookupsDuringEviction(place: place, size: size).facts() }
        }
        try place.clear()
        let table = Table(comparisons: comparisons, facts: facts, omissions: omissions)
        print(table.markdown)
        try write(table)
    }

    private func isWanted(_ name: String) -> Bool { only.isEmpty || only.contains(where: name.contains) }

    private var divisor: Int { quick ? 5 : 1 }
    private var sizes: [Int] { quick ? [10, 10_000] : [10, 10_000, 1_000_000] }

    /// Returns the planned work, and the work that is impossible on this machine.
    private func plan(_ place: Place) -> ([PlannedWork], [Omission]) {
        let (peers, absent) = Peer.all()
        var omissions = absent
        var plan = Reading(place: place, entries: entries).plan()
        plan += Coalescing(place: place).plan()
        plan += Writing(place: place).plan()
        plan += Mixed(place: place, entries: entries).plan()
        plan += Choices(place: place, entries: entries).plan()
        plan += Peers(place: place, peers: peers, divisor: divisor).plan()
        if let proxy, FileManager.default.fileExists(atPath: Proxy.wrk.path(percentEncoded: false)) {
            plan += Proxy(place: place, executable: URL(filePath: proxy), seconds: quick ? 1 : 3).plan()
        } else {
            omissions.append(
                Omission(work: "cacheproxy", reason: proxy == nil ? "no --proxy was given" : "wrk is not installed"))
        }
        // Runs last, because it deletes many files. For some minutes ext4 skips recently deleted inodes in its search
        // for a free inode, which would slow down the creation of files in later work.
        plan += Growth(place: place, sizes: sizes).plan()
        return (plan, omissions)
    }

    private func write(_ table: Table) throws {
        let folder = URL(filePath: output)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let charts = [
            ("latency.svg", LatencyChart(comparisons: table.comparisons).svg),
            ("growth.svg", GrowthChart(comparisons: table.comparisons).svg),
        ]
        let medians = MedianChart.all.map { name, chart in ("\(name).svg", chart.svg(table.comparisons)) }
        for (name, text) in charts + medians + [("table.md", table.markdown)] {
            if let text { try Data(text.utf8).write(to: folder.appending(path: name)) }
        }
    }
}
