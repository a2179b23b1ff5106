import CBaseline
import CacheLoader
import CacheStore
import Foundation
import HTTPTypes
import Synchronization

/// A store with many entries, in a directory of its own, and the index as C sees it.
///
/// `@unchecked Sendable`: the handles of the baseline are used by the one benchmark that runs at a time.
final class FilledStore: @unchecked Sendable {
    struct Failure: Error {}

    static let bodyByteCount = 16 * 1024

    /// Made by the first benchmark of the process.
    private static let made = Mutex<FilledStore?>(nil)

    static func shared(entryCount: Int) throws -> FilledStore {
        try made.withLock { made in
            let filled = try made ?? FilledStore(entryCount: entryCount)
            made = filled
            return filled
        }
    }

    let store: ResponseStore
    let loader: ResourceLoader
    /// The keys of the entries, in random order; the same in every run.
    let keys: [CacheKey]
    let urls: [String]
    private let baseline: OpaquePointer
    private let blobs: Int32
    private var buffer = [UInt8](repeating: 0, count: bodyByteCount)

    /// The work of a lookup, in C.
    func lookupInC(_ number: Int) -> baseline_row {
        var url = urls[number]
        return url.withUTF8 { baseline_lookup(baseline, $0.baseAddress, Int32($0.count)) }
    }

    /// The work of a hit, in C.
    func hitInC(_ number: Int) -> Int64 {
        var row = lookupInC(number)
        guard row.byte_count >= 0 else { return -1 }
        return withUnsafeBytes(of: &row.digest) { digest in
            baseline_read_blob(
                blobs, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), &buffer, Int64(buffer.count))
        }
    }

    /// Bodies are shared, 64 among all entries: what is measured is the index and one read, not the size of the disk.
    init(entryCount: Int) throws {
        // The same in every process of a run, which has one for each benchmark: filled once.
        let directory = FileManager.default.temporaryDirectory.appending(path: "CacheStore-benchmark-\(entryCount)")
        var configuration = ResponseStore.Configuration()
        configuration.touchInterval = .seconds(3600)
        store = try ResponseStore(directory: directory, configuration: configuration)
        let urls = (0..<entryCount).map {
            "https://host\($0 % 997).example.com/articles/2026/\($0)/image-large.jpg?v=\($0 % 7)"
        }
        loader = ResourceLoader(store: store, transport: NoTransport())
        if try store.statistics().entries != entryCount { try Self.fill(store, urls) }
        var generator = SplitMix64(state: 42)
        self.urls = urls.shuffled(using: &generator)
        keys = try self.urls.map { try CacheKey(url: $0) }
        let path = directory.path(percentEncoded: false)
        guard let baseline = baseline_open(path + "/index.sqlite", baseline_reads) else { throw Failure() }
        self.baseline = baseline
        blobs = open(path + "/blobs", O_RDONLY | O_DIRECTORY)
    }

    private static func fill(_ store: ResponseStore, _ urls: [String]) throws {
        try store.evict(maxBytes: 0)
        let bodies = (0..<64).map { number in
            Data((0..<bodyByteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
        }
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: 16) { part in
            do {
                for number in stride(from: part, to: urls.count, by: 16) {
                    try store.insert(
                        bodies[number % bodies.count], metadata: metadata(number), for: CacheKey(url: urls[number]))
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    static func metadata(_ number: Int) -> EntryMetadata {
        let head = """
            Date: Sat, 21 Nov 2026 07:28:00 GMT
            Content-Type: image/jpeg
            Content-Length: \(bodyByteCount)
            Cache-Control: public, max-age=31536000
            ETag: "5f3c-\(number)"
            Last-Modified: Tue, 15 Sep 2026 12:45:26 GMT
            Server: nginx
            X-Request-Id: 7b0f2f6e-2f3a-4b7e-9f0e-\(number)

            """
        return EntryMetadata(
            status: 200, etag: "\"5f3c-\(number)\"", lastModified: "Tue, 15 Sep 2026 12:45:26 GMT",
            contentType: "image/jpeg", requestedAt: .now, receivedAt: .now,
            expiresAt: .now.addingTimeInterval(31_536_000),
            head: Array(head.utf8))
    }
}

/// There is nothing to be fetched: everything is a hit.
struct NoTransport: HTTPTransport {
    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        throw TransportError(.cannotConnect, message: "a request was sent")
    }
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
