internal import ByteText

// Answers range requests (RFC 9110 §15.3.7, §15.5.17). The segments are as long as `Content-Length`.
extension StoredAnswer {
    /// Composes the answer to a range request. `head` is the head for all stored bytes:
    /// ``StoredResponse/head(age:policy:)``. `completeLength` is the length of the whole representation, if known, and
    /// `bodyStart` the offset of the first stored byte. `seed` differs for different bytes, such as their digest, and
    /// determines the boundary between parts. Returns `nil` for a whole or a 416 without a known length, and for
    /// several parts of an encoded representation. The caller then delivers the whole or forwards the request to the
    /// origin.
    package init?(_ answer: RangeAnswer, head: HTTPResponse, completeLength: Int64?, bodyStart: Int64 = 0, seed: String)
    {
        switch answer {
        case .part(let range):
            guard let part = StoredPart(bytes: range, completeLength: completeLength) else { return nil }
            self.init(part, head: head, bodyStart: bodyStart)
        case .parts(let ranges):
            self.init(ranges, head: head, completeLength: completeLength, bodyStart: bodyStart, seed: seed)
        case .unsatisfiable:
            guard let completeLength else { return nil }
            self.init(unsatisfiedBy: completeLength, head: head)
        case .whole:
            guard bodyStart == 0, let completeLength, completeLength >= 0 else { return nil }
            self.init(wholeOf: completeLength, head: head)
        }
    }

    private init(_ part: StoredPart, head: HTTPResponse, bodyStart: Int64) {
        // §15.3.7: a 206 must have Date, Cache-Control, ETag, Expires, Content-Location and Vary if a 200 would have
        // them. All other fields are optional, and useful to a client without a stored part.
        var head = head
        head.status = .partialContent
        head.headerFields.removeDigestsOfContent()
        head.headerFields.describe(part)
        self.init(head: head, content: .segments([.stored(part.bytes.movedBack(by: bodyStart))]))
    }

    private init(wholeOf completeLength: Int64, head: HTTPResponse) {
        var head = head
        head.becomeWhole(ofLength: completeLength)
        self.init(head: head, content: .segments(completeLength > 0 ? [.stored(0..<completeLength)] : []))
    }

    private init(unsatisfiedBy completeLength: Int64, head: HTTPResponse) {
        // Only the length describes the representation. No field may let another cache store the 416, which would then
        // answer requests without a range.
        var fields = HTTPFields()
        for field in head.headerFields where field.name == .vary || field.name == .acceptRanges { fields.append(field) }
        fields[.contentRange] = "bytes */\(max(0, completeLength))"
        fields[.contentLength] = "0"
        self.init(head: HTTPResponse(status: .rangeNotSatisfiable, headerFields: fields), content: .segments([]))
    }
}

// MARK: - Several parts

extension StoredAnswer {
    private init?(
        _ ranges: [Range<Int64>], head: HTTPResponse, completeLength: Int64?, bodyStart: Int64, seed: String
    ) {
        // The parts contain encoded bytes, but the multipart message around them is not encoded. Content-Encoding
        // cannot express the difference, and a client that obeys it would decode the boundaries.
        guard !ranges.isEmpty, head.headerFields.filledLines(.contentEncoding).isEmpty else { return nil }
        let boundary = Self.boundary(seed)
        let type = head.headerFields.first { $0.name == .contentType }?.trimmedBytes
        var segments: [Segment] = []
        var length: Int64 = 0
        for range in ranges {
            guard let part = StoredPart(bytes: range, completeLength: completeLength) else { return nil }
            var opening = Array("\(segments.isEmpty ? "" : "\r\n")--\(boundary)\r\n".utf8)
            // §15.3.7.2: each part has its Content-Range and the Content-Type that a 200 would have. The head has no
            // Content-Range.
            if let type { opening += Array("Content-Type: ".utf8) + type + Array("\r\n".utf8) }
            opening += Array("Content-Range: \(part.contentRange)\r\n\r\n".utf8)
            segments += [.bytes(opening), .stored(range.movedBack(by: bodyStart))]
            length = length.saturatingAdding(Int64(opening.count)).saturatingAdding(part.byteCount)
        }
        let closing = Array("\r\n--\(boundary)--\r\n".utf8)
        segments.append(.bytes(closing))
        length = length.saturatingAdding(Int64(closing.count))
        guard length < .max else { return nil }

        var head = head
        head.status = .partialContent
        head.headerFields.removeDigestsOfContent()
        head.headerFields[.contentRange] = nil
        head.headerFields[.contentType] = "multipart/byteranges; boundary=\(boundary)"
        head.headerFields[.contentLength] = String(length)
        self.init(head: head, content: .segments(segments))
    }

    /// Returns 128 bits of FNV-1a over the seed as hexadecimal digits, which any boundary may contain (RFC 2046
    /// §5.1.1). The same bytes get the same boundary, so that answers can be compared and repeated. Accidental
    /// occurrences in the content are as unlikely as with a random boundary. A deliberate occurrence is harmless,
    /// because Content-Range states the end of each part.
    private static func boundary(_ seed: String) -> String {
        let halves = [FNV1a.hash(seed.utf8), FNV1a.hash(seed.utf8.reversed().lazy.map { $0 ^ 0x5c })]
        return halves.map { $0.bigEndian }.withUnsafeBytes(\.hexadecimal)
    }
}

extension Range<Int64> {
    /// Counts the offsets from `start` instead of from zero.
    fileprivate func movedBack(by start: Int64) -> Range { (lowerBound - start)..<(upperBound - start) }
}
