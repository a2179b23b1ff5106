/// Adjacent or overlapping parts of one representation, joined (RFC 9110 §15.3.7.3).
package struct CombinedPart: Hashable, Sendable {
    /// The source of some bytes.
    package enum Source: Hashable, Sendable {
        /// The stored response at this index.
        case stored(Int)
        case new
    }

    /// A range of bytes to copy.
    package struct Piece: Hashable, Sendable {
        package let source: Source
        /// The offsets of the bytes in the representation. The body of the source begins at the first byte of its part:
        /// subtract that offset.
        package let range: Range<Int64>

        package init(source: Source, range: Range<Int64>) {
            self.source = source
            self.range = range
        }
    }

    /// The indices of the stored responses that the combined part contains and replaces.
    package let members: [Int]
    package let union: StoredPart
    /// The status: 200 for a complete representation or with an incomplete 200 among the responses, otherwise 206.
    package let status: HTTPResponse.Status
    /// The fields to store with the combined part.
    package let fields: HTTPFields
    /// The pieces to write, front to back.
    package let pieces: [Piece]

    /// Joins `part` with the candidates' parts that it touches. Returns `nil` without such a part. All candidates are
    /// of the same representation.
    init?(of new: StoredResponse, part: StoredPart, with stored: [PartCombination.Stored], among candidates: [Int]) {
        var union = part
        var members: [Int] = []
        var rest = candidates
        var hasGrown = true
        while hasGrown {
            hasGrown = false
            rest.removeAll { index in
                guard let held = stored[index].part, let joined = union.union(held) else { return false }
                // A part inside the union changes nothing. A part at an end may reach further parts.
                union = joined
                members.append(index)
                hasGrown = true
                return true
            }
        }
        guard !members.isEmpty else { return nil }
        members.sort()
        self.members = members
        self.union = union
        let hasFullHead = new.status == .ok || members.contains { stored[$0].response.status == .ok }
        status = union.isComplete || hasFullHead ? .ok : .partialContent
        var fields = Self.fields(of: new, with: members.map { stored[$0].response })
        fields.removeDigestsOfContent()
        if status == .ok {
            // "including a Content-Length header field that reflects the complete length"
            fields.describeWhole(ofLength: union.completeLength)
        } else {
            fields.describe(union)
        }
        self.fields = fields
        pieces = Self.pieces(of: union.bytes, new: part.bytes, stored: members.map { ($0, stored[$0].part?.bytes) })
    }
}

// MARK: - Fields

extension CombinedPart {
    private static func fields(of new: StoredResponse, with stored: [StoredResponse]) -> HTTPFields {
        // "If the most recent response is an incomplete 200 (OK) response, then the header fields of that response are
        // used for any combined response and replace those of the matching stored responses."
        if new.status == .ok { return new.fields }
        // For a new 206 and a stored 200, use "the most recent 200 response's header fields". For 206 responses only,
        // use "the stored response with the most recent header fields".
        let full = stored.filter { $0.status == .ok }
        let base = (full.isEmpty ? stored : full).max { $0.responseTime < $1.responseTime }
        guard var fields = base?.fields else { return new.fields }
        // RFC 9111 §3.4 continues where RFC 9110 stops: a cache "MUST update the stored response header fields using
        // the header fields provided in the new response", for a 200 and for a 206. A stored Age is outdated.
        fields[.age] = nil
        fields.update(with: new.fields, except: ["content-range", "content-length"])
        return fields
    }
}

extension HTTPFields {
    /// RFC 9530 §2: `Content-Digest` covers the bytes of one message, and so did `Content-MD5`. `Repr-Digest` is the
    /// same for every part.
    mutating func removeDigestsOfContent() {
        remove(named: ["content-digest", "content-md5"])
    }
}

// MARK: - Bytes

extension CombinedPart {
    /// Prefers new bytes, and takes stored bytes before and after them.
    private static func pieces(of union: Range<Int64>, new: Range<Int64>, stored: [(Int, Range<Int64>?)]) -> [Piece] {
        var pieces: [Piece] = []
        var position = union.lowerBound
        while position < union.upperBound {
            var source = Source.new
            var end = new.lowerBound <= position ? new.upperBound : position
            if end <= position {
                // Take the stored part with the furthest end, but stop at the new bytes.
                for (index, range) in stored {
                    guard let range, range.lowerBound <= position, range.upperBound > end else { continue }
                    source = .stored(index)
                    end = range.upperBound
                }
                if position < new.lowerBound { end = min(end, new.lowerBound) }
            }
            // A union has no gap. If one occurred, fewer bytes would be better than wrong bytes or an endless loop.
            guard position < end else { break }
            pieces.append(Piece(source: source, range: position..<end))
            position = end
        }
        return pieces
    }
}
