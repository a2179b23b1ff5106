import CacheReports
import CacheStore
import Foundation

extension RequestRecord {
    /// Returns the request as a line of text. Cuts the URL to the columns of the terminal, if there is one.
    func line(width: Int?) -> String {
        // Example: 2026-01-31T12:34:56.789Z
        let time = String(timestamp.dropFirst(11).prefix(12))
        let status = status.map { "\($0)" } ?? "-"
        let start = [
            time.leftAligned(in: 12), outcome.rawValue.leftAligned(in: 11), status.rightAligned(in: 3),
            method.inOneLine.leftAligned(in: 4), byteCount.asByteCount.rightAligned(in: 8),
            String(format: "%.1f ms", milliseconds).rightAligned(in: 10),
        ].joined(separator: " ")
        let url = (isTruncated ? "\(url)…" : url).inOneLine
        guard let width else { return "\(start) \(url)" }
        return "\(start) \(url.cutInside(toColumns: max(8, width - start.count - 1)))"
    }
}
