#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension ResponseStore {
    /// Where a store of that name belongs on this platform: below the directory for caches, which the system may empty and
    /// backups leave out. Nothing is made before a store is opened there.
    ///
    /// On Apple's platforms that is `Library/Caches` of the app or user, elsewhere `$XDG_CACHE_HOME`, or `~/.cache`.
    public static func defaultDirectory(named name: String = "CacheStore") -> URL {
        #if canImport(Darwin)
        let caches = URL.cachesDirectory
        #else
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"].map { URL(filePath: $0, directoryHint: .isDirectory) } ?? URL.homeDirectory
        // Base directories have to be absolute; a relative one is to be ignored (XDG Base Directory Specification).
        let given = environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let caches =
            given.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? home.appending(path: ".cache", directoryHint: .isDirectory)
        #endif
        return caches.appending(path: name, directoryHint: .notDirectory)
    }
}
