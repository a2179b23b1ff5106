import Foundation

/// A directory that exists while a command runs.
enum TemporaryPlace {
    /// Calls `body` with a new directory that only its owner can access, then removes it. Throws ``Failure`` if the
    /// directory cannot be created.
    static func with<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let name = "cachestore-\(String(UInt32.random(in: .min ... .max), radix: 36))"
        let place = FileManager.default.temporaryDirectory.appending(path: name, directoryHint: .notDirectory)
        guard mkdir(place.path(percentEncoded: false), 0o700) == 0 else {
            throw Failure.system(place.path(percentEncoded: false), errno: errno)
        }
        defer { try? FileManager.default.removeItem(at: place) }
        return try await body(place)
    }
}
