/// One line of a list of URLs.
package struct URLListLine: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        /// An empty line, or a comment after `#`.
        case blank
        /// A URL, not validated.
        case url(String)
        /// A malformed line, with the reason.
        case malformed(String)
    }

    /// The line number, from 1.
    package let number: Int
    package let content: Content

    package init(number: Int, _ content: Content) {
        self.number = number
        self.content = content
    }
}

/// Parses a list of URLs, one per line, from chunks of bytes. Ignores white space around a URL, and the byte order mark
/// of lists from Windows. Holds at most one line in memory.
package struct URLListParser {
    /// Longer lines are malformed. The loader rejects URLs half as long.
    private static let maxLineByteCount = 65_536

    /// The start of the current line.
    private var line: [UInt8] = []
    private var lineNumber = 1
    private var isTooLong = false

    package init() {}

    /// Calls `body` for each line that ends in `bytes`.
    package mutating func add(_ bytes: [UInt8], _ body: (URLListLine) -> Void) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            body(takeLine())
            rest = rest[(end + 1)...]
        }
        append(rest)
    }

    /// Returns the last line without line feed, or a blank line.
    package mutating func end() -> URLListLine {
        takeLine()
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        isTooLong = line.count + bytes.count > Self.maxLineByteCount
        if isTooLong { line = [] } else { line += bytes }
    }

    private mutating func takeLine() -> URLListLine {
        defer {
            line.removeAll(keepingCapacity: true)
            lineNumber += 1
            isTooLong = false
        }
        return URLListLine(number: lineNumber, content)
    }

    private var content: URLListLine.Content {
        if isTooLong { return .malformed("longer than \(Self.maxLineByteCount) bytes") }
        var bytes = line[...]
        if lineNumber == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        bytes = bytes.drop(while: Self.isSpace)
        while let last = bytes.last, Self.isSpace(last) { bytes.removeLast() }
        guard let first = bytes.first, first != UInt8(ascii: "#") else { return .blank }
        return String(validating: bytes, as: UTF8.self).map { .url($0) } ?? .malformed("not UTF-8")
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains(byte)
    }
}
