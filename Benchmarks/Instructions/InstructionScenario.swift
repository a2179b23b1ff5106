import CacheLoader
import CacheStore
import Foundation
import HTTPTypes
import Synchronization

/// Repeats one operation for a tool that counts instructions: `InstructionScenario WORK COUNT STORE`.
///
/// Two runs with different counts differ only in the number of operations. The clock does not advance, so that every
/// run does the same work.
@main
struct InstructionScenario: Sendable {
    /// The number of entries that `fill` creates.
    static let entryCount = 4096
    /// The number of keys that work with `hot-` repeats, and of values in memory that `memory` loads.
    static let repeatedCount = 32

    enum Work: String {
        /// Fills the store that the other operations use.
        case fill
        /// Opens the store and closes it.
        case open
        /// Looks up an existing entry and records the access. Uses each key once, like all work without `hot-`.
        case lookup
        case hotLookup = "hot-lookup"
        /// Looks up a missing entry.
        case miss
        /// Looks up an entry and reads its body.
        case hit
        case hotHit = "hot-hit"
        /// Requests a fresh response from an ``HTTPCache`` and reads its body.
        case request
        case hotRequest = "hot-request"
        /// The same as `request`, while the store records requests.
        case recorded
        /// Loads a fresh response with ``ResourceLoader``.
        case load
        case hotLoad = "hot-load"
        /// Loads a value that the loader keeps in memory.
        case memory
        /// Joins a load that waits for its origin, and receives its result.
        case waiter
        /// Inserts a new entry with a new body.
        case put
        /// Freshens an entry, as a 304 does.
        case freshen
        /// Evicts the least recently used entry, one per transaction.
        case evict

        var isHot: Bool { rawValue.hasPrefix("hot-") }
    }

