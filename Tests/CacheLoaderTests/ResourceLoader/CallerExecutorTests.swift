import Dispatch
import TestSupport

/// Long work does not block the caller's executor: a load from the main actor must not stop the user interface.
@Suite("ResourceLoader: the caller's executor", .timeLimit(.minutes(5))) struct CallerExecutorTests {
    private static let url = "https://example.com/a"

    /// Counts the jobs of an actor. Work on another executor costs the caller one more job.
    private final class CountingExecutor: SerialExecutor {
        private let queue = DispatchQueue(label: "CountingExecutor")
        private let count = Atomic(0)

        var jobCount: Int { count.load(ordering: .relaxed) }

        func enqueue(_ job: consuming ExecutorJob) {
            count.wrappingAdd(1, ordering: .relaxed)
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private actor Caller {
        private let executor = CountingExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// Returns the number of jobs of the work after its first one.
        func count(_ work: () async throws -> Void) async rethrows -> Int {
            let before = executor.jobCount
            try await work()
            return executor.jobCount - before
        }
    }

    /// A store with a response that its process has not read yet.
    private func reopened(
        _ body: Data, _ fields: HTTPFields = [:], verification: ResponseStore.Configuration.Verification = .firstRead
    ) async throws -> (store: ResponseStore, directory: TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        var fields = fields
        fields[.cacheControl] = "max-age=600"
        let first = try ResponseStore(directory: directory.url)
        let transport = ScriptedTransport(.reply(200, fields, body: body))
        _ = try await HTTPCache(store: first, transport: transport).response(for: .to("/a")).bytes
        first.close()
        var configuration = ResponseStore.Configuration()
        configuration.verification = verification
        return (try ResponseStore(directory: directory.url, configuration: configuration), directory)
    }

    @Test(
        "verifies a first read of more than 64 KiB on another executor, shorter and later reads in place",
        arguments: [65_536, 65_537])
    func verification(byteCount: Int) async throws {
        let body = Data(repeating: 7, count: byteCount)
        let (store, directory) = try await reopened(body)
        defer { withExtendedLifetime(directory) { store.close() } }
        let loader = ResourceLoader(store: store, transport: ScriptedTransport())
        for _ in 0..<2 {
            let loaded = try await loader.load(Self.url)
            #expect(loaded.source == .disk)
            #expect(loaded.data == body)
            #expect(store.longReadCount == (byteCount > 65_536 ? 1 : 0))
        }
    }

    @Test("HTTPCache also verifies a long body on another executor, on each read if so configured")
    func cache() async throws {
        let (store, directory) = try await reopened(Data(repeating: 7, count: 100_000), verification: .everyRead)
        defer { withExtendedLifetime(directory) { store.close() } }
        let cache = HTTPCache(store: store, transport: ScriptedTransport())
        for number in 1...2 {
            #expect(try await cache.response(for: .to("/a")).source == .disk)
            #expect(store.longReadCount == number)
        }
        // The synchronous lookup runs on its own thread only.
        #expect(try cache.storedResponse(for: .to("/a"))?.source == .disk)
        #expect(store.longReadCount == 2)
    }

    @Test("a long damaged body is a miss, like a short one")
    func damaged() async throws {
        let (store, directory) = try await reopened(Data(repeating: 7, count: 100_000))
        defer { withExtendedLifetime(directory) { store.close() } }
        let entry = try #require(try store.peek(try CacheKey(url: Self.url)))
        let file = try #require(try store.openBody(of: entry)?.fileURL)
        try Data(repeating: 8, count: 100_000).write(to: file)
        let transport = ScriptedTransport(.reply(200, [.cacheControl: "max-age=600"], "new"))
        let loaded = try await ResourceLoader(store: store, transport: transport).load(Self.url)
        #expect(loaded.source == .network)
        #expect(loaded.text == "new")
    }

    /// Returns the coding `deflate` of a body, without compression: RFC 1950, with the stored blocks of RFC 1951
    /// §3.2.4.
    private static func deflated(_ content: Data) -> Data {
        var (coded, rest, a, b) = (Data([0x78, 0x01]), content[...], UInt32(1), UInt32(0))
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            coded.append(rest.isEmpty ? 1 : 0)
            for half in [length, ~length] { coded += [UInt8(half & 0xFF), UInt8(half >> 8)] }
            coded += block
        } while !rest.isEmpty
        for byte in content { (a, b) = ((a + UInt32(byte)) % 65_521, (b + (a + UInt32(byte)) % 65_521) % 65_521) }
        return coded + withUnsafeBytes(of: (b << 16 | a).bigEndian) { Data($0) }
    }

    @Test("decodes a long coded body on another executor, a short one on the caller's")
    func decoding() async throws {
        let jobCounts = [try await jobCount(ofDecoding: 65_000), try await jobCount(ofDecoding: 66_000)]
        #expect(jobCounts[1] == jobCounts[0] + 1)
    }

    /// Returns the number of jobs in which an actor loads a coded body.
    private func jobCount(ofDecoding byteCount: Int) async throws -> Int {
        let content = Data(repeating: 7, count: byteCount)
        let (store, directory) = try await reopened(
            Self.deflated(content), [.contentEncoding: "deflate"], verification: .never)
        defer { withExtendedLifetime(directory) { store.close() } }
        let loader = ResourceLoader(store: store, transport: ScriptedTransport())
        return try await Caller().count {
            let loaded = try await loader.load(Self.url)
            #expect(loaded.data == content)
        }
    }
}
