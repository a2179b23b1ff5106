package import CacheStore

extension ResponseStore {
    /// Calls `body` with the pages of the record from `cursor` on, or from the oldest request. The last may be empty.
    package func forEachRecordPage(
        since cursor: RequestCursor? = nil, limit: Int = 1_024, _ body: (RequestRecords) throws -> Void
    ) throws {
        var cursor = cursor
        while true {
            let page = try requestRecords(since: cursor, limit: limit)
            try body(page)
            if page.next == cursor || page.count == 0 && page.lost == 0 { return }
            cursor = page.next
        }
    }
}
