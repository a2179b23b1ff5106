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
        /// Consecutive segments: ranges of the stored body, and the text between several ranges.
        case segments([Segment])
    }

    /// Consecutive bytes of the content.
    public enum Segment: Hashable, Sendable {
        /// Literal bytes.
        case bytes([UInt8])
        /// The stored body's bytes at these offsets. The body of a part begins with the first byte of the part.
        case stored(Range<Int64>)
    }

    /// The head of the answer. To add `Cache-Status`, see ``CacheStatus/append(to:name:)``.
    public private(set) var head: HTTPResponse
    /// The content that follows the head.
    public private(set) var content: Content

    init(head: HTTPResponse, content: Content) {
        self.head = head
        self.content = content
    }

    /// Creates the answer to `request` from `stored`, the response that a decision chose.
    ///
    /// - Parameters:
    ///   - stored: The stored response.
    ///   - request: The request as the caller made it.
    ///   - age: The current age, or `nil` for a response that the origin validated for this request.
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
            // RFC 9530 §B.2: in the answer to a HEAD, Content-Digest covers no bytes.
            head.headerFields.removeDigestsOfContent()
        }
        guard let ranges = Self.ranges(of: stored, head, byteCount, boundarySeed, to: request) else { return }
        self = ranges
    }

    /// Returns the bytes of the content.
    ///
    /// - Parameter body: The whole stored body, as long as the `byteCount` of the initializer.
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

    /// Returns the answer to a range request, or `nil` without a range that the cache supports.
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
