import CacheStore

/// The requests of a trace that the replay omits.
package struct LeftOutRequests: Hashable, Sendable {
    /// Lines of an access log that contain no request.
    package var malformedLines = 0
    /// Requests that a cache does not answer, because of their method or the status of their response.
    package var uncacheable = 0
    /// Requests lost from the record of the store.
    package var lost: Int64 = 0

    package init() {}
}

/// Selects the requests that a cache can answer, from access logs and from the record of a store.
struct CacheableRequests {
    /// RFC 9110 §15.1: "heuristically cacheable".
    private static let statuses: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    private(set) var leftOut = LeftOutRequests()
    /// The length of the latest body of each key. A 304 has no body, but requests the same response.
    private var byteCounts: [CacheKey: Int64] = [:]

    init() {}

    /// Returns the request of a line. Counts an omitted line and returns `nil`.
    mutating func request(_ line: URLListLine) -> TraceRequest? {
        switch line.content {
        case .blank: return nil
        case .malformed: break
        case .url(let text):
            guard let line = AccessLogLine(text), let key = try? CacheKey(name: line.target) else { break }
            return request(key, line.method, line.status, line.byteCount)
        }
        leftOut.malformedLines += 1
        return nil
    }

    /// Returns a recorded request. Counts an omitted request and returns `nil`.
    mutating func request(_ record: RequestRecord) -> TraceRequest? {
        // The checksum identifies the key, because the URL may be truncated.
        let name = String(UInt64(bitPattern: record.keyChecksum), radix: 16)
        guard !record.isBackground, record.outcome != .error, let key = try? CacheKey(name: name) else {
            leftOut.uncacheable += 1
            return nil
        }
        return request(key, record.method, record.status ?? 0, max(0, record.byteCount))
    }

    /// Counts lost records.
    mutating func lose(_ count: Int64) {
        leftOut.lost += count
    }

    private mutating func request(
        _ key: CacheKey, _ method: String, _ status: Int, _ byteCount: Int64
    ) -> TraceRequest? {
        let known = status == 304 ? byteCounts[key] : Self.statuses.contains(status) ? byteCount : nil
        guard method == "GET", let known else {
            leftOut.uncacheable += 1
            return nil
        }
        byteCounts[key] = known
        return TraceRequest(key: key, byteCount: known)
    }
}
