import CacheStore

/// Encodes rows into the bytes of an output format, one after the other.
protocol RowEncoder {
    /// The encoded bytes. The caller removes them.
    var bytes: [UInt8] { get set }

    /// Called once, before all rows.
    mutating func begin(_ columns: [String])
    mutating func add(_ values: [SQLValue])
    /// Called once, after all rows.
    mutating func end()
}

extension RowEncoder {
    /// Returns the bytes of complete rows.
    func encoded(_ rows: [[SQLValue]], columns: [String]) -> [UInt8] {
        var encoder = self
        encoder.begin(columns)
        for row in rows { encoder.add(row) }
        encoder.end()
        return encoder.bytes
    }
}
