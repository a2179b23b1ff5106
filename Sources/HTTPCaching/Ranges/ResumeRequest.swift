package import HTTPTypes

/// Asking for the rest of a response of which the beginning is stored (RFC 9110 §13.1.5, §15.3.7).
package enum ResumeRequest {
    /// What the reply makes of the stored part.
    package enum Outcome: Hashable, Sendable {
        /// It is the rest: the stored bytes and then these are the whole representation, of this length.
        case continues(completeLength: Int64)
        /// A 200: it is the whole representation, in the place of the stored part.
        case replaces
        /// The stored part is of no use any more, and this reply neither: the request is to be sent again, without a range.
        case discards
        /// Another status, such as a 404 or a 503: it answers the request as it would have without the range, and says
        /// nothing of the part.
        case answersOtherwise
    }

    /// `request` for what comes after the stored part, if that is still of the current representation.
    ///
    /// - Parameters:
    ///   - request: A request for the whole.
    ///   - stored: The stored response that it selects.
    ///   - part: What that has.
    /// - Returns: `nil` when the stored bytes are not the beginning, or nothing can prove that the rest belongs to them.
    package static func make(
        for request: HTTPRequest, resuming stored: StoredResponse, part: StoredPart
    ) -> HTTPRequest? {
        // A range or a precondition of its own: the reply would not be about the whole, or not about the range.
        guard request.method == .get, !request.headerFields.contains(where: \.name.makesConditional) else { return nil }
        guard stored.status == .ok || stored.status == .partialContent, stored.hasIntactBody else { return nil }
        // §14.1.2: how many encoded bytes became the decoded ones that are stored nobody knows.
        guard !stored.isBodyDecoded, part.range.first == 0, !part.isComplete else { return nil }
        guard let ifRange = IfRange.field(for: stored.fields, responseTime: stored.responseTime) else { return nil }
        var resuming = request
        resuming.headerFields[.range] = "bytes=\(part.range.end)-"
        resuming.headerFields.append(ifRange)
        return resuming
    }

    /// What the reply to a request of ``make(for:resuming:part:)`` makes of the stored part.
    package static func outcome(
        of exchange: Exchange, resuming stored: StoredResponse, part: StoredPart
    ) -> Outcome {
        switch exchange.reply.status {
        case .ok: .replaces
        case .partialContent: continuation(exchange, resuming: stored, part: part)
        // A 304 to a request without If-None-Match and If-Modified-Since is a mistake; a 416 says that there is no rest.
        case .notModified, .rangeNotSatisfiable: .discards
        default: .answersOtherwise
        }
    }

    private static func continuation(
        _ exchange: Exchange, resuming stored: StoredResponse, part: StoredPart
    ) -> Outcome {
        let fields = exchange.reply.headerFields
        guard !exchange.isBodyDecoded, isOfSameRepresentation(exchange, as: stored) else { return .discards }
        // Exactly where the stored bytes end, up to the end of all: then the client gets what it has asked for.
        guard let rest = ContentRange(fields)?.part, rest.range.first == part.range.end,
            let length = rest.completeLength ?? part.completeLength, rest.range.end == length,
            part.completeLength == nil || part.completeLength == length
        else { return .discards }
        return .continues(completeLength: length)
    }

    private static func isOfSameRepresentation(_ exchange: Exchange, as stored: StoredResponse) -> Bool {
        guard let validator = stored.strongValidator else { return false }
        let fields = exchange.reply.headerFields
        if fields.filledLines(.eTag).isEmpty, stored.fields.filledLines(.eTag).isEmpty {
            // §15.3.7: in answer to an If-Range a sender "SHOULD NOT generate other representation header fields beyond those
            // required", and Last-Modified is not required. A server that sends none has compared ours. One that does, with
            // or without a Date, must send the same.
            let dates = fields.filledLines(.lastModified)
            let storedDate = stored.fields.filledLines(.lastModified).first?.trimmedBytes
            return dates.allSatisfy { $0.trimmedBytes == storedDate }
        }
        // An ETag is required if a 200 would have had it. A server that leaves it out may have left out the comparison too:
        // there are those that do not know If-Range.
        return StrongValidator(fields, responseTime: exchange.responseTime) == validator
    }
}

extension HTTPField.Name {
    /// Whether a field with this name asks for less than a plain GET does.
    fileprivate var makesConditional: Bool {
        switch self {
        case .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince: true
        default: false
        }
    }
}
