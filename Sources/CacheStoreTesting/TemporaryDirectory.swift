public import CacheFoundation
public import CacheStore

/// A directory for one test. Removed with its contents when the last reference is released.
///
/// For tests that open the same store several times, for example to test a restart. Otherwise
/// ``CacheStore/ResponseStore/temporary(clock:configuration:)`` is enough.
public final class TemporaryDirectory: Sendable {
    /// The location of the directory.
    public let url: URL

    /// The path of the directory, without a trailing slash.
    package var path: String { url.path(percentEncoded: false) }

    /// Creates an empty directory below the system's temporary directory.
    ///
    /// - Throws: `StoreError.unusableDirectory(path:reason:)`.
    public init() throws(StoreError) {
        url = FileManager.default.temporaryDirectory
            .appending(path: "CacheStoreTesting-\(UUID().uuidString)", directoryHint: .notDirectory)
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw .unusableDirectory(path: url.path(percentEncoded: false), reason: "\(error)")
        }
    }

    deinit {
        // A test may have removed permissions that the deletion needs.
        try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        // The background work of a store that was just released may create another file during the removal.
        if (try? FileManager.default.removeItem(at: url)) == nil { try? FileManager.default.removeItem(at: url) }
    }
}
