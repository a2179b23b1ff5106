public import CacheFoundation

extension ResponseStore {
    /// Returns the directory for a store of that name on this platform, inside the directory for caches. The system may
    /// empty that directory, and backups exclude it. Opening a store creates the returned directory.
    ///
    /// The directory for caches is `Library/Caches` of the app or user on Apple's platforms, and `$XDG_CACHE_HOME` or
    /// `~/.cache` elsewhere.
    public static func defaultDirectory(named name: String = "CacheStore") -> URL {
        #if canImport(Darwin)
        let caches = URL.cachesDirectory
        #else
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"].map { URL(filePath: $0, directoryHint: .isDirectory) } ?? URL.homeDirectory
        // The XDG Base Directory Specification requires an absolute path, and tells programs to ignore a relative one.
        let given = environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let caches =
            given.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? home.appending(path: ".cache", directoryHint: .isDirectory)
        #endif
        return caches.appending(path: name, directoryHint: .notDirectory)
    }
}
