public import Foundation

/// A directory for one test. Removed with its contents when the last reference is released.
public final class TemporaryDirectory: Sendable {
    /// The location of the directory.
    public let url: URL

    /// The path of the directory, without a trailing slash.
    public var path: String { url.path(percentEncoded: false) }

    /// Creates an empty directory below the system's temporary directory.
    public init() throws {
        url = FileManager.default.temporaryDirectory
            .appending(path: "CacheStoreTests-\(UUID().uuidString)", directoryHint: .notDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A test may have removed permissions that the deletion needs.
        try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        try? FileManager.default.removeItem(at: url)
    }
}
