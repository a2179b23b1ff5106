#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
/// Makes a store of an archive.
extension ResponseStore {
    /// Makes a store in `directory` of an archive that `exportArchive(to:)` wrote, this version's or an older
    /// one's. Open it afterwards.
    ///
    /// The archive may come from anybody: nothing is written outside of the directory, the index must have the schema of a
    /// store, and a body with other bytes than its digest says is dropped with its entries, as `repair(digests:)` does. The
    /// directory appears whole or not at all: it is filled under another name beside its place.
    ///
    /// - Parameters:
    ///   - descriptor: A file, a pipe or a socket, open for reading; it is read to its end and left open.
    ///   - directory: Where the store is to be: nothing, or an empty directory.
    /// - Throws: ``StoreError/archive(_:)`` for what is no archive of a store, ``StoreError/newerSchema(path:found:supported:)``
    ///   for that of a newer one, ``StoreError/unusableDirectory(path:reason:)`` where there is something already,
    ///   ``StoreError/file(_:)``, ``StoreError/index(_:)``.
    @discardableResult
    public static func importArchive(
        from descriptor: Int32, into directory: URL
    ) throws(StoreError) -> ArchiveReport {
        let place = try ImportDirectory(for: directory)
        try unpack(descriptor, into: place.root)
        let entries = try ArchivedIndex(path: place.indexPath).verifiedEntryCount()
        var report = try repairImported(place.path)
        report.entriesLeftOut = max(0, entries - report.entries)
        try place.keep()
        return report
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public static func importArchive(
        from descriptor: Int32, into directory: URL
    ) async throws(StoreError) -> ArchiveReport {
        try await BlockingLane(label: "CacheStore.import").run { () throws(StoreError) in
            try importArchive(from: descriptor, into: directory)
        }
    }

    private static func unpack(_ descriptor: Int32, into root: FileDescriptor) throws(StoreError) {
        var archive = try mapping { () throws(SystemError) in try ArchiveStream(descriptor) }
        var reader = TarReader()
        var unpacker = Unpacker(root: root)
        while true {
            var bytes = try mapping { () throws(SystemError) in try archive.read() }
            guard !bytes.isEmpty else { break }
            while let event = try mapping({ () throws(ArchiveError) in try reader.next(&bytes) }) {
                try unpacker.take(event)
            }
        }
        try mapping { () throws(ArchiveError) in try reader.finish() }
        guard unpacker.hasIndex else { throw .archive(.missingIndex) }
    }

    private static func repairImported(_ path: String) throws(StoreError) -> ArchiveReport {
        let store = try ResponseStore(directory: URL(filePath: path))
        defer { store.close() }
        let found = try store.repair(digests: true)
        if !found.isSound, let left = try store.check().problems.first {
            throw .archive(.damagedIndex("\(left)"))
        }
        let statistics = try store.statistics()
        return ArchiveReport(
            entries: statistics.entries, files: statistics.files,
            bytes: statistics.physicalBytes - statistics.inlineBytes)
    }
}
