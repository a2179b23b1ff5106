import ArgumentParser
import CacheStore
import Foundation

/// Puts a store into a file.
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the whole store to a tar archive, while others use it.",
        discussion: """
            The archive holds the index and the bodies as they are stored, personal ones too. The index is copied first, to \
            the directory for temporary files.
            """)

    @Argument(
        help: "The archive, which appears only once it is complete; - is the standard output.", completion: .file())
    var file: String

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if file == "-", report.json {
            throw ValidationError("the archive goes to the standard output; --json does not fit to it")
        }
    }

    func run() async throws {
        let archive = try await store.withExistingStore(isReadOnly: true) { store in
            let size = try? store.statistics().physicalBytes
            return try await ProgressLine().show {
                size.map { "exporting \($0.asByteCount)" }
            } during: {
                try await write(store)
            }
        }
        guard file != "-" else { return }
        try ArchiveSummary(archive).write(report, verb: "exported", note: "gone meanwhile")
    }

    private func write(_ store: ResponseStore) async throws -> ArchiveReport {
        if file == "-" { return try await writeToStandardOutput(store) }
        do {
            // As the files of a store: what is in them is for its owner only.
            return try await OutputFile(path: file).write(mode: 0o600) { try await store.exportArchive(to: $0) }
        } catch StoreError.file(let error) where error.isOfArchive {
            throw Failure.system(file, errno: error.errno)
        }
    }

    private func writeToStandardOutput(_ store: ResponseStore) async throws -> ArchiveReport {
        guard isatty(STDOUT_FILENO) == 0 else { throw Failure(.broken, "an archive is nothing for a terminal") }
        do {
            return try await store.exportArchive(to: STDOUT_FILENO)
        } catch StoreError.file(let error) where error.errno == EPIPE {
            throw StandardOutput.ReaderIsGone()
        } catch StoreError.file(let error) where error.isOfArchive {
            throw Failure.system("the standard output", errno: error.errno)
        }
    }
}

extension SystemError {
    /// Whether a call on the descriptor of the archive failed, of which only the caller knows the name.
    var isOfArchive: Bool { path == "the archive" }
}
