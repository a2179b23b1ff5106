/// The work of an app or of its extension on a store that they share.
package struct AppWork: Codable, Hashable, Sendable {
    /// The common beginning of the process's keys.
    package let name: String
    /// The limit of the private writable memory of the process, in bytes.
    package let memoryLimit: UInt64

    package init(name: String, memoryLimit: UInt64) {
        self.name = name
        self.memoryLimit = memoryLimit
    }

    /// The number of working threads.
    package static let threadCount = 2

    /// The key of a step. A thread rewrites few keys.
    package func key(thread: Int, step: UInt64) -> String { "\(name)/\(thread)/\(step % 16)" }

    /// The body of a step: small bodies in the index, and large ones in files.
    package static func version(step: UInt64) -> Version {
        Version(step, [100, 5_000, 70_000, 300_000][Int(step % 4)])
    }

    // MARK: A body larger than the memory

    package var largeKey: String { name + "/large" }
    package static let pieceByteCount = 65_536
    /// Makes a body that is larger than the memory.
    package var pieceCount: Int { Int(memoryLimit) / Self.pieceByteCount * 5 / 4 }

    /// A piece of the large body.
    package static func piece(_ index: Int) -> Version { Version(UInt64(index) + 1_000_000, pieceByteCount) }
}
