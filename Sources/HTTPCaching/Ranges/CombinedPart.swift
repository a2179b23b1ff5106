package import HTTPTypes

/// Parts of one representation, joined without a gap (RFC 9110 §15.3.7.3).
package struct CombinedPart: Hashable, Sendable {
    /// Where some of the bytes come from.
    package enum Source: Hashable, Sendable {
        /// The stored response at this place.
        case stored(Int)
        /// The response that has just arrived.
        case new
    }

    /// Some bytes to copy.
    package struct Piece: Hashable, Sendable {
        /// Where they come from.
        package let source: Source
        /// Which they are, by their offsets in the representation. In the body of the source they begin that much earlier
        /// as its own part begins later than byte 0.
        package let range: ByteRange

        /// Creates a piece.
        package init(source: Source, range: ByteRange) {
            self.source = source
            self.range = range
        }
    }

    /// The places of the stored responses that go into it, and that it replaces.
    package let members: [Int]
    /// What it has.
    package let union: StoredPart
    /// 200 when nothing is missing, or when a 200 that broke off is in it; else 206.
    package let status: HTTPResponse.Status
    /// The fields to store with it.
    package let fields: HTTPFields
    /// What to write, front to back.
    package let pieces: [Piece]

    /// Joins `part` with those of `candidates`, all of the same representation, that it can reach; `nil` if there are none.
    init?(of new: StoredResponse, part: StoredPart, with stored: [PartCombination.Stored], among candidates: [Int]) {
        var union = part
        var members: [Int] = []
        var rest = candidates
        var hasGrown = true
        while hasGrown {
            hasGrown = false
            rest.removeAll { index in
                guard let held = stored[index].part, let joined = union.union(held) else { return false }
                // What lies in the middle changes nothing; what lies at an end may reach others.
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
        fields.describe(union, status: status)
        self.fields = fields
        pieces = Self.pieces(of: union.range, new: part.range, stored: members.map { ($0, stored[$0].part?.range) })
    }
}

// MARK: - Fields

extension CombinedPart {
    private static func fields(of new: StoredResponse, with stored: [StoredResponse]) -> HTTPFields {
        // "If the most recent response is an incomplete 200 (OK) response, then the header fields of that response are used
        // for any combined response and replace those of the matching stored responses."
        if new.status == .ok { return new.fields }
        // Of a new 206 and a stored 200 "the most recent 200 response's header fields"; of 206 responses only, "the stored
        // response with the most recent header fields".
        let full = stored.filter { $0.status == .ok }
        let base = (full.isEmpty ? stored : full).max { $0.responseTime < $1.responseTime }
        guard var fields = base?.fields else { return new.fields }
        // RFC 9111 §3.4 goes on where RFC 9110 stops: a cache "MUST update the stored response header fields using the header
        // fields provided in the new response", of a 200 as of a 206. An older Age is no longer true.
        fields[.age] = nil
        var handled: Set<String> = ["content-range", "content-length"]
        for field in new.fields where handled.insert(field.name.canonicalName).inserted {
            fields[fields: field.name] = new.fields[fields: field.name]
        }
        return fields
    }
}

extension HTTPFields {
    /// Says what of the representation is there.
    fileprivate mutating func describe(_ part: StoredPart, status: HTTPResponse.Status) {
        removeWhatIsOfOneContent()
        if status == .ok {
            // "including a Content-Length header field that reflects the complete length"
            self[.contentRange] = nil
            self[.contentLength] = part.completeLength.map(String.init)
        } else {
            self[.contentRange] = ContentRange(part).fieldValue
            self[.contentLength] = String(part.range.count)
        }
    }

    /// RFC 9530 §2: a `Content-Digest` is of the bytes of one message, and so was `Content-MD5`. Those of a
    /// `Repr-Digest` are the same in every part.
    mutating func removeWhatIsOfOneContent() {
        remove(named: ["content-digest", "content-md5"])
    }
}

// MARK: - Bytes

extension CombinedPart {
    /// New bytes where there are any, stored ones before and after.
    private static func pieces(of union: ByteRange, new: ByteRange, stored: [(Int, ByteRange?)]) -> [Piece] {
        var pieces: [Piece] = []
        var position = union.first
        while position < union.end {
            var source = Source.new
            var end = new.first <= position ? new.end : position
            if end <= position {
                // Of the stored ones the one that goes furthest, but not into what is new.
                for (index, range) in stored {
                    guard let range, range.first <= position, range.end > end else { continue }
                    source = .stored(index)
                    end = range.end
                }
                if position < new.first { end = min(end, new.first) }
            }
            // A union has no gap. Should there be one, fewer bytes are better than wrong ones, or than no end.
            guard let range = ByteRange(first: position, end: end) else { break }
            pieces.append(Piece(source: source, range: range))
            position = end
        }
        return pieces
    }
}
