import CacheLoader
package import CacheStore
import Foundation
package import HTTPArchive
import HTTPTypes

/// Describes stored responses as entries of an HTTP Archive. Redacts credentials and cookies.
package struct ArchivedResponses: Sendable {
    private let store: ResponseStore
    private let redaction = Redaction()

    package init(of store: ResponseStore) {
        self.store = store
    }

    /// The most bytes of a body in an archive: its text is several times as long in memory.
    package static let maxBody: Int64 = 1 << 28

    /// Returns an entry of the archive, or `nil` for a part of a response, a missing body and one above ``maxBody``.
    /// Reads the whole body. Does not count as an access. A body with more than `decodedLimit` decoded bytes stays in
    /// its content coding.
    package func entry(
        of stored: StoredEntry, decodedLimit: Int64 = maxBody
    ) throws(StoreError) -> HTTPArchive.Entry? {
        guard stored.metadata.part == nil, stored.byteCount <= Self.maxBody, let body = try store.openBody(of: stored)
        else { return nil }
        var fields = HTTPFields()
        // HTTPFields traps at 65,535 fields, and an altered index may name more.
        for field in stored.nominatedFields.prefix(StorageDecision.maxFieldCount) {
            guard let name = HTTPField.Name(field.name), let value = field.value else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        let metadata = stored.metadata
        let exchange = RecordedExchange(
            request: HTTPRequest(key: stored.key, fields: fields), content: nil,
            response: HTTPResponse(status: stored.responseStatus, headerFields: stored.responseFields),
            body: Data(try body.data()), isBodyDecoded: metadata.isBodyDecoded, date: metadata.requestedAt,
            duration: .seconds(max(0, metadata.receivedAt.timeIntervalSince(metadata.requestedAt))))
        return redaction.redacted(HTTPArchive.Entry(exchange, decodedLimit: decodedLimit))
    }

    /// Describes a recorded request. The record has neither fields nor bodies. The entry takes both from the stored
    /// response that answered, if that is still stored. A field `Cache-Status` (RFC 9211) says how the cache answered.
    /// Leaves out a body of more than `limit` bytes.
    package func entry(of record: RequestRecord, limit: Int64) throws(StoreError) -> HTTPArchive.Entry {
        var entry = try response(to: record, limit: limit) ?? withoutBody(record)
        entry.startedDateTime = record.timestamp
        entry.time = record.milliseconds
        entry.wait = record.latency / .milliseconds(1)
        entry.response.headers.append(HTTPArchive.Field(name: "Cache-Status", value: record.cacheStatus))
        entry.fromCache = record.forwardReason == nil ? "disk" : nil
        entry.connection = "\(record.processID)"
        entry.comment = record.outcome.rawValue
        return entry
    }

    private func withoutBody(_ record: RequestRecord) -> HTTPArchive.Entry {
        let (method, url) = (record.method, redaction.redactedURL(record.url))
        return HTTPArchive.Entry(
            startedDateTime: "", request: HTTPArchive.Request(method: method, url: url),
            response: HTTPArchive.Response(
                status: record.status ?? 0, content: HTTPArchive.Content(size: record.byteCount)))
    }

    /// Returns the stored response that has answered, or `nil` if that is not certain. The record does not say which
    /// variant answered: only variants by `Accept-Encoding` have one decoded body.
    private func response(to record: RequestRecord, limit: Int64) throws(StoreError) -> HTTPArchive.Entry? {
        let isNew = record.replyDecision?.action == .stored
        let isOfStore = record.forwardReason == nil || [.freshened, .replaced].contains(record.replyDecision?.action)
        guard record.method == "GET", !record.isTruncated, let status = record.status, isNew || isOfStore,
            record.outcome != .coalesced,
            let key = try? CacheKey.loading(record.url, partition: record.partition)
        else { return nil }
        let end = record.startedAt.addingTimeInterval(record.duration / .seconds(1))
        let candidates = try store.responses(for: key).filter { stored in
            // Times in the index are whole milliseconds.
            stored.metadata.status == status && stored.metadata.receivedAt <= end.addingTimeInterval(0.001)
                && (!isNew || stored.metadata.receivedAt >= record.startedAt.addingTimeInterval(-0.001))
        }
        guard let stored = candidates.first, candidates.count == 1, stored.byteCount <= limit,
            isNew || stored.nominatedFields.allSatisfy({ $0.name == "accept-encoding" })
        else { return nil }
        return try entry(of: stored, decodedLimit: limit)
    }
}

extension RequestRecord {
    /// The member of `Cache-Status` that the answer had.
    fileprivate var cacheStatus: String {
        let answer = forwardReason.map { "fwd=\($0.rawValue)" } ?? "hit"
        let stored = replyDecision?.action == .stored ? "; stored" : ""
        return "cachestore; \(answer)\(stored)\(outcome == .coalesced ? "; collapsed" : "")"
    }
}
