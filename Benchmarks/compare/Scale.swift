import ArgumentParser
import CacheStore
import Foundation
import MetricsTestKit
import Samples
import Synchronization

/// Measures every call of a store with a thousand, a hundred thousand and a million entries: the time of the call, the
/// longest hold of the write lock, the slowest concurrent lookup, and the WAL afterwards.
///
///     swift run -c release --package-path Benchmarks compare scale
struct Scale: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures each call of a store of a thousand, a hundred thousand and a million entries.")

    @Option(help: "Numbers of entries, separated by commas.")
    var sizes = "1000,100000,1000000"

    @Option(help: "Where the stores are; they stay there for the next run.")
    var data = FileManager.default.temporaryDirectory.appending(path: "CacheStore-compare").path(percentEncoded: false)

    @Option(help: "Only calls whose name contains this; may be given more than once.")
    var only: [String] = []

    func run() async throws {
        let sizes = sizes.split(separator: ",").compactMap { Int($0) }
        let place = try Place(URL(filePath: data))
        try place.clear()
        print("| call | entries | time | again | longest hold | slowest lookup | WAL after it |")
        print("|---|---|---|---|---|---|---|")
        for size in sizes {
            let directory = try place.copy(place.scale(size), as: "scale")
            // Waits for the writes that filled the store, because the disk must not be busy.
            sync()
            let calls = try ScaleCalls(directory, size: size)
            for call in ScaleCalls.all where only.isEmpty || only.contains(where: call.name.contains) {
                let row = try await calls.measure(call)
                print("| \(call.name) | \(Growth.name(size)) | \(row.joined(separator: " | ")) |")
                fflush(nil)
            }
        }
        try place.clear()
    }
}

/// A store, and the measured calls in their order.
struct ScaleCalls {
    struct Call: Sendable {
        let name: String
        /// The number of calls, each for another entry. The measured time is that of one call.
        let count: Int
        /// Whether to repeat the calls for the same entries, whose index pages are then in memory.
        let isRepeated: Bool
        let run: @Sendable (ScaleCalls, Int) async throws -> Void

        init(
            _ name: String, count: Int = 1, isRepeated: Bool = false,
            _ run: @escaping @Sendable (ScaleCalls, Int) async throws -> Void
        ) {
            self.name = name
            self.count = count
            self.isRepeated = isRepeated
            self.run = run
        }
    }

    let store: ResponseStore
    let directory: URL
    let size: Int
    /// Receives the times for which transactions hold the write lock.
    let metrics = TestMetrics()

    init(_ directory: URL, size: Int) throws {
        self.directory = directory
        self.size = size
        var configuration = ResponseStore.Configuration()
        configuration.limits = nil
        configuration.metrics = metrics
        store = try ResponseStore(directory: directory, configuration: configuration)
    }

    /// The number of entries with the tag, in the partition, and with the prefix, in a store of any size.
    static let groupSize = 1_000

    static func key(_ number: Int) throws -> CacheKey { try CacheKey(url: "https://example.com/\(number)") }

    /// Returns the key for this number, different for each call.
    private func key(_ number: Int) throws -> CacheKey { try Self.key(Reading.spread(number, over: size)) }

    private func entry(_ number: Int) throws -> StoredEntry {
        guard let entry = try store.peek(key(number)) else { throw CStore.Failure(description: "an entry is missing") }
        return entry
    }

    private func put(_ key: CacheKey, _ text: String) throws {
        try store.insert(Data(text.utf8), metadata: Sample.metadata(0, byteCount: text.utf8.count), for: key)
    }

