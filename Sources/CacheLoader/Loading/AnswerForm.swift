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

    /// What comes after the head.
    private(set) var content = Content.whole

    private var delivery: RangeDelivery?
    private var isNotModified = false

    /// - Parameter byteCount: The length of the stored body.
    init(of stored: StoredResponse, byteCount: Int64, to request: HTTPRequest) {
        let preconditions = Preconditions(request)
        if !preconditions.isEmpty, preconditions.isNotModified(stored) {
            isNotModified = true
            content = .none
            return
        }
        if request.method == .head { content = .none }
        guard stored.status == .ok || stored.part != nil, !stored.isBodyDecoded, let ranges = RangeSet(request),
            IfRange.permitsRange(request, stored: stored.fields, responseTime: stored.responseTime)
        else { return }
        let answer: RangeAnswer?
        if let part = stored.part {
            answer = ranges.resolved(inside: part.range, completeLength: part.completeLength)
        } else {
            answer = ranges.resolved(completeLength: byteCount)
        }
        guard let answer else { return }
        let length = stored.part.map(\.completeLength) ?? byteCount
        guard let delivery = RangeDelivery(answer, of: stored.fields, completeLength: length) else { return }
        self.delivery = delivery
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

    /// Gives the head of the stored response the form of the answer.
    func shape(_ head: inout HTTPResponse) {
        if isNotModified {
            head = HTTPResponse(status: .notModified, headerFields: NotModified.fields(of: head.headerFields))
        } else if let delivery {
            head = delivery.head(from: head)
        }
    }
}
