import ArgumentParser
import CacheStore
import Foundation
import Samples
import Synchronization

/// Measures how long calls wait in a store shared by two processes, while both check, evict, remove, take snapshots,
/// suspend and resume.
///
///     swift run -c release --package-path Benchmarks compare shared
struct Shared: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures the waits in a store of a million entries that two processes share.")

    @Option(help: "Entries of the store.")
    var entries = 1_000_000

    @Option(help: "How long.")
    var seconds = 120

    @Option(help: "Where the stores are; they stay there for the next run.")
    var data = FileManager.default.temporaryDirectory.appending(path: "CacheStore-compare").path(percentEncoded: false)

    func run() async throws {
        let place = try Place(URL(filePath: data))
        try place.clear()
        let directory = try place.copy(place.scale(entries), as: "shared")
        // Waits for the writes that filled the store, because the disk must not be busy.
        sync()
        let processes = try (0..<2).map { number in
            try LineProcess(
                subcommand: "shared-process",
                [
                    directory.path(percentEncoded: false),
                    place.fresh("snapshot-\(number)").path(percentEncoded: false),
                    "--entries", "\(entries)", "--seconds", "\(seconds)",
                ])
        }
        print("| process | call | count | median | 99.9 % | slowest |")
        print("|---|---|---|---|---|---|")
        for (number, process) in processes.enumerated() {
            while case let line = try process.line(), line != "end" { print("| \(number + 1) | \(line) |") }
        }
        try place.clear()
    }
}

/// One of the processes. Four threads look up and two store, with a pause after each call. One makes long calls, and
/// one suspends the store.
struct SharedProcess: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "shared-process", shouldDisplay: false)

    @Argument var directory: String
    @Argument var snapshots: String
    @Option var entries: Int
    @Option var seconds: Int

    func run() throws {
        let times = SharedTimes()
        let longestWAL = Atomic(0)
        let store = try ResponseStore.unlimited(URL(filePath: directory))
        let end = ContinuousClock.now + .seconds(seconds)
        try onThreads(8) { thread in
            while ContinuousClock.now < end {
                switch thread {
                case 0..<4:
                    let key = try ScaleCalls.key(Int.random(in: 0..<entries))
                    times.measure("lookup") { _ = try store.lookup(key) }
                    longestWAL.max(ScaleCalls.walByteCount(in: URL(filePath: directory)), ordering: .relaxed)
                    usleep(1_000)
                case 4..<6:
                    let number = Int.random(in: 0..<entries)
                    let body = Data("body \(Int.random(in: 0..<1_000))".utf8)
                    times.measure("put") {
                        try store.insert(
                            body, metadata: Sample.metadata(number, byteCount: body.count), for: ScaleCalls.key(number))
                    }
                    usleep(5_000)
                case 6:
                    makeLongCall(of: store, times)
                    usleep(10_000)
                default:
                    usleep(UInt32.random(in: 2_000_000...10_000_000))
                    times.measure("suspend") { store.suspend() }
                    usleep(100_000)
                    times.measure("resume") { try store.resume() }
                }
            }
        }
        for line in times.lines { print(line) }
        print("longest WAL, in MB | | | | \(longestWAL.load(ordering: .relaxed) / 1_000_000)")
        print("end")
        fflush(nil)
    }

    private func makeLongCall(of store: ResponseStore, _ times: SharedTimes) {
        switch Int.random(in: 0..<6) {
        case 0: times.measure("check") { _ = try store.check() }
        case 1:
            times.measure("evict 1000") {
                try store.evict(.maxEntries(max(0, store.statistics().entries - 1_000)))
            }
        case 2: times.measure("removal that reads all") { try store.removeAll(.matching("byte_size = -1")) }
        case 3:
            let digit = Int.random(in: 0..<1_000)
            times.measure("removal by predicate") { try store.removeAll(.matching("url LIKE '%/\(digit)_'")) }
        case 4:
            let target = URL(filePath: snapshots).appending(path: "\(Int.random(in: 0...Int.max))")
            times.measure("snapshot") { try store.snapshot(to: target) }
            try? FileManager.default.removeItem(at: target)
        default: times.measure("sweep") { _ = try store.sweep() }
        }
    }
}

/// The times of calls, and the failed calls.
private final class SharedTimes: Sendable {
    /// Guards the times in nanoseconds by call.
    private let times = Mutex<[String: [Double]]>([:])

    /// Measures a call. Counts a call under another name if a suspension refused or ended it.
    func measure(_ name: String, _ call: () throws -> Void) {
        var name = name
        let clock = ContinuousClock()
        let time = clock.measure {
            do {
                try call()
            } catch StoreError.suspended {
                name += ", suspended"
            } catch {
                name += ", \(error)"
            }
        }
        times.withLock { $0[name, default: []].append(time / .nanoseconds(1)) }
    }

    var lines: [String] {
        times.withLock { times in
            times.sorted { $0.key < $1.key }.map { name, values in
                let sorted = values.sorted()
                let figures = [sorted[sorted.count / 2], sorted[sorted.count * 999 / 1_000], sorted[sorted.count - 1]]
                return ([name, "\(sorted.count)"] + figures.map(Table.time)).joined(separator: " | ")
            }
        }
    }
}
