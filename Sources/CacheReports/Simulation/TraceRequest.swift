package import CacheStore

/// One request of a trace: a line `time key size`.
package struct TraceRequest: Hashable, Sendable {
    package let key: CacheKey
    /// The bytes of the body.
    package let byteCount: Int64

    init(key: CacheKey, byteCount: Int64) {
        self.key = key
        self.byteCount = byteCount
    }

    /// `nil` for a blank line or a comment. Throws for any other line without number, key and number of bytes.
    package init?(_ line: URLListLine) throws(Malformed) {
        let text: String
        switch line.content {
        case .blank: return nil
        case .malformed(let reason): throw Malformed(line: line.number, reason: reason)
        case .url(let content): text = content
        }
        let words = text.split { $0 == " " || $0 == "\t" }
        guard words.count == 3 else {
            throw Malformed(line: line.number, reason: "not the three words 'time key size'")
        }
        // Validates but ignores the time: no policy depends on elapsed time, only on the order.
        guard let time = Double(words[0]), time.isFinite else {
            throw Malformed(line: line.number, reason: "the time is not a number")
        }
        guard words[2].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let byteCount = Int64(words[2]) else {
            throw Malformed(line: line.number, reason: "the size is not a number of bytes")
        }
        do {
            key = try CacheKey(name: String(words[1]))
        } catch {
            throw Malformed(line: line.number, reason: "\(error)")
        }
        self.byteCount = byteCount
    }

    /// A line that contains no request.
    package struct Malformed: Error, Hashable, CustomStringConvertible {
        /// The line number, from 1.
        package let line: Int
        package let reason: String

        package init(line: Int, reason: String) {
            self.line = line
            self.reason = reason
        }

        package var description: String { "line \(line): \(reason)" }
    }
}
