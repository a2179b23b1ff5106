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
        let cells: [(text: String, width: Int)] = [
            (time, -12), (record.outcome.rawValue, -11), (record.status.map { "\($0)" } ?? "-", 3),
            (record.method, -4), (record.byteCount.asByteCount, 8),
            (String(format: "%.1f ms", record.milliseconds), 10),
        ]
        let start = cells.map { cell in
            let padding = String(repeating: " ", count: max(0, abs(cell.width) - cell.text.count))
            return cell.width < 0 ? cell.text.inOneLine + padding : padding + cell.text
        }.joined(separator: " ")
        let url = (record.isTruncated ? "\(record.url)…" : record.url).inOneLine
        guard let width else { return "\(start) \(url)" }
        return "\(start) \(url.cutInside(toColumns: max(8, width - start.count - 1)))"
    }
}