    static let all: [Call] = [
        Call("lookup, hit", count: 500, isRepeated: true) { _ = try $0.store.lookup($0.key($1)) },
        Call("lookup, miss", count: 500, isRepeated: true) {
            _ = try $0.store.lookup(CacheKey(url: "https://example.com/none/\($1)"))
        },
        Call("responses(for:)", count: 500, isRepeated: true) { _ = try $0.store.responses(for: $0.key($1)) },
        Call("openBody", count: 200, isRepeated: true) { _ = try $0.store.openBody(of: $0.entry($1)) },
        Call("generation", count: 500, isRepeated: true) { calls, _ in _ = try calls.store.generation() },
        Call("failure(for:)", count: 500, isRepeated: true) { _ = try $0.store.failure(for: $0.key($1)) },
        Call("statistics", count: 200, isRepeated: true) { calls, _ in _ = try calls.store.statistics() },
        Call("insert, new key", count: 200) {
            try $0.put(CacheKey(url: "https://example.com/new/\($1)"), "new \($1)")
        },
        Call("insert, present key", count: 200, isRepeated: true) { try $0.put($0.key($1), "replaced \($1)") },
        Call("freshen", count: 200, isRepeated: true) { _ = try $0.freshen($1) },
        Call("setOptions", count: 200, isRepeated: true) { _ = try $0.setOptions($1) },
        Call("recordFailure", count: 200, isRepeated: true) { _ = try $0.recordFailure($1) },
        Call("insertDerived", count: 200, isRepeated: true) { _ = try $0.insertDerived($1) },
        Call("openDerived", count: 200, isRepeated: true) {
            _ = try $0.store.openDerived(name: "form", of: $0.entry($1))
        },
        Call("touch, flush") { calls, _ in
            for number in 0..<Self.groupSize { calls.store.touch(try calls.entry(number)) }
            try calls.flush()
        },
        Call("openBody, missing file", count: 50) { try $0.openMissing($1 + 200) },
        Call("remove(key)", count: 100) { try $0.removeKey($1 + 300) },
        Call("remove(entry)", count: 100) { _ = try await $0.store.remove($0.entry($1 + 400)) },
        Call("query, 1000 rows") { calls, _ in
            _ = try calls.store.query("SELECT url FROM cache_entries WHERE url > 'https://example.com/1' LIMIT 1000")
        },
        Call("removeAll, 1000 by tag") { calls, _ in try calls.removeAll(.tag("group")) },
        Call("removeAll, 1000 of a partition") { calls, _ in try calls.removeAll(.partition("group")) },
        Call("removeAll, by predicate, reads all") { calls, _ in try calls.removeAll(.matching("byte_size = -1")) },
        Call("evict 1000, dry run") { calls, _ in try calls.evict(1_000, dryRun: true) },
        Call("evict 1000") { calls, _ in try calls.evict(1_000, dryRun: false) },
        Call("evict(.olderThan), reads all") { calls, _ in try calls.evictOld() },
        Call("snapshot") { calls, _ in try calls.snapshot() },
        Call("check") { calls, _ in try calls.check() },
        Call("sweep") { calls, _ in try calls.sweep() },
        Call("the first commit over a lowered limit") { calls, _ in try calls.lowerLimit() },
        Call("suspend, resume") { calls, _ in
            calls.store.suspend()
            try calls.store.resume()
        },
        Call("clear, per entry") { calls, _ in try calls.clear() },
    ]

    // MARK: The synchronous forms

    private func freshen(_ number: Int) throws -> Bool {
        try store.freshen(entry(number), with: Sample.metadata(number, byteCount: 8))
    }

    private func setOptions(_ number: Int) throws -> Bool {
        try store.setOptions(EntryOptions(tags: ["a tag"]), for: key(number))
    }

    private func recordFailure(_ number: Int) throws -> Int { try store.recordFailure(for: key(number), status: 500) }

    private func insertDerived(_ number: Int) throws -> Bool {
        try store.insertDerived(Data("form \(number)".utf8), name: "form", of: entry(number))
    }

    private func flush() throws { try store.flush() }

    private func openMissing(_ number: Int) throws {
        let entry = try entry(number)
        if let digest = entry.digest {
            let text = digest.description
            try FileManager.default.removeItem(
                at: directory.appending(path: "blobs/\(text.prefix(2))/\(text.dropFirst(2))"))
        }
        _ = try store.openBody(of: entry)
    }

