import CacheLoader
import CacheStore
import Foundation
import LoopbackOrigin

/// Loads the files of an origin through a cache, in rounds. Counts at the loader and at the origin.
struct DemoScenario: Sendable {
    /// The number of concurrent loads.
    private static let width = 8
    private static let lifetime = 3600.0

    /// The seconds on the clock to the end of the last round: a minute, two hours, two hours, a minute.
    static let duration = 2 * 60 + 2 * 7200.0

    let clock: DemoClock
    let files: FileOrigin
    let origin: LoopbackOrigin
    let loader: ResourceLoader
    let progress: ProgressLine

    /// The `Cache-Control` of each file: fresh for an hour.
    @Sendable static func cacheControl(_ path: String) -> String? { "max-age=\(Int(lifetime))" }

    /// Starts an origin that serves `files`.
    init(_ files: FileOrigin, store: ResponseStore, clock: DemoClock, progress: ProgressLine) async throws {
        origin = try await LoopbackOrigin(serving: files) {
            OriginDate.text(secondsSince1970: Int(clock.now().timeIntervalSince1970))
        }
        var configuration = ResourceLoader.Configuration()
        configuration.clock = clock.now
        configuration.retry = .never
        configuration.logger = StandardErrorLog.logger
        loader = ResourceLoader(store: store, configuration: configuration)
        self.files = files
        self.clock = clock
        self.progress = progress
    }

    /// Runs all rounds. Throws ``Failure`` if a body differs from its file, or the counts of origin and loader differ.
    func run() async throws -> [DemoRound] {
        var rounds = [try await round("first fetch")]
        clock.advance(by: 60)
        rounds.append(try await round("+1 min, fresh"))
        clock.advance(by: 2 * Self.lifetime)
        rounds.append(try await round("+2 h, stale"))
        clock.advance(by: 2 * Self.lifetime)
        let changed = changeSome()
        rounds.append(try await round("+2 h, \(changed) changed"))
        clock.advance(by: 60)
        rounds.append(try await round("+1 min, fresh"))
        return rounds
    }

    /// Changes every tenth file at the origin, but not on disk.
    private func changeSome() -> Int {
        let chosen = files.paths.enumerated().filter { $0.offset % 10 == 0 }.map(\.element)
        for path in chosen {
            files.overlay(path, with: (files.body(at: path) ?? []) + Array("changed at the origin\n".utf8))
        }
        return chosen.count
    }

    // MARK: A round

    /// Loads every file once, several concurrently.
    private func round(_ title: String) async throws -> DemoRound {
        let before = origin.counters
        let clock = ContinuousClock()
        let start = clock.now
        var round = DemoRound(title: title)
        let paths = files.paths
        try await withThrowingTaskGroup { group in
            var waiting = paths[...]
            for path in waiting.prefix(Self.width) { group.addTask { try await load(path) } }
            waiting = waiting.dropFirst(Self.width)
            while let (source, byteCount) = try await group.next() {
                round.count(source, byteCount: byteCount)
                progress.say("\(title): \(round.requests + round.hits) of \(paths.count)")
                if let path = waiting.popFirst() { group.addTask { try await load(path) } }
            }
        }
        round.seconds = (clock.now - start) / .seconds(1)
        try await compare(round, since: before)
        return round
    }

    private func load(_ path: String) async throws -> (ResponseSource, byteCount: Int) {
        let resource = try await loader.load(origin.url(path))
        guard let body = files.body(at: path), resource.data.elementsEqual(body) else {
            throw Failure(.broken, "\(resource.url): the body is not what the origin serves")
        }
        return (resource.source, resource.data.count)
    }

    /// Compares both counts, with retries: the origin may count a body after the loader has received it.
    private func compare(_ round: DemoRound, since before: OriginCounters) async throws {
        var differences: [String] = []
        for _ in 0..<200 {
            differences = round.differences(from: before, to: origin.counters)
            if differences.isEmpty { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure(.broken, "\(round.title): \(differences.joined(separator: "; "))")
    }
}
