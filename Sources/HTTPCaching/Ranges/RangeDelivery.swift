package import HTTPTypes

/// An answer to a request for ranges: its head, and what its body is made of (RFC 9110 §15.3.7, §15.5.17).
package struct RangeDelivery: Hashable, Sendable {
    /// A stretch of the body.
    package enum Segment: Hashable, Sendable {
        /// These bytes.
        case bytes([UInt8])
        /// These bytes of the representation.
        case body(ByteRange)
    }

    /// The head.
    package let head: HTTPResponse
    /// The body, front to back. Its length is that in the `Content-Length` of the head.
    package let segments: [Segment]

    /// Lays out an answer.
    ///
    /// - Parameters:
    ///   - answer: What the request gets.
    ///   - head: The head that would answer with all that is stored: ``StoredResponse/head(age:policy:)``.
    ///   - completeLength: The length of the whole representation, if it is known.
    ///   - seed: A text that is another for other bytes, such as their digest; the boundary between parts is made of it.
    /// - Returns: `nil` when it cannot be delivered so: the whole, or a 416, without a known length; or several parts of an
    ///   encoded representation. Then the whole is delivered, or the origin asked.
    package init?(_ answer: RangeAnswer, head: HTTPResponse, completeLength: Int64?, seed: String) {
        switch answer {
        case .part(let range):
            guard let part = StoredPart(range: range, completeLength: completeLength) else { return nil }
            self.init(part, head: head)
        case .parts(let ranges):
            self.init(ranges, head: head, completeLength: completeLength, seed: seed)
        case .unsatisfiable:
            guard let completeLength else { return nil }
            self.init(unsatisfiedBy: completeLength, head: head)
        case .whole:
            guard let completeLength, completeLength >= 0 else { return nil }
            self.init(wholeOf: completeLength, head: head)
        }
    }

    private init(head: HTTPResponse, segments: [Segment]) {
        self.head = head
        self.segments = segments
    }

    private init(_ part: StoredPart, head: HTTPResponse) {
        // §15.3.7: what a 200 would have had of Date, Cache-Control, ETag, Expires, Content-Location and Vary must be there;
        // all else may be, and helps a client that has none of it yet.
        var head = head
        head.status = .partialContent
        head.headerFields.removeWhatIsOfOneContent()
        head.headerFields[.contentRange] = ContentRange(part).fieldValue
        head.headerFields[.contentLength] = String(part.range.count)
        self.init(head: head, segments: [.body(part.range)])
    }

    private init(wholeOf completeLength: Int64, head: HTTPResponse) {
        var head = head
        head.status = .ok
        head.headerFields[.contentRange] = nil
        head.headerFields[.contentLength] = String(completeLength)
        let all = ByteRange(first: 0, end: completeLength)
        self.init(head: head, segments: all.map { [.body($0)] } ?? [])
    }

    private init(unsatisfiedBy completeLength: Int64, head: HTTPResponse) {
        // Nothing here is about the representation but its length, and nothing lets another cache keep it: a 416 that was
        // stored would answer requests without a range.
        var fields = HTTPFields()
        for field in head.headerFields where field.name == .vary || field.name == .acceptRanges { fields.append(field) }
        fields[.contentRange] = ContentRange.unsatisfied(completeLength: completeLength).fieldValue
        fields[.contentLength] = "0"
        self.init(head: HTTPResponse(status: .rangeNotSatisfiable, headerFields: fields), segments: [])
    }
}

// MARK: - Several parts

extension RangeDelivery {
    private init?(_ ranges: [ByteRange], head: HTTPResponse, completeLength: Int64?, seed: String) {
        // The parts hold encoded bytes, the message around them does not; Content-Encoding cannot say so, and a client that
        // goes by it decodes the boundaries.
        guard !ranges.isEmpty, head.headerFields.filledLines(.contentEncoding).isEmpty else { return nil }
        let boundary = Self.boundary(seed)
        let type = head.headerFields.first { $0.name == .contentType }?.trimmedBytes
        var segments: [Segment] = []
        var length: Int64 = 0
        for range in ranges {
            guard let part = StoredPart(range: range, completeLength: completeLength) else { return nil }
            var opening = Array("\(segments.isEmpty ? "" : "\r\n")--\(boundary)\r\n".utf8)
            // §15.3.7.2: the Content-Type that a 200 would have had, in each part; Content-Range in each, and in none but them.
            if let type { opening += Array("Content-Type: ".utf8) + type + Array("\r\n".utf8) }
            opening += Array("Content-Range: \(ContentRange(part).fieldValue)\r\n\r\n".utf8)
            segments += [.bytes(opening), .body(range)]
            length = length.saturatingAdding(Int64(opening.count)).saturatingAdding(range.count)
        }
        let closing = Array("\r\n--\(boundary)--\r\n".utf8)
        segments.append(.bytes(closing))
        length = length.saturatingAdding(Int64(closing.count))
        guard length < .max else { return nil }

        var head = head
        head.status = .partialContent
        head.headerFields.removeWhatIsOfOneContent()
        head.headerFields[.contentRange] = nil
        head.headerFields[.contentType] = "multipart/byteranges; boundary=\(boundary)"
        head.headerFields[.contentLength] = String(length)
        self.init(head: head, segments: segments)
    }

    /// 128 bits of FNV-1a over the seed, in hexadecimal: characters that any boundary may have (RFC 2046 §5.1.1).
    ///
    /// The same bytes get the same boundary, so that an answer can be compared and repeated. That it is in the content by
    /// chance is as unlikely as for a random one; by intent nothing is won, as Content-Range says where a part ends.
    private static func boundary(_ seed: String) -> String {
        var forward: UInt64 = 0xcbf2_9ce4_8422_2325
        var backward = forward
        for byte in seed.utf8 { forward = (forward ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for byte in seed.utf8.reversed() { backward = (backward ^ UInt64(byte) ^ 0x5c) &* 0x100_0000_01b3 }
        return [forward, backward].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }
}
