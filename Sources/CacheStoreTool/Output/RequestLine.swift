import CacheReports
package import CacheStore
import Foundation

/// A recorded request as a line of text.
package struct RequestLine {
    private let record: RequestRecord

    package init(_ record: RequestRecord) {
        self.record = record
    }

    /// - Parameter width: The columns of the terminal, to which the URL is cut; `nil` for a whole URL.
    package func text(width: Int?) -> String {
        // Example: 2026-01-31T12:34:56.789Z
        let time = String(record.timestamp.dropFirst(11).prefix(12))
        let status = record.status.map { "\($0)" } ?? "-"
        let start = [
            time.leftAligned(in: 12), record.outcome.rawValue.leftAligned(in: 11), status.rightAligned(in: 3),
            record.method.inOneLine.leftAligned(in: 4), record.byteCount.asByteCount.rightAligned(in: 8),
            String(format: "%.1f ms", record.milliseconds).rightAligned(in: 10),
        ].joined(separator: " ")
        let url = (record.isTruncated ? "\(record.url)…" : record.url).inOneLine
        guard let width else { return "\(start) \(url)" }
        return "\(start) \(url.cutInside(toColumns: max(8, width - start.count - 1)))"
    }
}
