/// A file system of a few megabytes in memory. Unmounted with the last reference.
public final class SmallDisk: Sendable {
    private let directory: TemporaryDirectory

    /// The mount point.
    public var url: URL { directory.url }

    /// Returns `nil` if this process may not mount a file system.
    public init?(byteCount: Int) throws {
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
        // Detaches the mount point immediately; open files keep their bytes.
        umount2(directory.path, Int32(MNT_DETACH))
        #endif
    }

    /// Whether this process can mount a file system.
    public static var isPossible: Bool { (try? SmallDisk(byteCount: 65_536)) != nil }
}
