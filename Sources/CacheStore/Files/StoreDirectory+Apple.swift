#if canImport(Darwin)
internal import CPlatform
internal import Foundation

/// File attributes of Apple's systems.
extension StoreDirectory {
    /// The files and directories that exist before the first body. A later file inherits the class of its directory.
    private static let protectedNames = [
        "", "blobs", "staging", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "ballast",
    ]

    /// Excludes the directory from backups, because stored responses can be loaded again. The system excludes the whole
    /// folder for caches anyway. Ignores file systems without this attribute.
    func excludeFromBackups() {
        var url = URL(filePath: path, directoryHint: .isDirectory)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? url.setResourceValues(values)
    }

    /// Sets the protection class of the directory and the index. Bodies and SQLite's new files inherit the directory's.
    func protect(_ protection: FileProtectionType) throws(StoreError) {
        do {
            let manager = FileManager.default
            let present = try manager.attributesOfItem(atPath: path)[.protectionKey] as? FileProtectionType
            guard present?.rawValue != protection.rawValue else { return }
            // The root comes last: after a kill before it, the next opening does the work again.
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
