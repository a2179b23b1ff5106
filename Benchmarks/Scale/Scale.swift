import CacheStore
import Dispatch
import Foundation

/// Measures how a store behaves as it grows: the same questions at 10, 10,000 and 1,000,000 entries.
///
///     swift run -c release --package-path Benchmarks scale [directory]
///
/// A store that is in the directory already is used again. Each is measured by a process of its own, which has opened
/// nothing else, so that its memory is its own.
@main
struct Scale {
    static let sizes = [10, 10_000, 1_000_000]

    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "measure", let path = arguments.dropFirst().first {
            return try print(Measurement(of: URL(filePath: path)).row)
        }
        let path = arguments.popFirst() ?? FileManager.default.temporaryDirectory.appending(path: "scale").path()
        print(Measurement.header)
        for size in sizes {
            let directory = URL(filePath: path).appending(path: "\(size)")
            try fill(directory, size)
            let process = Process()
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["measure", directory.path()]
            try process.run()
            process.waitUntilExit()
        }
    }

    static func key(_ number: Int) throws -> CacheKey {
        try CacheKey(url: "https://host-\(number % 500).example.com/a/path/that/is/not/too/short/\(number).json")
    }

    /// Stores entries, each with a body of its own, until there are so many.
    private static func fill(_ directory: URL, _ size: Int) throws {
        let store = try ResponseStore(directory: directory)
        let present = try store.statistics().entries
        guard present < size else { return }
        let workers = 8
        DispatchQueue.concurrentPerform(iterations: workers) { worker in
            do {
                for number in stride(from: worker, to: size, by: workers) where number >= present {
                    let now = Date()
                    let head = "Content-Type: application/json\nETag: \"\(number)\"\nCache-Control: max-age=86400\n"
                    let metadata = EntryMetadata(
                        etag: "\"\(number)\"", contentType: "application/json", requestedAt: now, receivedAt: now,
                        expiresAt: now + 86_400, head: Array(head.utf8))
                    try store.insert(Data("{\"number\": \(number)}".utf8), metadata: metadata, for: key(number))
                }
            } catch {
                fatalError("\(error)")
            }
        }
    }
}

/// What one store needs, in time and memory.
struct Measurement {
    static let header = """
        | entries | index | bytes of it per entry | open | statistics | lookup | hit | evict a tenth | per entry | memory, opened | after all |
        |---|---|---|---|---|---|---|---|---|---|---|
        """

    let row: String

    init(of directory: URL) throws {
        // The pages of the index are read once, so that every size is measured warm.
        _ = try ResponseStore.query("SELECT sum(length(head)) FROM entry", inStoreAt: directory)
        let opened = try Self.median(of: 21) { try ResponseStore(directory: directory).close() }
        let store = try ResponseStore(directory: directory)
        let statistics = try store.statistics()
        let memory = Self.residentBytes
        let asked = try Self.median(of: 1_001) { _ = try store.statistics() }
        var random = SystemRandomNumberGenerator()
        var keys = try (0..<50_000).map { _ in try Scale.key(Int.random(in: 0..<statistics.entries, using: &random)) }
        let lookedUp = try Self.median(of: 20_001) { _ = try store.peek(keys.removeLast()) }
        let hit = try Self.median(of: 20_001) {
            _ = try store.lookup(keys.removeLast()).flatMap { try store.openBody(of: $0)?.data() }
        }
        let tenth = max(1, statistics.entries / 10)
        let start = ContinuousClock.now
        let report = try store.evict(maxEntries: statistics.entries - tenth)
        let evicted = ContinuousClock.now - start
        row = """
            | \(statistics.entries) | \(Self.megabytes(statistics.indexBytes)) MB \
            | \(statistics.indexBytes / Int64(statistics.entries)) \
            | \(Self.text(opened)) | \(Self.text(asked)) | \(Self.text(lookedUp)) | \(Self.text(hit)) \
            | \(Self.text(evicted)) | \(Self.text(evicted / report.entries)) \
            | \(Self.megabytes(memory)) MB | \(Self.megabytes(Self.residentBytes)) MB |
            """
    }

    private static func median(of count: Int, _ work: () throws -> Void) rethrows -> Duration {
        var times: [Duration] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            try work()
            times.append(ContinuousClock.now - start)
        }
        return times.sorted()[count / 2]
    }

    private static func text(_ duration: Duration) -> String {
        let microseconds = duration / .microseconds(1)
        if microseconds < 1_000 { return String(format: "%.1f µs", microseconds) }
        return microseconds < 1_000_000
            ? String(format: "%.2f ms", microseconds / 1_000) : String(format: "%.2f s", microseconds / 1_000_000)
    }

    private static func megabytes(_ byteCount: Int64) -> String { String(format: "%.1f", Double(byteCount) / 1e6) }

    /// `VmRSS` of this process.
    private static var residentBytes: Int64 {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(separator: " ").dropFirst().first.flatMap { Int64($0) } ?? 0) * 1024
    }
}
