import CacheLoader
import CacheStore
import Foundation
import HTTPTypes

/// Prefetches every number below `count` from an origin into a store that other processes share.
///
/// Its arguments are the store, the start of the URLs, its name at the origin, the count, the number of concurrent
/// transfers, and `forwards` or `backwards`. It sends `hello` to the origin before the prefetch; the origin may hold
/// the reply until other processes have started. At the end it writes `hits`, `loaded`, `failed`, and its memory in
/// bytes after a quarter of the work and at the end.
@main
struct PrefetchScenario {
    static func main() async throws {
        // The alarm kills a program that hangs.
        alarm(500)
        let arguments = CommandLine.arguments
        guard arguments.count == 7, let count = Int(arguments[4]), let width = Int(arguments[5]) else { exit(2) }
        let requests = Requests(
            base: arguments[2], role: arguments[3], count: count, isReversed: arguments[6] == "backwards")

        let store = try ResponseStore(directory: URL(filePath: arguments[1]))
        var configuration = ResourceLoader.Configuration()
        configuration.lanes.background = width
        configuration.retry = .never
        // Long enough for a busy machine.
        configuration.processWait = .seconds(500)
        let loader = ResourceLoader(store: store, transport: makeTransport(), configuration: configuration)
        var hello = requests.request("hello")
        hello.policy = .remoteOnly
        _ = try await loader.load(hello)

        let prefetch = loader.prefetch(requests)
        var early: Int?
        for await progress in prefetch.updates where progress.completed >= count / 4 && early == nil {
            early = residentBytes()
        }
        let progress = await prefetch.finished()
        print("hits", progress.hits)
        print("loaded", progress.loaded)
        print("failed", progress.failed + progress.cancelled)
        print("early", early ?? 0)
        print("late", residentBytes() ?? 0)
        // A store that closes drops its records if another process has the file locked.
        while store.requests.pendingCount > 0 { store.requests.flush() }
        store.close()
    }

    private static func makeTransport() -> any HTTPTransport {
        var configuration = DefaultTransport.Configuration()
        configuration.idleTimeout = .seconds(500)
        return DefaultTransport(configuration: configuration)
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

/// The requests in sequence: their number takes no memory.
struct Requests: Sequence, Sendable {
    let base: String
    let role: String
    let count: Int
    let isReversed: Bool

    func request(_ name: String) -> ResourceRequest {
        var fields = HTTPFields()
        fields[.from] = role
        fields[.userAgent] = "\(getpid())"
        return ResourceRequest("\(base)/\(name)", headerFields: fields)
    }

    func makeIterator() -> AnyIterator<ResourceRequest> {
        var next = 0
        return AnyIterator {
            guard next < count else { return nil }
            defer { next += 1 }
            return request("\(isReversed ? count - 1 - next : next)")
        }
    }
}
