public import HTTPTypes

/// The answer to a request from a stored response: the whole, ranges of the body, or a 304.
///
/// Evaluates the preconditions of the request first, then its ranges (RFC 9110 §13.2.2). A pure function of its
/// arguments, safe on any thread. Costs one pass over the fields of the request and of the response.
public struct StoredAnswer: Hashable, Sendable {
    /// The content of the answer.
    public enum Content: Hashable, Sendable {
        /// No content, as in a 304 or in the answer to a HEAD.
        case none
        /// The whole stored body.
        case whole
        /// These segments, one after the other: ranges of the stored body, and the text between several ranges.
        case segments([Segment])
    }

    /// Consecutive bytes of the content.
    public enum Segment: Hashable, Sendable {
        /// Literal bytes.
        case bytes([UInt8])
        /// The bytes at these offsets of the stored body. The body of a part begins with the first byte of the part.
        case stored(Range<Int64>)
    }

    /// The head of the answer. `Cache-Status` is not included; see ``CacheStatus/append(to:name:)``.
    public private(set) var head: HTTPResponse
    /// The content that follows the head.
    public private(set) var content: Content

    init(head: HTTPResponse, content: Content) {
        self.head = head
        self.content = content
    }

    /// Forms the answer to `request` from `stored`, a response that a decision has chosen.
    ///
    /// - Parameters:
    ///   - stored: The stored response.
    ///   - request: The request as the caller made it.
    ///   - age: The current age; `nil` if the origin validated the response for this request.
    ///   - byteCount: The length of the stored body.
    ///   - policy: Names the targeted fields that address the cache.
    ///   - boundarySeed: A text that differs for different bodies, such as a digest. Determines the boundary between
    ///     several ranges. Evaluated only for a range request.
    public init(
        from stored: StoredResponse, to request: HTTPRequest, age: Int64?, byteCount: Int64,
        policy: CachePolicy = CachePolicy(), boundarySeed: @autoclosure () -> String = ""
    ) {
        head = stored.head(age: age, policy: policy)
        content = .whole
        let preconditions = Preconditions(request)
        if !preconditions.isEmpty, preconditions.isNotModified(stored) {
            head = HTTPResponse(status: .notModified, headerFields: NotModified.head(of: head.headerFields))
            content = .none
            return
        }
        if request.method == .head {
            content = .none
            // RFC 9530 §B.2: in the answer to a HEAD, Content-Digest covers no byte.
            head.headerFields.removeDigestsOfContent()
        }
        guard let ranges = Self.ranges(of: stored, head, byteCount, boundarySeed, to: request) else { return }
        self = ranges
    }

    /// Returns the bytes of the content.
    ///
    /// - Parameter body: The whole stored body, with as many bytes as the initializer was told.
    public func bytes(of body: [UInt8]) -> [UInt8] {
        switch content {
        case .none: []
        case .whole: body
        case .segments(let segments):
            segments.flatMap { segment in
                switch segment {
                case .bytes(let bytes): bytes
                case .stored(let range): Array(body[Int(range.lowerBound)..<Int(range.upperBound)])
                }
            }
        }
    }

    /// Returns the answer to a range request; `nil` if the request has no range, or the cache ignores it.
    private static func ranges(
        of stored: StoredResponse, _ head: HTTPResponse, _ byteCount: Int64, _ seed: () -> String,
        to request: HTTPRequest
    ) -> StoredAnswer? {
        // RFC 9110 §14.1.2: ranges count encoded bytes.
        guard stored.status == .ok || stored.part != nil, !stored.isBodyDecoded, let ranges = RangeSet(request),
            IfRange.permitsRange(request, stored: stored.fields, responseTime: stored.responseTime)
        else { return nil }
        guard let part = stored.part else {
            let answer = ranges.resolved(completeLength: byteCount)
            return StoredAnswer(answer, head: head, completeLength: byteCount, seed: seed())
        }
        guard let answer = ranges.resolved(inside: part.bytes, completeLength: part.completeLength) else { return nil }
        return StoredAnswer(
            answer, head: head, completeLength: part.completeLength, bodyStart: part.bytes.lowerBound, seed: seed())
    }
}
