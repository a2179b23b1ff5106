import CBaseline
import CacheStore
import Foundation

/// A store with many entries, in a directory of its own, and the index as C sees it.
final class FilledStore {
    static let bodyByteCount = 16 * 1024

    let store: ResponseStore
    /// The keys of the entries, in random order; the same in every run.
    let keys: [CacheKey]
    let urls: [String]
    let baseline: OpaquePointer
    let blobs: Int32
    private let directory: URL

    /// Bodies are shared, 64 among all entries: what is measured is the index and one read, not the size of the disk.
    init(entryCount: Int) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "CacheStore-benchmark-\(UUID())")
        var configuration = ResponseStore.Configuration()
        configuration.touchInterval = .seconds(3600)
        store = try ResponseStore(directory: directory, configuration: configuration)
        let bodies = (0..<64).map { number in
            Data((0..<Self.bodyByteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
        }
        let urls = (0..<entryCount).map { "https://host\($0 % 997).example.com/articles/2026/\($0)/image-large.jpg?v=\($0 % 7)" }
        let store = store
        DispatchQueue.concurrentPerform(iterations: 16) { part in
            for number in stride(from: part, to: entryCount, by: 16) {
                do {
                    try store.insert(
                        bodies[number % bodies.count], Self.metadata(number), for: CacheKey(url: urls[number]))
                } catch {
                    fatalError("cannot fill the store: \(error)")
                }
            }
        }
        var generator = SplitMix64(state: 42)
        self.urls = urls.shuffled(using: &generator)
        keys = try self.urls.map { try CacheKey(url: $0) }
        let path = directory.path(percentEncoded: false)
        guard let baseline = baseline_open(path + "/index.sqlite") else { throw CocoaError(.fileReadUnknown) }
        self.baseline = baseline
        blobs = open(path + "/blobs", O_RDONLY | O_DIRECTORY)
    }

    deinit {
        baseline_close(baseline)
        close(blobs)
        store.close()
        try? FileManager.default.removeItem(at: directory)
    }

    private static func metadata(_ number: Int) -> EntryMetadata {
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
            contentType: "image/jpeg", requestedAt: .now, receivedAt: .now, expiresAt: .now.addingTimeInterval(31_536_000),
            head: Array(head.utf8))
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
