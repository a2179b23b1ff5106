internal import CacheStore
internal import HTTPCaching
internal import HTTPTypes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// In what form a stored response answers a request: whole, in part, or as the news that the caller has it already.
///
/// RFC 9110 §13.2.2: the caller's conditions first, then its range.
struct AnswerForm {
    /// What comes after the head.
    enum Content {
        case none
        case whole
        case segments([BodySegment])
    }

    /// The head.
    private(set) var head: HTTPResponse
    /// What comes after it.
    private(set) var content = Content.whole

    /// - Parameters:
    ///   - head: That of the stored response, as it answers with the whole.
    ///   - body: The stored body.
    init(_ stored: StoredResponse, head: HTTPResponse, body: StoredBody, to request: HTTPRequest) {
        self.head = head
        let preconditions = Preconditions(request)
        if !preconditions.isEmpty, preconditions.isNotModified(stored) {
            self.head = HTTPResponse(status: .notModified, headerFields: NotModified.head(of: head.headerFields))
            content = .none
            return
        }
        if request.method == .head { content = .none }
        guard let delivery = Self.delivery(stored, head, body, to: request) else { return }
        self.head = delivery.head
        // The file of a part begins with the first byte of the part.
        let start = stored.part?.range.first ?? 0
        content = .segments(
            delivery.segments.map { segment in
                switch segment {
                case .bytes(let bytes): .bytes(Data(bytes))
                case .body(let range): .stored((range.first - start)..<(range.end - start))
                }
            })
    }

    /// The answer to a range; `nil` if there is none, or it is to be ignored.
    private static func delivery(
        _ stored: StoredResponse, _ head: HTTPResponse, _ body: StoredBody, to request: HTTPRequest
    ) -> RangeDelivery? {
        // RFC 9110 §14.1.2: ranges count encoded bytes.
        guard stored.status == .ok || stored.part != nil, !stored.isBodyDecoded, let ranges = RangeSet(request),
            IfRange.permitsRange(request, stored: stored.fields, responseTime: stored.responseTime)
        else { return nil }
        let seed = body.digest.map { "\($0)" } ?? ""
        guard let part = stored.part else {
            let answer = ranges.resolved(completeLength: body.byteCount)
            return RangeDelivery(answer, head: head, completeLength: body.byteCount, seed: seed)
        }
        guard let answer = ranges.resolved(inside: part.range, completeLength: part.completeLength) else { return nil }
        return RangeDelivery(answer, head: head, completeLength: part.completeLength, seed: seed)
    }
}
