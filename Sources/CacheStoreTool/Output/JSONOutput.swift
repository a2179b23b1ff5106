import ByteText
import CacheStore
import Foundation

/// Writes JSON for scripts: keys in snake case and sorted, numbers exact.
enum JSONOutput {
    static func write(_ value: some Encodable, _ format: ReportFormat) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if format == .json { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.keyEncodingStrategy = .convertToSnakeCase
        // SQLite has infinities, JSON does not.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        var bytes: [UInt8] = []
        var previous: UInt8 = 0
        for byte in try encoder.encode(value) {
            bytes.append(escapingControl: byte, after: previous)
            previous = byte
        }
        bytes.append(UInt8(ascii: "\n"))
        try StandardOutput.write(bytes)
    }

    /// Writes rows; the columns keep their names.
    static func write(_ rows: SQLRows, _ format: ReportFormat) throws {
        var encoder = JSONRowEncoder(format)
        encoder.begin(rows.columns)
        for row in rows.rows { encoder.add(row) }
        encoder.end()
        try StandardOutput.write(encoder.bytes)
    }
}

/// One row of a query as a JSON object: NULL is `null`, bytes are hexadecimal digits.
struct JSONRow: Encodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let cells: [(key: Key, value: SQLValue)]

    init(columns: [String], values: [SQLValue]) {
        cells = zip(Self.keys(of: columns).map(Key.init), values).map { ($0, $1) }
    }

    /// Returns the keys of columns. Adds a number to a repeated name, because the keys of an object are unique.
    static func keys(of columns: [String]) -> [String] {
        var uses: [String: Int] = [:]
        return columns.map { name in
            uses[name, default: 0] += 1
            let use = uses[name, default: 1]
            return use == 1 ? name : "\(name)_\(use)"
        }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        for (key, value) in cells {
            switch value {
            case .null: try object.encodeNil(forKey: key)
            case .integer(let number): try object.encode(number, forKey: key)
            case .real(let number): try object.encode(number, forKey: key)
            case .text(let text): try object.encode(text, forKey: key)
            case .blob(let bytes): try object.encode(bytes.hexadecimal, forKey: key)
            }
        }
    }
}
