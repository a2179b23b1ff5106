import ArgumentParser
import AsyncHTTPClientCaching
import CacheLoader
import CacheStore
import Foundation
import HTTPTypes
import Synchronization

/// Compares CurlTransport with AsyncHTTPClientTransport and with the tool curl, in one run.
///
///     swift run -c release --package-path Benchmarks transports http://127.0.0.1:8080/16k http://127.0.0.1:8080/1g
///
/// The origin is any server, such as nginx. `/16k` ignores its query; `/1g` is a large file.
@main
struct Transports: AsyncParsableCommand {
    @Argument(help: "The URL of a small cacheable file; the query of each request is another one.")
    var small: String

    @Argument(help: "The URL of a large file.")
    var large: String

    @Option(help: "A URL that accepts a large PUT.")
    var upload: String?

    @Option(help: "The bytes of the upload.")
    var uploadBytes = 1 << 30

    @Option(help: "Misses of each transport in each round.")
    var requests = 1_000

    @Option(help: "Rounds; the transports take turns.")
    var rounds = 7

    func run() async throws {
        let transports: [(name: String, transport: any HTTPTransport)] = [
            ("CurlTransport", CurlTransport()), ("AsyncHTTPClientTransport", AsyncHTTPClientTransport()),
        ]
        for (level, width) in [("HTTPCache", 1), ("HTTPCache", 8), ("ResourceLoader", 1), ("ResourceLoader", 8)] {
            try await misses(level, width, transports)
        }
        try await download(transports)
        if let upload { try await self.upload(upload, transports) }
    }

    // MARK: Misses

    private func misses(
        _ level: String, _ width: Int, _ transports: [(name: String, transport: any HTTPTransport)]
    ) async throws {
        var times: [String: [Double]] = [:]
        for round in 0..<rounds {
            for (name, transport) in round.isMultiple(of: 2) ? transports : transports.reversed() {
                let directory = FileManager.default.temporaryDirectory.appending(path: "CacheStore-transports")
                try? FileManager.default.removeItem(at: directory)
                let store = try ResponseStore(directory: directory)
                let load = Self.load(level, store, transport)
                let urls = (0..<requests).map { "\(small)?\(name)\(level)\(width)\(round)-\($0)" }
                // Opens the connections, and prepares the store's statements.
                for warm in 0..<50 { try await load("\(small)?warm\(warm)") }
                let measured = try await withThrowingTaskGroup(of: [Double].self) { group in
                    for lane in 0..<width {
                        group.addTask {
                            var times: [Double] = []
                            for index in stride(from: lane, to: urls.count, by: width) {
                                let start = ContinuousClock.now
                                try await load(urls[index])
                                times.append((ContinuousClock.now - start) / .microseconds(1))
                            }
                            return times
                        }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                times[name, default: []] += measured
                try await store.close()
            }
        }
        for percentile in [50, 99] {
            let values = transports.map { times[$0.name, default: []].percentile(percentile) }
            print(
                "miss through \(level), \(width) at once, p\(percentile): "
                    + zip(transports, values).map { "\($0.name) \(Int($1)) µs" }.joined(separator: ", ")
                    + ", ratio \(ratio(values[0], values[1]))")
        }
    }

    private static func load(
        _ level: String, _ store: ResponseStore, _ transport: any HTTPTransport
    ) -> @Sendable (String) async throws -> Void {
        if level == "ResourceLoader" {
            let loader = ResourceLoader(store: store, transport: transport)
            return { _ = try await loader.load($0).data }
        }
        let cache = HTTPCache(store: store, transport: transport)
        return { url in
            for try await _ in try await cache.response(for: HTTPRequest(to: url)).body {}
        }
    }

    // MARK: Large bodies

    private func download(_ transports: [(name: String, transport: any HTTPTransport)]) async throws {
        var seconds: [String: [Double]] = [:]
        for _ in 0..<rounds {
            for (name, transport) in transports {
                let body = try await transport.send(HTTPRequest(to: large), content: nil).body
                let file = FileManager.default.temporaryDirectory.appending(path: "CacheStore-large")
                FileManager.default.createFile(atPath: file.path(percentEncoded: false), contents: nil)
                let handle = try FileHandle(forWritingTo: file)
                seconds[name, default: []].append(
                    try await ContinuousClock().measure {
                        while let chunk = try await body.next() { try handle.write(contentsOf: chunk) }
                    } / .seconds(1))
                try handle.close()
                try FileManager.default.removeItem(at: file)
            }
            seconds["curl -o", default: []].append(
                try ContinuousClock().measure {
                    let file = FileManager.default.temporaryDirectory.appending(path: "CacheStore-large")
                    let curl = try Process.run(
                        URL(filePath: "/usr/bin/curl"), arguments: ["-s", "-o", file.path(percentEncoded: false), large])
                    curl.waitUntilExit()
                    try FileManager.default.removeItem(at: file)
                } / .seconds(1))
        }
        report("large body", seconds, against: "curl -o", transports.map(\.name))
    }

    private func upload(_ url: String, _ transports: [(name: String, transport: any HTTPTransport)]) async throws {
        var seconds: [String: [Double]] = [:]
        let chunk = Data(count: 1 << 18)
        for _ in 0..<max(rounds / 2, 1) {
            for (name, transport) in transports {
                let count = uploadBytes / chunk.count
                let rest = Remaining(count)
                let content = RequestContent(length: Int64(count * chunk.count)) { () async throws(TransportError) in
                    rest.take() ? chunk : nil
                }
                seconds[name, default: []].append(
                    try await ContinuousClock().measure {
                        let response = try await transport.send(HTTPRequest(.put, to: url), content: content)
                        while try await response.body.next() != nil {}
                        guard response.head.status.kind == .successful else {
                            throw ValidationError("\(url) answers \(response.head.status)")
                        }
                    } / .seconds(1))
            }
        }
        report("upload", seconds, against: "AsyncHTTPClientTransport", ["CurlTransport"])
    }

    private func report(_ work: String, _ seconds: [String: [Double]], against other: String, _ names: [String]) {
        let base = seconds[other, default: []].percentile(50)
        for name in names {
            let value = seconds[name, default: []].percentile(50)
            print(
                "\(work): \(name) \(value.formatted()) s, \(other) \(base.formatted()) s, throughput \(ratio(base, value))"
            )
        }
    }

    private func ratio(_ one: Double, _ other: Double) -> String {
        (one / other).formatted(.number.precision(.fractionLength(2)))
    }
}

/// Counts down to zero.
private final class Remaining: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) {
        self.count = Atomic(count)
    }

    func take() -> Bool { count.subtract(1, ordering: .relaxed).oldValue > 0 }
}

extension HTTPRequest {
    fileprivate init(_ method: Method = .get, to url: String) {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        self.init(
            method: method, scheme: String(parts[0].dropLast()), authority: String(parts[1]), path: "/\(parts[2])")
    }
}

extension [Double] {
    fileprivate func percentile(_ percentile: Int) -> Double {
        isEmpty ? .nan : sorted()[(count - 1) * percentile / 100]
    }
}
