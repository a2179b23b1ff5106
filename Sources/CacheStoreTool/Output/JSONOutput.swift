import CacheStore
import Foundation

/// Writes JSON for scripts: keys in snake case and sorted, numbers exact.
enum JSONOutput {
    static func write(_ value: some Encodable) throws {
        try write(value, .prettyPrinted)
    }

    /// Writes the rows of a query; the columns keep their names.
    static func write(_ rows: JSONRows) throws {
        try write(rows, .prettyPrinted, keys: .useDefaultKeys)
    }

    /// Writes the value in one line, for output with one object per line.
    static func write(line value: some Encodable) throws {
        try write(value, [])
    }

    private static func write(
        _ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting,
        keys: JSONEncoder.KeyEncodingStrategy = .convertToSnakeCase
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
        encoder.keyEncodingStrategy = keys
        // SQLite has infinities, JSON does not.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        var data = try encoder.encode(value)
        data.append(UInt8(ascii: "\n"))
        try StandardOutput.write(data)
    }
}

/// The rows of a query as JSON: an array of objects with a key for each column.
struct JSONRows: Encodable {
    let result: SQLRows

    func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        for row in result.rows { try list.encode(JSONRow(columns: result.columns, values: row)) }
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

    /// Creates a row. Adds a number to a repeated name, because the keys of an object are unique.
    init(columns: [String], values: [SQLValue]) {
        var uses: [String: Int] = [:]
        cells = zip(columns, values).map { name, value in
            uses[name, default: 0] += 1
            let use = uses[name, default: 1]
            return (Key(stringValue: use == 1 ? name : "\(name)_\(use)"), value)
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
