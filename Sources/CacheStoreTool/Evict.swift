import ArgumentParser
import CacheReports
import CacheStore

/// Makes the store smaller.
struct Evict: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make the store smaller: by bytes, by number, by last use or by age.",
        discussion: """
            One of the four rules is needed. Down to a number of bytes or entries, the least recently used entries go first. \
            Pinned entries stay. A dry run only counts the entries, and no writer waits for it.
            """)

    @Option(
        help: ArgumentHelp(
            "Until at most so many bytes are on disk, of files and index: \(ByteLimit.help).",
            valueName: "bytes"))
    var maxBytes: ByteLimit?

    @Option(help: ArgumentHelp("Until there are at most so many entries.", valueName: "number"))
    var maxEntries: Int?

    @Option(
        help: ArgumentHelp("Whatever was not used for so long: 90s, 15m, 12h or 30d.", valueName: "time"))
    var unusedFor: Age?

    @Option(
        help: ArgumentHelp("Whatever was stored longer ago than this: 90s, 15m, 12h or 30d.", valueName: "time"))
    var olderThan: Age?

    @Flag(help: "Only say what would go.")
    var dryRun = false

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    private var rules: [EvictionRule] {
        [
            maxBytes.map { .maxBytes($0.byteCount) }, maxEntries.map { .maxEntries($0) },
            unusedFor.map { .unusedFor($0.duration) }, olderThan.map { .olderThan($0.duration) },
        ].compactMap { $0 }
    }

    func validate() throws {
        if let maxEntries, maxEntries < 0 { throw ValidationError("--max-entries needs a number, 0 or more") }
        guard rules.count == 1 else {
            throw ValidationError("evict needs one of --max-bytes, --max-entries, --unused-for and --older-than")
        }
    }

    func run() async throws {
        let rule = rules[0]
        let (freed, after) = try await store.withExistingStore { store in
            let line = ProgressLine()
            // A dry run changes no statistics, so it shows no progress.
            let progress = line.isOnTerminal && !dryRun ? try EvictionProgress(rule, of: store) : nil
            let freed = try await line.show {
                progress?.text(of: store)
            } during: {
                try await store.evict(rule, dryRun: dryRun)
            }
            return (freed, try store.statistics())
        }
        // A dry run removes nothing from the store.
        let entriesLeft = after.entries - (dryRun ? freed.entries : 0)
        let bytesLeft = after.physicalBytes - (dryRun ? freed.bytes : 0)
        let verbs = dryRun ? ("would evict", "free") : ("evicted", "freed")
        try report.write(
            [
                "entries": .integer(freed.entries), "bytes": .integer(freed.bytes),
                "entries_left": .integer(entriesLeft), "bytes_left": .integer(bytesLeft),
            ],
            text: """
                \(verbs.0) \(freed.entries.of("entry", "entries")), \(verbs.1) \(freed.bytes.asByteCount); \
                \(entriesLeft.of("entry", "entries")), \(bytesLeft.asByteCount) left
                """)
    }
}
