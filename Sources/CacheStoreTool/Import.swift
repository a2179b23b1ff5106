import ArgumentParser
import CacheStore
import Foundation

/// Makes a store of a file.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a store of an archive that export wrote.",
        discussion: """
            The directory must be empty, or not be there. Every body is compared with its digest; what is damaged or \
            missing is left out with its entries.
            """)

    @Argument(help: "The archive; - reads the standard input.", completion: .file())
    var file: String

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if store.store == nil { throw ValidationError("import needs --store, the directory that is to be the store") }
    }

    func run() async throws {
        let input = try InputFile(path: file)
        let archive = try await ProgressLine().show {
            "importing \(file)"
        } during: {
            try await read(input)
        }
        try ArchiveSummary(archive).write(report, verb: "imported", note: "damaged or missing")
    }

    private func read(_ input: InputFile) async throws -> ArchiveReport {
        do {
            return try await ResponseStore.importArchive(from: input.descriptor, into: store.directory)
        } catch StoreError.archive(let error) {
            throw Failure(.broken, "\(input.path) is not the archive of a store: \(error)")
        } catch StoreError.file(let error) where error.isOfArchive {
            throw Failure.system(input.path, errno: error.errno)
        } catch {
            throw Failure(error, in: store.directory)
        }
    }
}

/// What an archive holds, for a person or a script.
struct ArchiveSummary: Encodable {
    let entries: Int
    let files: Int
    let bytes: Int64
    let entriesLeftOut: Int

    init(_ report: ArchiveReport) {
        entries = report.entries
        files = report.files
        bytes = report.bytes
        entriesLeftOut = report.entriesLeftOut
    }

    func write(_ options: ReportOptions, verb: String, note: String) throws {
        if options.json { return try JSONOutput.write(self) }
        let whole = "\(verb) \(entries.of("entry", "entries")), \(files.of("file", "files")), \(bytes.asByteCount)"
        let left = entriesLeftOut == 0 ? "" : "; left out \(entriesLeftOut.of("entry", "entries")), body \(note)"
        try StandardOutput.write(line: whole + left)
    }
}
