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
        try StandardOutput.write(JSONRowEncoder(format).encoded(rows.rows, columns: rows.columns))
    }
}
