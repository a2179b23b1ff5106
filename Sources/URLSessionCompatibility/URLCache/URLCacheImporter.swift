internal import CacheLoader
internal import CacheStore
internal import Foundation
internal import Synchronization

/// Imports one `URLCache` into one cache, on the calling thread.
final class URLCacheImporter: Sendable {
    private static let chunkByteCount = 262_144

    private let cache: HTTPCache
    private let directory: URL
    private let configuration: HTTPCache.Configuration
    private let isCancelled = Atomic(false)

    init(into cache: HTTPCache, from directory: URL) {
        self.cache = cache
        self.directory = directory
        configuration = cache.configuration
    }

    /// Stops the import before its next chunk.
    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
    }

    func run() throws(URLCacheImportError) -> URLCacheImport {
        var result = URLCacheImport()
        let (store, partition) = (cache.store, configuration.partition)
        try checkCancellation()
        let database = try wrapping(reading: directory.path(percentEncoded: false)) { () throws(StoreError) in
            try URLCacheDatabase(in: directory)
        }
        guard let database else { return result }
        result.wasImportedBefore = try wrapping { () throws(StoreError) in
            try store.hasImported(database, into: partition)
        }
        guard !result.wasImportedBefore else { return result }
        var last = Int64.min
        while let id = try wrapping(
            reading: database.path, { () throws(StoreError) in try database.nextID(after: last) })
        {
            try checkCancellation()
            try add(id, of: database, to: &result)
            last = id
        }
        try wrapping { () throws(StoreError) in try store.noteImported(database, into: partition) }
        return result
    }

    private func checkCancellation() throws(URLCacheImportError) {
        if isCancelled.load(ordering: .relaxed) { throw .cancelled }
    }

    /// Runs an action on the store, or on the database at `path`, and wraps its error.
    private func wrapping<Value>(
        reading path: String? = nil, _ body: () throws(StoreError) -> Value
    ) throws(URLCacheImportError) -> Value {
        do throws(StoreError) {
            return try body()
        } catch {
            guard let path else { throw .store(error) }
            throw .unreadable(path: path, reason: "\(error)")
        }
    }

    // MARK: A response

    private func add(
        _ id: Int64, of database: URLCacheDatabase, to result: inout URLCacheImport
    ) throws(URLCacheImportError) {
        // A damaged page or an I/O error affects only this response.
        guard let row = try? database.row(id),
            let exchange = ArchivedExchange(request: row.request, response: row.response),
            let received = response(of: exchange, row)
        else { return result.unreadable += 1 }
        // WebKit partitions its responses by site, and sends cookies that the app does not have.
        guard row.storagePolicy == 0, row.partition.isEmpty, exchange.method == "GET",
            exchange.url == exchange.responseURL, let placement = try placement(of: received)
        else { return result.refused += 1 }
        guard !placement.isOutdated else { return result.outdated += 1 }
        guard let body = try? database.body(of: row), !received.contradicts(byteCount: body.byteCount) else {
            return result.unreadable += 1
        }
        guard body.byteCount <= configuration.maxBodyBytes else { return result.refused += 1 }
        switch try store(body, placement, received) {
        case .stored:
            result.imported += 1
            result.importedBytes += body.byteCount
        case .refused: result.refused += 1
        case .unreadable: result.unreadable += 1
        }
    }

    /// Returns the response as received by a cache, or `nil` without a time of receipt.
    private func response(of exchange: ArchivedExchange, _ row: URLCacheDatabase.Row) -> ReceivedResponse? {
        let storedAt = row.storedAt.map { Date(timeIntervalSince1970: TimeInterval($0)) }
        // The earliest time is safe. A later time would make the response look fresher than it is.
        guard let receivedAt = [storedAt, exchange.receivedAt].compactMap(\.self).min() else { return nil }
        let time = min(receivedAt, configuration.clock())
        var received = ReceivedResponse(
            url: exchange.url, requestFields: HTTPFields(exchange.requestFields),
            head: HTTPResponse(
                status: HTTPResponse.Status(code: exchange.status), headerFields: HTTPFields(exchange.responseFields)),
            isBodyDecoded: false, requestedAt: time, receivedAt: time)
        received.removeCoding(if: ContentCodings.areRemovedByApple)
        return received
    }

    private func placement(of received: ReceivedResponse) throws(URLCacheImportError) -> HTTPCache.Placement? {
        do throws(LoadError) {
            return try cache.placement(of: received)
        } catch .store(let error) {
            throw .store(error)
        } catch {
            // Not an HTTP URL.
            return nil
        }
    }

    private enum Outcome {
        case stored, refused, unreadable
    }

    private func store(
        _ body: URLCacheBody, _ placement: HTTPCache.Placement, _ received: ReceivedResponse
    ) throws(URLCacheImportError) -> Outcome {
        let writer = cache.store.makeBodyWriter()
        var offset: Int64 = 0
        do throws(StoreError) {
            while offset < body.byteCount {
                guard let chunk = try? body.bytes(at: offset, count: Self.chunkByteCount), !chunk.isEmpty else {
                    return .unreadable
                }
                // URLSession keeps the coding of a few types, such as application/gzip. Without its Content-Encoding
                // such a body would be wrong bytes.
                if offset == 0, received.isBodyDecoded, chunk.starts(with: [0x1F, 0x8B]) { return .refused }
                if isCancelled.load(ordering: .relaxed) { break }
                try writer.write(chunk)
                offset += Int64(chunk.count)
            }
            if offset == body.byteCount {
                try writer.commit(placement.metadata, for: placement.key)
                return .stored
            }
        } catch {
            if error.isRefusal { return .refused }
            throw .store(error)
        }
        throw .cancelled
    }
}
