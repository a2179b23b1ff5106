import ByteText
import CacheStore

/// Rows as JSON objects with a key for each column: NULL is `null`, bytes are hexadecimal digits.
///
/// The keys are sorted, as in other JSON of the tool. Foundation's encoder takes ten times as long for many rows.
struct JSONRowEncoder: RowEncoder {
    var bytes: [UInt8] = []
    private let format: ReportFormat
    /// The keys as JSON, in order, and the column of each.
    private var keys: [(json: [UInt8], column: Int)] = []
    private var rowCount = 0

    init(_ format: ReportFormat) {
        self.format = format
    }

    mutating func begin(_ columns: [String]) {
        let names = JSONRow.keys(of: columns).enumerated().sorted { $0.element < $1.element }
        keys = names.map { column, name in
            var json: [UInt8] = []
            json.append(jsonString: name)
            return (json, column)
        }
    }

    mutating func add(_ values: [SQLValue]) {
        switch format {
        case .jsonl:
            append(values, open: "{", between: ",", colon: ":", close: "}\n")
        case .json:
            bytes.append(contentsOf: (rowCount == 0 ? "[\n" : ",\n").utf8)
            append(values, open: "  {\n    ", between: ",\n    ", colon: " : ", close: "\n  }")
        }
        rowCount += 1
    }

    mutating func end() {
        if format == .json { bytes.append(contentsOf: (rowCount == 0 ? "[]\n" : "\n]\n").utf8) }
    }

    private mutating func append(
        _ values: [SQLValue], open: String, between: String, colon: String, close: String
    ) {
        bytes.append(contentsOf: open.utf8)
        for (place, key) in keys.enumerated() {
            if place > 0 { bytes.append(contentsOf: between.utf8) }
            bytes.append(contentsOf: key.json)
            bytes.append(contentsOf: colon.utf8)
            append(values[key.column])
        }
        bytes.append(contentsOf: close.utf8)
    }

    private mutating func append(_ value: SQLValue) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .integer(let number): bytes.append(contentsOf: String(number).utf8)
        // SQLite has infinities, JSON does not.
        case .real(let number) where number.isInfinite:
            bytes.append(contentsOf: (number < 0 ? "\"-Infinity\"" : "\"Infinity\"").utf8)
        case .real(let number): bytes.append(contentsOf: String(number).utf8)
        case .text(let text): bytes.append(jsonString: text)
        case .blob(let blob): bytes.append(jsonString: blob.hexadecimal)
        }
    }
}

extension [UInt8] {
    /// Appends text as a JSON string (RFC 8259 §7). Escapes all control characters, because a terminal may obey them.
    fileprivate mutating func append(jsonString text: String) {
        append(UInt8(ascii: "\""))
        var previous: UInt8 = 0
        for byte in text.utf8 {
            defer { previous = byte }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(contentsOf: [UInt8(ascii: "\\"), byte])
            case UInt8(ascii: "\n"): append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): append(contentsOf: "\\r".utf8)
            case UInt8(ascii: "\t"): append(contentsOf: "\\t".utf8)
            case ..<0x20: append(contentsOf: "\\u00\([byte].hexadecimal)".utf8)
            default: append(escapingControl: byte, after: previous)
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends a byte of JSON text. Escapes DEL and U+0080 to U+009F, which JSON allows and a terminal may obey.
    mutating func append(escapingControl byte: UInt8, after previous: UInt8) {
        switch byte {
        case 0x80...0x9F where previous == 0xC2:
            // The character has two bytes, of which the first is there already.
            removeLast()
            fallthrough
        case 0x7F: append(contentsOf: "\\u00\([byte].hexadecimal)".utf8)
        default: append(byte)
        }
    }
}
