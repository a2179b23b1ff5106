import ArgumentParser
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
        let result = Result(copy)
        if let format = report.format {
            try JSONOutput.write(result, format)
        } else {
            try StandardOutput.write(line: result.text)
        }
    }

    private struct Result: Encodable {
        let entries: Int
        let files: Int
        let bytes: Int64
        let copiedFiles: Int
        let entriesLeftOut: Int

        init(_ report: SnapshotReport) {
            entries = report.entries
            files = report.files
            bytes = report.bytes
            copiedFiles = report.copiedFiles
            entriesLeftOut = report.entriesLeftOut
        }

        var text: String {
            let whole = "copied \(entries.of("entry", "entries")), \(files.of("file", "files")), \(bytes.asByteCount)"
            let left = entriesLeftOut == 0 ? "" : "; left out \(entriesLeftOut.of("entry", "entries")), body missing"
            return whole + left
        }
    }
}