    private func removeKey(_ number: Int) throws { try store.remove(key(number)) }
    private func removeAll(_ selection: EntrySelection) throws { try store.removeAll(selection) }

    private func evict(_ count: Int, dryRun: Bool) throws {
        let entries = try store.statistics().entries
        try store.evict(.maxEntries(max(0, entries - count)), dryRun: dryRun)
    }

    private func evictOld() throws { try store.evict(.olderThan(.seconds(3_600 * 24 * 3_650))) }

    private func snapshot() throws {
        let target = directory.deletingLastPathComponent().appending(path: "snapshot")
        try store.snapshot(to: target)
        try FileManager.default.removeItem(at: target)
    }

    private func check() throws { _ = try store.check() }
    private func sweep() throws { try store.sweep() }

    private func lowerLimit() throws {
        var configuration = store.configuration
        configuration.limits = try Limits(maxEntries: max(1, store.statistics().entries / 2))
        let limited = try ResponseStore(directory: directory, configuration: configuration)
        defer { limited.close() }
        let text = "limited"
        try limited.insert(
            Data(text.utf8), metadata: Sample.metadata(0, byteCount: text.utf8.count),
            for: CacheKey(url: "https://example.com/limited"))
    }

    private func clear() throws { try store.clear() }

    // MARK: Measuring

    /// The nanoseconds for which each transaction held the write lock, in order.
    private var holds: [Int64] { metrics.timers(label: "cachestore.transaction.hold").flatMap(\.values) }

    /// The length of the WAL of a store, or 0 without a WAL.
    static func walByteCount(in directory: URL) -> Int {
        let path = directory.appending(path: "index.sqlite-wal").path(percentEncoded: false)
        return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    /// Returns the columns of a call.
    func measure(_ call: Call) async throws -> [String] {
        let lookups = Lookups(store, try key(7))
        let earlier = holds.count
        let entries = try store.statistics().entries
        let clock = ContinuousClock()
        let began = clock.now
        for number in 0..<call.count { try await call.run(self, number) }
        var time = (clock.now - began) / .nanoseconds(1) / Double(call.count)
        if call.name.hasSuffix("per entry") { time /= Double(max(1, entries)) }
        var again: Double?
        if call.isRepeated {
            let began = clock.now
            for number in 0..<call.count { try await call.run(self, number) }
            again = (clock.now - began) / .nanoseconds(1) / Double(call.count)
        }
        let slowest = lookups.end()
        // The store reports the times on another thread.
        try await Task.sleep(for: .milliseconds(20))
        let hold = holds.dropFirst(earlier).max()
        return [
            Table.time(time), again.map(Table.time) ?? "", hold.map { Table.time(Double($0)) } ?? "none",
            Table.time(slowest / .nanoseconds(1)),
            String(format: "%.1f MB", Double(Self.walByteCount(in: directory)) / 1e6),
        ]
    }

    /// Looks up one key repeatedly on a separate thread.
    private final class Lookups: Sendable {
        private let isEnding = Atomic(false)
        private let ended = DispatchSemaphore(value: 0)
        /// Guards the time of the slowest lookup.
        private let slowest = Mutex(Duration.zero)

        init(_ store: ResponseStore, _ key: CacheKey) {
            Thread.detachNewThread { [self] in
                let clock = ContinuousClock()
                while !isEnding.load(ordering: .relaxed) {
                    let time = clock.measure { _ = try? store.peek(key) }
                    slowest.withLock { $0 = max($0, time) }
                    // Pauses between lookups, so that the thread does not occupy a whole processor.
                    usleep(200)
                }
                ended.signal()
            }
        }

        func end() -> Duration {
            isEnding.store(true, ordering: .relaxed)
            ended.wait()
            return slowest.withLock { $0 }
        }
    }
}
