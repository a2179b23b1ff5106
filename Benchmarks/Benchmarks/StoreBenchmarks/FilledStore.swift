import CBaseline
import CacheLoader
import CacheStore
import Foundation
import Samples
import Synchronization

/// A store with many entries in its own directory, and the same index in C.
///
/// `@unchecked Sendable`: only one benchmark runs at a time and uses the handles of the baseline.
final class FilledStore: @unchecked Sendable {
    struct Failure: Error {}

    static let entryCount = 100_000
    static let bodyByteCount = Sample.Size.kib16.rawValue

    /// Created by the first benchmark of the process.
    private static let made = Mutex<FilledStore?>(nil)

    static func shared() throws -> FilledStore {
        try made.withLock { made in
            let filled = try made ?? FilledStore()
            made = filled
            return filled
        }
    }

    let store: ResponseStore
    let loader: ResourceLoader
    /// The keys of the entries, in the same random order in every run.
    let keys: [CacheKey]
    let urls: [String]
    private let baseline: OpaquePointer
    private let blobs: Int32
    private var buffer = [UInt8](repeating: 0, count: bodyByteCount)

    /// Does the work of a lookup in C.
    func lookupInC(_ number: Int) -> baseline_row {
        var url = urls[number]
        return url.withUTF8 { baseline_lookup(baseline, $0.baseAddress, Int32($0.count)) }
    }

    /// Does the work of a hit in C.
    func hitInC(_ number: Int) -> Int64 {
        var row = lookupInC(number)
        guard row.byte_count >= 0 else { return -1 }
        return withUnsafeBytes(of: &row.digest) { digest in
            baseline_read_blob(
                blobs, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), &buffer, Int64(buffer.count))
        }
    }

    /// All entries share 64 bodies, because the benchmark measures the index and one read, not the size of the disk.
    private init() throws {
        // Each benchmark has its own process. All processes of a run use this directory, so only the first process
        // fills the store.
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "CacheStore-benchmark-\(Self.entryCount)")
        var configuration = ResponseStore.Configuration()
        configuration.accessInterval = .seconds(3600)
        configuration.limits = nil
        store = try ResponseStore(directory: directory, configuration: configuration)
        let urls = (0..<Self.entryCount).map { Sample.url($0) }
        loader = ResourceLoader(store: store, transport: NoTransport())
        if try store.statistics().entries != Self.entryCount { try Self.fill(store, urls) }
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
        let bodies = (0..<64).map { Sample.body($0, .kib16) }
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: 16) { part in
            do {
                for number in stride(from: part, to: urls.count, by: 16) {
                    try store.insert(
                        bodies[number % bodies.count],
                        metadata: Sample.metadata(number, byteCount: bodyByteCount), for: CacheKey(url: urls[number]))
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
