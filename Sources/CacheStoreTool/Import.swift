import ArgumentParser
import CacheLoader
import CacheReports
import CacheStore
import Foundation
import HTTPArchive
import HTTPTypes

/// Stores the responses of an HTTP Archive.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Store the responses of an HTTP Archive, as a browser or 'export' wrote it.",
        discussion: """
            A response is stored if a cache may have stored it when it arrived, with its age. The whole file is read into \
            memory.
            """)

    @Argument(
        help: "The file, in the format HAR 1.2; - reads the standard input.", completion: .file(extensions: ["har"]))
    var file: String

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let archive = try read()
        let result = try await store.withStore { store in
            let progress = ProgressLine()
            return try await progress.show { try add(archive, to: store, progress) }
        }
        try report.write(
            [
                "stored": .integer(result.stored), "bytes": .integer(result.bytes),
                "not_stored": .integer(result.refused), "outdated": .integer(result.outdated),
                "unusable": .integer(result.unusable),
            ],
            text: result.text)
    }

    private func read() throws -> HTTPArchive {
        let input = try InputFile(path: file)
        var data = Data()
        while true {
            let chunk = try input.nextChunk()
            if chunk.isEmpty { break }
            data += chunk
        }
        do {
            return try HTTPArchive(data)
        } catch {
            throw Failure(.broken, "\(input.path) is no HTTP Archive (HAR 1.2): \(error)")
        }
    }

    /// The numbers of the responses.
    private struct Result {
        var stored = 0
        var bytes: Int64 = 0
        /// Those that a cache must not store.
        var refused = 0
        /// Those that the store has already, or newer ones.
        var outdated = 0
        /// Those without a body in the archive, and damaged ones.
        var unusable = 0

        var text: String {
            var rest: [String] = []
            if refused > 0 { rest.append("\(refused) that a cache must not store") }
            if outdated > 0 { rest.append("\(outdated) no newer than what is stored") }
            if unusable > 0 { rest.append("\(unusable) without a usable body") }
            let end = rest.isEmpty ? "" : "; left out \(rest.joined(separator: ", "))"
            return "stored \(stored.of("response", "responses")), \(bytes.asByteCount)\(end)"
        }
    }

    private func add(_ archive: HTTPArchive, to store: ResponseStore, _ progress: ProgressLine) throws -> Result {
        // The cache sends no request, so any transport will do.
        let cache = HTTPCache(store: store, transport: SilentTransport(isBare: true))
        var result = Result()
        for (index, entry) in archive.log.entries.enumerated() {
            progress.say("\(index) of \(archive.log.entries.count)")
            let exchange: RecordedExchange
            do {
                guard let found = try entry.exchange() else { continue }
                exchange = found
            } catch {
                result.unusable += 1
                continue
            }
            var placement: HTTPCache.Placement?
            do throws(LoadError) {
                if exchange.request.method == .get {
                    placement = try cache.placement(of: ReceivedResponse(exchange, now: cache.configuration.clock()))
                }
            } catch {
                // Otherwise the URL is none that a cache has.
                if case .store = error { throw error }
            }
            guard let placement else {
                result.refused += 1
                continue
            }
            guard !placement.isOutdated else {
                result.outdated += 1
                continue
            }
            if try keep(exchange.body, placement, in: store) {
                result.stored += 1
                result.bytes += Int64(exchange.body.count)
            } else {
                result.refused += 1
            }
        }
        return result
    }

    /// Stores a body. Returns whether the store has taken it.
    private func keep(
        _ body: Data, _ placement: HTTPCache.Placement, in store: ResponseStore
    ) throws(StoreError) -> Bool {
        do throws(StoreError) {
            let writer = store.makeBodyWriter()
            try writer.write(body)
            try writer.commit(placement.metadata, for: placement.key)
            return true
        } catch {
            if error.isRefusal { return false }
            throw error
        }
    }
}

extension ReceivedResponse {
    /// - Parameter now: The latest time of the exchange: a later one would outdate all further imports.
    fileprivate init(_ exchange: RecordedExchange, now: Date) {
        self.init(
            url: exchange.request.absoluteURL, requestFields: exchange.request.headerFields, head: exchange.response,
            isBodyDecoded: exchange.isBodyDecoded, requestedAt: min(exchange.date, now),
            receivedAt: min(exchange.date + exchange.duration / .seconds(1), now))
    }
}
