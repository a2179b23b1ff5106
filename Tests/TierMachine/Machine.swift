import CacheLoader
import CacheStore
import CacheTier
import Foundation
import HTTPTypes
import Synchronization

/// A store, and a cache with the shared tier behind it.
struct Machine {
    let store: ResponseStore
    let tier: SharedTier?
    let cache: HTTPCache

    init(_ setup: Setup) throws {
        var configuration = ResponseStore.Configuration()
        if let count = setup.maxEntries { configuration.limits = Limits(maxEntries: count) }
        store = try ResponseStore(directory: URL(filePath: setup.store), configuration: configuration)
        let origin: any HTTPTransport = setup.isOriginInside == true ? OriginInside() : Self.transport(64)
        guard let url = setup.tier else {
            tier = nil
            cache = HTTPCache(store: store, transport: origin)
            return
        }
        let engine: any TierEngine
        if let region = setup.region {
            let credentials = S3Credentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "of the lab")
            engine = try S3Engine(url, region: region, credentials: { credentials }, transport: Self.transport(32))
        } else {
            engine = try PlainEngine(url, transport: Self.transport(32))
        }
        var settings = SharedTier.Configuration()
        if let deadline = setup.deadline { settings.deadline = .milliseconds(deadline) }
        if let lifetime = setup.removalDelay { settings.removalDelay = .milliseconds(lifetime) }
        let tier = SharedTier(
            engine: engine, keys: try TierKeys(secret: Data(repeating: 7, count: 32)), configuration: settings)
        self.tier = tier
        cache = HTTPCache(store: store, transport: TieredTransport(tier: tier, origin: origin))
    }

    private static func transport(_ connections: Int) -> DefaultTransport {
        var configuration = DefaultTransport.Configuration()
        configuration.connectionsPerHost = connections
        return DefaultTransport(configuration: configuration)
    }

    /// The state that the tasks of a load share.
    private final class Progress: Sendable {
        let next = Atomic(0)
        let result = Mutex(LoadResult())
    }

    func run(_ load: Load) async -> LoadResult {
        let urls =
            load.file.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }?
            .split(separator: "\n").map { String($0) } ?? load.urls ?? []
        let count = (load.range.map { $0.to - $0.from } ?? urls.count) * (load.repetitions ?? 1)
        let start = ContinuousClock.now
        let progress = Progress()
        await withTaskGroup { group in
            for _ in 0..<load.width {
                group.addTask {
                    while true {
                        let number = progress.next.add(1, ordering: .relaxed).oldValue
                        let elapsed = (ContinuousClock.now - start) / .seconds(1)
                        guard number < count, elapsed < load.seconds ?? .infinity else { return }
                        let sample: Sample
                        if let range = load.range {
                            let text = "\(range.from + number % (range.to - range.from))"
                            sample = await request(range.url.replacing("*", with: text))
                        } else {
                            sample = await request(urls[number % urls.count])
                        }
                        progress.result.withLock { $0.note(sample, keepsTimes: load.hasSamples == true) }
                        if let pause = load.pause { try? await Task.sleep(for: .milliseconds(pause)) }
                    }
                }
            }
        }
        var total = progress.result.withLock { $0 }
        total.seconds = (ContinuousClock.now - start) / .seconds(1)
        return total
    }

    /// Requests a URL, with the language after `#` if present, and compares the body with the origin's bytes.
    private func request(_ text: String) async -> Sample {
        let began = Date()
        let start = ContinuousClock.now
        func microseconds() -> Int { Int((ContinuousClock.now - start) / .microseconds(1)) }
        let parts = text.split(separator: "#")
        guard let url = parts.first.flatMap({ URLComponents(string: String($0)) }), let host = url.host else {
            return Sample(began: began, failure: "no URL: \(text)")
        }
        let query = url.query.map { "?\($0)" } ?? ""
        var request = HTTPRequest(
            method: .get, scheme: url.scheme, authority: "\(host)\(url.port.map { ":\($0)" } ?? "")",
            path: url.path + query)
        if parts.count > 1 { request.headerFields[.acceptLanguage] = String(parts[1]) }
        var sample = Sample(began: began)
        do {
            let response = try await cache.response(for: request)
            sample.head = microseconds()
            sample.source = source(response)
            let data = try await response.data()
            sample.whole = microseconds()
            sample.byteCount = data.count
            if let failure = response.failure {
                sample.failure = "\(failure)"
            } else if response.status != .ok {
                sample.failure = "status \(response.status.code)"
            } else if let deviation = Body.deviation(data, response.headerFields, of: request) {
                sample.deviation = "\(text): \(deviation)"
            }
        } catch {
            sample.whole = microseconds()
            sample.failure = "\(error)"
        }
        return sample
    }

    private func source(_ response: CachedResponse) -> String {
        switch response.source {
        case .tier: return "tier"
        case .network:
            let members = HTTPField.Name("Cache-Status").map { response.headerFields[values: $0] } ?? []
            return members.contains { $0.contains("collapsed") } ? "collapsed" : "origin"
        default: return "store"
        }
    }

    func report() -> MachineReport {
        MachineReport(residentBytes: Self.residentBytes(), isBreakerOpen: tier?.isBreakerOpen, tier.map(\.statistics))
    }

    /// The memory of the process in bytes, or `nil` on systems that do not report it.
    private static func residentBytes() -> Int? {
        // proc(5)
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
        else { return nil }
        return line.split { $0 == " " || $0 == "\t" }.compactMap { Int($0) }.first.map { $0 * 1024 }
    }
}
