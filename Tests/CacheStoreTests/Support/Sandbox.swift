import TestSupport

/// A directory for one store, and a frozen clock.
final class Sandbox: Sendable {
    let directory: TemporaryDirectory
    let clock = ManualClock()

    /// Without a directory no test can run.
    init() {
        do { directory = try TemporaryDirectory() } catch { fatalError("\(error)") }
    }

    /// The directory of the store; opening creates it.
    var url: URL { directory.url.appending(path: "store", directoryHint: .isDirectory) }
    var path: String { directory.path + "/store" }
    var indexPath: String { path + "/index.sqlite" }

    /// Opens the store. Accesses reach the index only with a write, `flush()` or `close()`: no timer disturbs a test.
    func open(_ configure: (inout ResponseStore.Configuration) -> Void = { _ in }) throws -> ResponseStore {
        try ResponseStore(directory: url, configuration: configuration(configure))
    }

    func configuration(
        _ configure: (inout ResponseStore.Configuration) -> Void = { _ in }
    ) -> ResponseStore.Configuration {
        var configuration = ResponseStore.Configuration()
        configuration.clock = clock.date
        configuration.accessInterval = .seconds(3600)
        configure(&configuration)
        return configuration
    }

    /// Metadata of a response that arrives now.
    func metadata(
        _ kind: EntryMetadata.Kind = .content, variant: String = "", etag: String? = nil,
        expiresIn lifetime: TimeInterval? = nil, head: String = ""
    ) -> EntryMetadata {
        EntryMetadata(
            kind: kind, variant: variant, status: kind == .content ? 200 : 404, etag: etag, requestedAt: clock.now,
            receivedAt: clock.now, expiresAt: lifetime.map { clock.now + $0 }, head: Array(head.utf8))
    }

    /// The file of a digest.
    func file(of digest: ContentDigest) -> URL {
        let digits = digest.description
        return url.appending(path: "blobs/\(digits.prefix(2))/\(digits.dropFirst(2))")
    }

    /// The paths of all files below `blobs/`, relative to it.
    func files() -> [String] {
        let blobs = url.appending(path: "blobs").path(percentEncoded: false)
        let paths = FileManager.default.enumerator(atPath: blobs)?.allObjects.compactMap { $0 as? String } ?? []
        return paths.filter { path in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: blobs + "/" + path, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted()
    }

    /// The number of this process's descriptors of a file or folder of the store. Thousands of tests run in one
    /// process: no limit of the numbers is assumed.
    func descriptorCount(of name: String) throws -> Int {
        var file = stat()
        guard stat(path + "/" + name, &file) == 0 else { return 0 }
        return try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count { number in
            var status = stat()
            guard let number = Int32(number), fstat(number, &status) == 0 else { return false }
            return status.st_ino == file.st_ino && status.st_dev == file.st_dev
        }
    }
}

extension EntryMetadata {
    /// Metadata of a response that arrives now, for a process without a sandbox.
    static var now: EntryMetadata { EntryMetadata(requestedAt: Date(), receivedAt: Date()) }
}

extension CacheKey {
    /// The key of `https://example.com/` and a path.
    static func path(_ path: some CustomStringConvertible) throws -> CacheKey {
        try CacheKey(url: "https://example.com/\(path)")
    }
}

extension ResponseStore {
    /// The body stored for `key`, or `nil` on a miss. Does not count as an access.
    func bytes(_ key: CacheKey) throws -> Data? { try peek(key).flatMap { try openBody(of: $0)?.data() } }
}
