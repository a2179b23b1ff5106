import CacheStoreTesting
import Foundation

/// A file system of a few megabytes, in memory; unmounted when the last reference goes.
final class SmallDisk: Sendable {
    private let directory: TemporaryDirectory

    var url: URL { directory.url }

    /// `nil` where this process may not mount anything.
    init?(byteCount: Int) throws {
        #if os(Linux)
        directory = try TemporaryDirectory()
        guard mount("tmpfs", directory.path, "tmpfs", UInt(MS_NOSUID) | UInt(MS_NODEV), "size=\(byteCount)") == 0 else {
            return nil
        }
        #else
        return nil
        #endif
    }

    deinit {
        #if os(Linux)
        // Open files keep their bytes; the mount point goes at once.
        umount2(directory.path, Int32(MNT_DETACH))
        #endif
    }

    /// Whether this process can mount one.
    static var isPossible: Bool {
        (try? SmallDisk(byteCount: 65_536)) != nil
    }
}
