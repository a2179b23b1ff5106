import CacheReports
import CacheStore
import Foundation
import HTTPArchive
import HTTPTypes

/// Saves recorded requests as an HTTP Archive.
extension StoreInspector {
    /// The most requests of an archive, as many as the page shows.
    private static let maxRequests = 5_000
    /// The most bytes of one body, and of all bodies together.
    private static let (maxBody, maxBodies): (Int64, Int64) = (4 << 20, 64 << 20)

    /// Returns the recorded requests of a time as an archive. Bodies and fields are those that are still stored.
    func archive(_ query: QueryParameters) throws -> InspectorResponse {
        let (from, to) = (query.text("from") ?? "", query.text("to") ?? "~")
        let host = query.text("host")?.lowercased() ?? ""
        let outcomes = query.text("outcomes").map { Set($0.split(separator: ",").map(String.init)) }
        var records: [RequestRecord] = []
        try store.forEachRecordPage { page in
            records += page.records.filter { record in
                // Timestamps are of equal length, so that their order is that of their text.
                let time = record.timestamp
                return time >= from && time <= to
                    && (host.isEmpty || record.host?.contains(host) ?? false)
                    && outcomes?.contains(record.outcome.rawValue) ?? true
            }
            records.removeFirst(max(0, records.count - Self.maxRequests))
        }
        let responses = ArchivedResponses(of: store)
        var rest = Self.maxBodies
        var entries: [HTTPArchive.Entry] = []
        for record in records {
            let entry = try responses.entry(of: record, limit: min(max(rest, 0), Self.maxBody))
            rest -= Int64(entry.response.content.text?.utf8.count ?? 0)
            entries.append(entry)
        }
        var answer = InspectorResponse(
            type: "application/json", .bytes(Array(try HTTPArchive(entries: entries).encoded())))
        answer.fields[.contentDisposition] = "attachment; filename=\"requests.har\""
        return answer
    }
}
