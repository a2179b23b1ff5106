package import CacheStore
import Foundation

/// A recorded request as a line of text, or as JSON.
package struct RequestLine: Encodable {
    private let record: RequestRecord

    package init(_ record: RequestRecord) {
        self.record = record
    }

    /// The bytes of the body, as far as they are known.
    private var byteCount: Int64 {
        record.contentByteCount ?? (record.diskByteCount &+ record.networkByteCount)
    }

    private var milliseconds: Double { (record.duration / .microseconds(1)).rounded() / 1000 }

    /// - Parameter width: The columns of the terminal, to which the URL is cut; `nil` for a whole URL.
    package func text(width: Int?) -> String {
        // Example: 2026-01-31T12:34:56.789Z
        let time = String(timestamp.dropFirst(11).prefix(12))
        let cells: [(text: String, width: Int)] = [
            (time, -12), (record.outcome.rawValue, -11), (record.status.map { "\($0)" } ?? "-", 3),
            (record.method, -4), (byteCount.asByteCount, 8), (String(format: "%.1f ms", milliseconds), 10),
        ]
        let start = cells.map { cell in
            let padding = String(repeating: " ", count: max(0, abs(cell.width) - cell.text.count))
            return cell.width < 0 ? cell.text.inOneLine + padding : padding + cell.text
        }.joined(separator: " ")
        let url = (record.isTruncated ? "\(record.url)…" : record.url).inOneLine
        guard let width else { return "\(start) \(url)" }
        return "\(start) \(url.cutInside(toColumns: max(8, width - start.count - 1)))"
    }

    private var timestamp: String {
        record.startedAt.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private enum CodingKeys: String, CodingKey {
        case time, outcome, status, method, url, partition, host, contentBytes, diskBytes, networkBytes
        case headMilliseconds, milliseconds, process, isBackground, isTruncated
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(timestamp, forKey: .time)
        try object.encode(record.outcome, forKey: .outcome)
        try object.encode(record.status, forKey: .status)
        try object.encode(record.method, forKey: .method)
        try object.encode(record.url, forKey: .url)
        try object.encode(record.partition, forKey: .partition)
        try object.encode(record.host, forKey: .host)
        try object.encode(record.contentByteCount, forKey: .contentBytes)
        try object.encode(record.diskByteCount, forKey: .diskBytes)
        try object.encode(record.networkByteCount, forKey: .networkBytes)
        try object.encode((record.latency / .microseconds(1)).rounded() / 1000, forKey: .headMilliseconds)
        try object.encode(milliseconds, forKey: .milliseconds)
        try object.encode(record.processID, forKey: .process)
        try object.encode(record.isBackground, forKey: .isBackground)
        try object.encode(record.isTruncated, forKey: .isTruncated)
    }
}
