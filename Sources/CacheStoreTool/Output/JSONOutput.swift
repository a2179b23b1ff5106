import CacheReports
import CacheStore

/// Writes JSON for scripts.
enum JSONOutput {
    static func write(_ json: JSON, _ format: ReportFormat) throws {
        var bytes = json.bytes(format == .json ? .pretty : .line)
        bytes.append(UInt8(ascii: "\n"))
        try StandardOutput.write(bytes)
    }

    /// Writes rows; the columns keep their names.
    static func write(rows: SQLRows, _ format: ReportFormat) throws {
        var encoder = JSONRowEncoder(format)
        encoder.begin(rows.columns)
        for row in rows.rows { encoder.add(row) }
        encoder.end()
        try StandardOutput.write(encoder.bytes)
    }
}
