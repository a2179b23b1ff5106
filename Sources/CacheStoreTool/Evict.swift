import ArgumentParser
import CacheStore

/// Makes the store smaller.
struct Evict: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove what was not used for longest, until the bodies fit into a number of bytes.",
        discussion: "What has expired goes first.")

    @Option(
        help: ArgumentHelp(
            "The bytes that the files may have in all: 100, 10K, 10M or 1G; a K is 1024.", valueName: "bytes"))
    var maxBytes: ByteLimit

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let (freed, left) = try await store.withExistingStore { store in
            let freed = try await ProgressLine().show {
                let left = try? store.statistics()
                return left.map { "\($0.entries.of("entry", "entries")), \($0.physicalBytes.asByteCount) left" }
            } during: {
                try await store.evict(.maxBytes(maxBytes.byteCount))
            }
            return (freed, try store.statistics())
        }
        let result = Result(
            entries: freed.entries, bytes: freed.bytes, entriesLeft: left.entries, bytesLeft: left.physicalBytes)
        if report.json {
            try JSONOutput.write(result)
        } else {
            try StandardOutput.write(line: "\(result)")
        }
    }

    private struct Result: Encodable, CustomStringConvertible {
        let entries: Int
        let bytes: Int64
        let entriesLeft: Int
        let bytesLeft: Int64

        enum CodingKeys: String, CodingKey {
            case entries
            case bytes
            case entriesLeft = "entries_left"
            case bytesLeft = "bytes_left"
        }

        var description: String {
            """
            evicted \(entries.of("entry", "entries")), freed \(bytes.asByteCount); \
            \(entriesLeft.of("entry", "entries")), \(bytesLeft.asByteCount) left
            """
        }
    }
}
