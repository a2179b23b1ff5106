import ArgumentParser
import CacheReports
import CacheStore
import Foundation

/// Copies a store that is in use.
struct Snapshot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the store to a new directory, while others use it.",
        discussion: """
            The copy is a store of its own, of one moment: give its directory to --store, or pack it with tar. On the same file \
            system it shares the files of the bodies. It holds responses as they were stored, personal ones too; session entries \
            are left out.
            """)

    @Argument(help: "The directory of the copy, which must be empty or not exist.", completion: .directory)
    var target: String

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if target.isEmpty { throw ValidationError("snapshot needs the name of a directory") }
    }

    func run() async throws {
        let copy = try await store.withExistingStore(isReadOnly: true) { store in
            let size = try? store.statistics().physicalBytes
            return try await ProgressLine().show {
                size.map { "copying \($0.asByteCount)" }
            } during: {
                try await store.snapshot(to: URL(filePath: target, directoryHint: .notDirectory))
            }
        }
        let (entries, files) = (copy.entries.of("entry", "entries"), copy.files.of("file", "files"))
        let left = copy.entriesLeftOut.of("entry", "entries")
        let end = copy.entriesLeftOut == 0 ? "" : "; left out \(left), body missing"
        try report.write(
            [
                "entries": .integer(copy.entries), "files": .integer(copy.files), "bytes": .integer(copy.bytes),
                "copied_files": .integer(copy.copiedFiles), "entries_left_out": .integer(copy.entriesLeftOut),
            ],
            text: "copied \(entries), \(files), \(copy.bytes.asByteCount)\(end)")
    }
}