    let store: ResponseStore
    let count: Int

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let work = Work(rawValue: arguments[1]), let count = Int(arguments[2]) else {
            print("usage: InstructionScenario WORK COUNT STORE")
            exit(64)
        }
        let store = try openStore(URL(filePath: arguments[3]))
        defer { store.close() }
        // Like a starting program, commits the registration of the process. Before the first commit no key is hot.
        try store.evict(maxBytes: .max)
        try InstructionScenario(store: store, count: count).run(work)
    }

    private static func openStore(_ directory: URL) throws -> ResponseStore {
        var configuration = ResponseStore.Configuration()
        configuration.clock = { now }
        configuration.accessInterval = .seconds(3600)
        configuration.limits = nil
        return try ResponseStore(directory: directory, configuration: configuration)
    }

    private func run(_ work: Work) throws {
        /// Spreads the numbers of a run over the whole index.
        let spread: @Sendable (Int) -> Int = { number in
            (work.isHot ? number % Self.repeatedCount : number) * 1_583 % Self.entryCount
        }
        switch work {
        case .fill:
            for number in 0..<Self.entryCount { try insert(number) }
        case .open:
            store.close()
            for _ in 0..<count { try Self.openStore(store.directory).close() }
        case .lookup, .hotLookup:
            for number in 0..<count { try check(store.lookup(Self.key(spread(number))) != nil) }
        case .miss:
            for number in 0..<count { try check(store.lookup(Self.key(Self.entryCount + number)) == nil) }
        case .hit, .hotHit:
            for number in 0..<count {
                let entry = try store.lookup(Self.key(spread(number)))
                try check(entry.flatMap { try store.openBody(of: $0)?.data() }?.count == Self.byteCount)
            }
        case .request, .hotRequest, .recorded:
            if work == .recorded { try store.startRecordingRequests() }
            var configuration = HTTPCache.Configuration()
            configuration.clock = { Self.now }
            let cache = HTTPCache(store: store, transport: NoTransport(), configuration: configuration)
            try inTask { [self] in
                for number in 0..<count {
                    let response = try await cache.response(for: Self.request(spread(number)))
                    try await check(response.data().count == Self.byteCount)
                }
            }
        case .load, .hotLoad:
            try inTask { [self] in
                let loader = makeLoader(memoryLimit: 0)
                for number in 0..<count {
                    try await check(loader.load(Self.url(spread(number))).data.count == Self.byteCount)
                }
            }
        case .memory:
            try inTask { [self] in
                let loader = makeLoader(memoryLimit: 1 << 20)
                let urls = (0..<Self.repeatedCount).map(Self.url)
                for url in urls { _ = try await loader.load(url) }
                for number in 0..<count {
                    try await check(loader.load(urls[number % urls.count]).source == .memory)
                }
            }
        case .waiter:
            try inTask { [self] in
                let transport = LateTransport(after: count)
                let loader = ResourceLoader(store: store, transport: transport)
                let url = Self.url(Self.entryCount)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<count {
                        group.addTask {
                            transport.expectCaller()
                            try await check(loader.load(url).source == .network)
                        }
                    }
                    try await group.waitForAll()
                }
            }
        case .put:
            for number in 0..<count { try insert(Self.entryCount + number) }
        case .freshen:
            for number in 0..<count {
                guard let entry = try store.peek(Self.key(spread(number))) else { throw Unexpected() }
                try check(store.freshen(entry, with: Self.metadata(number)))
            }
        case .evict:
            for number in 1...count {
                try check(store.evict(.maxEntries(Self.entryCount - number)).entries == 1)
            }
        }
    }

    private func makeLoader(memoryLimit: Int?) -> ResourceLoader {
        var configuration = ResourceLoader.Configuration()
        configuration.clock = { Self.now }
        configuration.memoryLimit = memoryLimit
        return ResourceLoader(store: store, transport: NoTransport(), configuration: configuration)
    }

    /// Waits for a task. An asynchronous `main` would end the main thread, and valgrind exits with that thread.
    private func inTask(_ body: @escaping @Sendable () async throws -> Void) throws {
        let result = Mutex<Result<Void, any Error>>(.success(()))
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            do { try await body() } catch { result.withLock { $0 = .failure(error) } }
            isDone.signal()
        }
        isDone.wait()
        try result.withLock { $0 }.get()
    }

    private func insert(_ number: Int) throws {
        var body = Data(repeating: 7, count: Self.byteCount)
        body.withUnsafeMutableBytes { $0.storeBytes(of: number, as: Int.self) }
        try store.insert(body, metadata: Self.metadata(number), for: Self.key(number))
    }

    private func check(_ condition: Bool) throws {
        guard condition else { throw Unexpected() }
    }

    // MARK: Data

    private struct Unexpected: Error {}

    private static let byteCount = 256
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func url(_ number: Int) -> String {
        "https://host\(number % 97).example.com/articles/2026/\(number)/image-large.jpg?v=\(number % 7)"
    }

    private static func request(_ number: Int) -> HTTPRequest {
        HTTPRequest(
            method: .get, scheme: "https", authority: "host\(number % 97).example.com",
            path: "/articles/2026/\(number)/image-large.jpg?v=\(number % 7)")
    }

    private static func key(_ number: Int) throws -> CacheKey { try CacheKey(url: url(number)) }

    private static func metadata(_ number: Int) -> EntryMetadata {
        let head = """
            Date: Fri, 15 Jan 2027 08:00:00 GMT
            Content-Type: image/jpeg
            Content-Length: \(byteCount)
            Cache-Control: public, max-age=31536000
            ETag: "5f3c-\(number)"
            Last-Modified: Tue, 15 Sep 2026 12:45:26 GMT
            Server: nginx

            """
        return EntryMetadata(
            status: 200, etag: "\"5f3c-\(number)\"", lastModified: "Tue, 15 Sep 2026 12:45:26 GMT",
            contentType: "image/jpeg", requestedAt: now, receivedAt: now, expiresAt: now.addingTimeInterval(31_536_000),
            head: Array(head.utf8))
    }
}

/// Fails each request, because every load must be a hit.
private struct NoTransport: HTTPTransport {
    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        throw TransportError(.cannotConnect, message: "a request was sent")
    }
}

/// Answers one request, once all callers are about to load.
private final class LateTransport: HTTPTransport {
    /// Guards the number of callers that are missing, and the request that waits for them.
    private let state: Mutex<(missing: Int, request: CheckedContinuation<Void, Never>?)>

    init(after callers: Int) { state = Mutex((callers, nil)) }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    func expectCaller() {
        let request = state.withLock { state in
            state.missing -= 1
            return state.missing == 0 ? state.request.take() : nil
        }
        request?.resume()
    }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.missing > 0 { state.request = continuation }
                return state.missing == 0
            }
            if isReady { continuation.resume() }
        }
        return TransportResponse(
            head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=3600"]),
            body: TransportBody(Data(repeating: 7, count: 256)))
    }
}
