import ArgumentParser
import CacheReports
import CacheStore
import Foundation
import HTTPArchive

/// Writes stored responses into an HTTP Archive.
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write what is stored to an HTTP Archive, which browsers open and tests replay.",
        discussion: """
            Bodies are written without their content codings. The values of cookies, credentials and query items such as \
            access_token are redacted; bodies are not. 'cachestore import' reads the file, 'cachestore snapshot' copies a \
            store as it is.
            """)

    @Option(
        help: ArgumentHelp("The file, in the format HAR 1.2; - writes the standard output.", valueName: "file"),
        completion: .file(extensions: ["har"]))
    var har: String

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if har.isEmpty { throw ValidationError("--har needs the name of a file") }
    }

    func run() async throws {
        try await store.withExistingStore(isReadOnly: true) { store in
            let ids = try store.entryIDs(in: selection.isGiven ? selection.selection : .everything)
            let progress = ProgressLine()
            // So that a signal leaves no temporary file beside the file.
            let (count, signal) = try await Interruption.cancelling { [self] in
                try await progress.show {
                    if har == "-" { return try write(ids, of: store, progress) { try StandardOutput.write($0) } }
                    var count = 0
                    try OutputFile(path: har).write { part in count = try write(ids, of: store, progress, part) }
                    return count
                }
            }
            if let signal { throw signal.exitCode }
            let left = ids.count - count
            let end = left > 0 ? "; left out \(left): partial, without a body, or too large for an archive" : ""
            StandardError.say("exported \(count.of("response", "responses"))\(end)")
        }
    }

    /// Writes the archive in parts. Returns the number of its entries.
    private func write(
        _ ids: [Int64], of store: ResponseStore, _ progress: ProgressLine, _ part: (Data) throws -> Void
    ) throws -> Int {
        let responses = ArchivedResponses(of: store)
        var count = 0
        try part(Data(ArchiveText.head.utf8))
        for (index, id) in ids.enumerated() {
            try Task.checkCancellation()
            progress.say("\(index) of \(ids.count)")
            // Another process may have removed the entry.
            guard let stored = try store.entry(id: id), let entry = try responses.entry(of: stored) else { continue }
            try part(ArchiveText.entry(entry, isFirst: count == 0))
            count += 1
        }
        try part(Data(ArchiveText.end.utf8))
        return count
    }
}
