import Logging
import MetricsTestKit
import TestSupport

@Suite("The article on observing") struct ObservingArticleTests {
    private let article: String

    init() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../../").standardizedFileURL
        let place = root.appending(path: "Sources/CacheLoader/CacheLoader.docc/Observing.md")
        article = try String(contentsOf: place, encoding: .utf8)
    }

    /// The first two cells of each table row whose first cell is a name in backticks.
    private var rows: [(name: String, kind: String)] {
        article.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 2, cells[0].hasPrefix("`"), cells[0].hasSuffix("`") else { return nil }
            return (cells[0].trimmingCharacters(in: ["`"]), cells[1])
        }
    }

    @Test("Lists exactly the existing metrics, each with its kind", .requirement("I8"))
    func metrics() throws {
        let metrics = TestMetrics()
        let directory = try TemporaryDirectory()
        var storing = ResponseStore.Configuration()
        storing.metrics = metrics
        let store = try ResponseStore(directory: directory.url, configuration: storing)
        var loading = ResourceLoader.Configuration()
        loading.metrics = metrics
        let transport = ScriptedTransport { _, _ in .reply(200) }
        let loader = ResourceLoader(store: store, transport: transport, configuration: loading)
        withExtendedLifetime(loader) {}
        let registered =
            metrics.counters.map { "\($0.label) counter" } + metrics.meters.map { "\($0.label) meter" }
            + metrics.timers.map { "\($0.label) timer" }
        let documented = rows.filter { $0.name.hasPrefix("cache") }.map { "\($0.name) \($0.kind)" }
        #expect(Set(registered) == Set(documented))
        #expect(documented.count == Set(documented).count)
        #expect(metrics.recorders.isEmpty)
        for dimension in ["source", "lane", "level"] { #expect(article.contains("`\(dimension)`")) }
    }

    @Test("Lists each message, with its level", .requirement("I8"))
    func messages() {
        for (message, level) in LogOptionsTests.cases.flatMap(\.messages) {
            #expect(rows.contains { $0.name == message && $0.kind == level.rawValue }, "\(message)")
        }
    }
}
