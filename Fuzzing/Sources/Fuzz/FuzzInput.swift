import Foundation
import HTTPTypes

/// The bytes of one input, consumed from the front.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// Returns the next byte, or 0 at the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// Returns the bytes before the next line feed, and drops the line feed.
    mutating func line() -> [UInt8] {
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest.dropFirst(line.count + 1)
        return Array(line)
    }

    /// Returns the bytes before the next empty line as lines of a field.
    mutating func lines(of name: String) -> HTTPFields {
        var fields = HTTPFields()
        guard let name = HTTPField.Name(name) else { fatalError("\(name) is a token") }
        while !rest.isEmpty, fields.count < 100 {
            let line = line()
            if line.isEmpty { break }
            fields.append(HTTPField(name: name, lenientValue: line))
        }
        return fields
    }

    /// Returns a line as text.
    mutating func text() -> String { String(decoding: line(), as: UTF8.self) }

    /// Returns all remaining bytes.
    mutating func all() -> Data {
        defer { rest = [] }
        return Data(rest)
    }
}

extension HTTPFields {
    /// Fields with one line.
    init(_ name: String, _ value: String) {
        self.init()
        guard let name = HTTPField.Name(name) else { fatalError("\(name) is a token") }
        append(HTTPField(name: name, value: value))
    }
}
