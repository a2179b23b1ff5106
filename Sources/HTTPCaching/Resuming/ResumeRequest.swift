/// Requests the rest of a response with a stored beginning (RFC 9110 §13.1.5, §15.3.7).
package enum ResumeRequest {
    /// The effect of the reply on the stored part.
    package enum Outcome: Hashable, Sendable {
        /// The reply is the rest. The stored bytes and then the reply's bytes form the whole representation, of this
        /// length.
        case continues(completeLength: Int64)
        /// The reply, a 200, is the whole representation and replaces the stored part.
        case replaces
        /// Neither the stored part nor this reply is usable. Send the request again without a range.
        case discards
        /// The reply has another status, such as 404 or 503. It answers the request like a request without range, and
        /// says nothing about the part.
        case answersOtherwise
    }

    /// Creates a request for the bytes after the part of `stored`, on condition that the part is of the current
    /// representation. `request` asks for the whole representation and selects `stored`. Returns `nil` when the stored
    /// bytes are not the beginning, or when no validator can prove that the rest belongs to them.
    package static func make(
        for request: HTTPRequest, resuming stored: StoredResponse, part: StoredPart
    ) -> HTTPRequest? {
        // With the caller's range or precondition, the reply would concern neither the whole nor the requested rest.
        guard request.method == .get, !request.headerFields.contains(where: \.name.makesConditional) else { return nil }
        guard stored.status == .ok || stored.status == .partialContent, stored.hasIntactBody else { return nil }
        // §14.1.2: ranges count encoded bytes, but for decoded bytes their number is unknown.
        guard !stored.isBodyDecoded, part.bytes.lowerBound == 0, !part.isComplete else { return nil }
        guard let ifRange = stored.strongValidator?.ifRange else { return nil }
        var resuming = request
        resuming.headerFields[.range] = "bytes=\(part.bytes.upperBound)-"
        resuming.headerFields.append(ifRange)
        return resuming
    }

    /// Determines the effect of the reply to a request of ``make(for:resuming:part:)`` on the stored part.
    package static func outcome(
        of exchange: Exchange, resuming stored: StoredResponse, part: StoredPart
    ) -> Outcome {
        switch exchange.reply.status {
        // The content is only the rest: some servers label a part as a 200.
        case .ok where exchange.reply.headerFields.contains(.contentRange): .discards
        case .ok where isShorter(exchange, than: part, of: stored): .discards
        case .ok: .replaces
        case .partialContent: continuation(exchange, resuming: stored, part: part)
        // A 304 without If-None-Match and If-Modified-Since in the request is an error. A 416 means that no bytes
        // follow.
        case .notModified, .rangeNotSatisfiable: .discards
        default: .answersOtherwise
        }
    }

    /// Whether a 200 with the stored validator is shorter than its representation: it contains only the rest.
    private static func isShorter(_ exchange: Exchange, than part: StoredPart, of stored: StoredResponse) -> Bool {
        let fields = exchange.reply.headerFields
        guard let completeLength = part.completeLength, fields.hasSameCoding(as: stored.fields),
            let length = fields.statedContentLength, length < completeLength
        else { return false }
        return StrongValidator(fields, responseTime: exchange.responseTime) == stored.strongValidator
    }

    private static func continuation(
        _ exchange: Exchange, resuming stored: StoredResponse, part: StoredPart
    ) -> Outcome {
        let fields = exchange.reply.headerFields
        guard !exchange.isBodyDecoded, isOfSameRepresentation(exchange, as: stored) else { return .discards }
        // Requires the rest to begin where the stored bytes end, and to reach the end of the representation. The client
        // then gets the requested bytes.
        guard let rest = StoredPart(contentRange: fields), rest.bytes.lowerBound == part.bytes.upperBound,
            let length = rest.completeLength ?? part.completeLength, rest.bytes.upperBound == length,
            part.completeLength == nil || part.completeLength == length
        else { return .discards }
        return .continues(completeLength: length)
    }

    private static func isOfSameRepresentation(_ exchange: Exchange, as stored: StoredResponse) -> Bool {
        guard let validator = stored.strongValidator else { return false }
        let fields = exchange.reply.headerFields
        // An origin that compresses on the fly has one tag for both codings, and does not compress ranges.
        guard fields.hasSameCoding(as: stored.fields) else { return false }
        if fields.filledLines(.eTag).isEmpty, stored.fields.filledLines(.eTag).isEmpty {
            // §15.3.7: in answer to an If-Range, a sender "SHOULD NOT generate other representation header fields
            // beyond those required", and Last-Modified is not required. A server that omits the date has compared the
            // date in If-Range. A server that sends a date, with or without Date, must send the stored date.
            let dates = fields.filledLines(.lastModified)
            let storedDate = stored.fields.filledLines(.lastModified).first?.trimmedBytes
            return dates.allSatisfy { $0.trimmedBytes == storedDate }
        }
        // A 206 must have an ETag if a 200 would have one. A server that omits the ETag may have omitted the comparison
        // too: some servers do not support If-Range.
        return StrongValidator(fields, responseTime: exchange.responseTime) == validator
    }
}

extension HTTPField.Name {
    /// Whether a field with this name asks for less than a plain GET.
    fileprivate var makesConditional: Bool {
        switch self {
        case .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince: true
        default: false
        }
    }
}
