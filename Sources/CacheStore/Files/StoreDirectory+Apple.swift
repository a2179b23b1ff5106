#if canImport(Darwin)
internal import CPlatform
internal import Foundation

/// Attributes that only Apple's systems have.
extension StoreDirectory {
    /// The files and directories that exist before a body does. Any later file gets the class of its directory.
    private static let protectedNames = [
        "", "blobs", "staging", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "ballast",
    ]

    /// Excludes the directory from backups: stored responses can be loaded again.
    ///
    /// The folder for caches is excluded as a whole. Ignores a file system without such an attribute.
    func excludeFromBackups() {
        var url = URL(filePath: path, directoryHint: .isDirectory)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? url.setResourceValues(values)
    }

    /// Gives the directory and the index a protection class. A new file has the class of its directory: bodies, and the
    /// files that SQLite creates.
    func protect(_ protection: FileProtectionType) throws(StoreError) {
        do {
            let manager = FileManager.default
            let present = try manager.attributesOfItem(atPath: path)[.protectionKey] as? FileProtectionType
            guard present?.rawValue != protection.rawValue else { return }
            // The root last: a kill before it leaves the work to the next opening.
            let names = Self.protectedNames + (try shards())
            for name in names.reversed() {
                let path = name.isEmpty ? path : path + "/" + name
                guard manager.fileExists(atPath: path) else { continue }
                try manager.setAttributes([.protectionKey: protection], ofItemAtPath: path)
            }
        } catch {
            throw .unusableDirectory(path: path, reason: "cannot set its protection class: \(error)")
        }
    }

    /// The directories of bodies.
    private func shards() throws -> [String] {
        guard try root.status(of: "blobs") != nil else { return [] }
        return try root.open("blobs", O_RDONLY | O_DIRECTORY).names().map { "blobs/" + $0 }
    }
}
#endif
