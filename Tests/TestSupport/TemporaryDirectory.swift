public import Foundation

/// A directory of a test's own, removed with everything in it when the last reference goes.
public final class TemporaryDirectory: Sendable {
    /// Where it is.
    public let url: URL

    /// Where it is, without a slash at the end.
    public var path: String { url.path(percentEncoded: false) }

    /// Creates an empty directory below the system's temporary directory.
    public init() throws {
        url = FileManager.default.temporaryDirectory
            .appending(path: "CacheStoreTests-\(UUID().uuidString)", directoryHint: .notDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // Whatever permissions a test took away must not keep the directory.
        try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        try? FileManager.default.removeItem(at: url)
    }
}
