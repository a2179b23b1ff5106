/// A line of an access log in the Common or the Combined Log Format.
///
///     host identity user [time] "request line" status bytes "referrer" "user agent"
///
/// Text before the time and after the bytes is ignored. In the request line, Apache and nginx write a backslash before
/// each quote and backslash.
package struct AccessLogLine: Hashable, Sendable {
    package let method: String
    /// The unparsed request target, mostly path and query.
    package let target: String
    package let status: Int
    /// The bytes of the body; 0 for `-`.
    package let byteCount: Int64

    /// Returns `nil` for a line in another format.
    package init?(_ line: String) {
        let bytes = line.utf8
        // Searches for the end of the time, because the user name may contain a bracket.
        guard let request = bytes.ranges(of: "] \"".utf8).first(where: { bytes[..<$0.lowerBound].contains(0x5B) })
        else { return nil }
        var words: [Substring.UTF8View] = []
        var start = request.upperBound
        var index = start
        var isEscaped = false
        while index < bytes.endIndex, isEscaped || bytes[index] != UInt8(ascii: "\"") {
            if bytes[index] == UInt8(ascii: " ") {
                words.append(bytes[start..<index])
                start = bytes.index(after: index)
            }
            isEscaped = !isEscaped && bytes[index] == UInt8(ascii: "\\")
            index = bytes.index(after: index)
        }
        guard index < bytes.endIndex else { return nil }
        words.append(bytes[start..<index])
        // HTTP/0.9 requests have no version.
        guard (2...3).contains(words.count), !words[0].isEmpty, words[0].allSatisfy(Self.isToken), !words[1].isEmpty,
            words.count == 2 || words[2].starts(with: "HTTP/".utf8)
        else { return nil }
        let rest = bytes[index...].dropFirst().split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard bytes[index...].dropFirst().first == UInt8(ascii: " "), rest.count >= 2, rest[0].count == 3,
            let status = Int(Substring(rest[0])), (100...999).contains(status), let byteCount = Self.count(rest[1])
        else { return nil }
        method = String(Substring(words[0]))
        target = String(Substring(words[1]))
        self.status = status
        self.byteCount = byteCount
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || (0x41...0x5A).contains(byte & 0xDF)
    }

    private static func count(_ text: Substring.UTF8View) -> Int64? {
        if text.elementsEqual("-".utf8) { return 0 }
        return text.allSatisfy { (0x30...0x39).contains($0) } ? Int64(Substring(text)) : nil
    }
}
