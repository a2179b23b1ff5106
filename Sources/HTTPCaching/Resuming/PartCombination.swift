/// Decides how to combine a newly received part with stored responses for the same request (RFC 9110 §15.3.7.3, RFC
/// 9111 §3.4).
package struct PartCombination: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Stores the part separately. No stored part touches it, or no validator proves that both belong to one
        /// representation.
        case standsAlone
        /// Combines the new part with stored parts.
        case combines(CombinedPart)
        /// Does not store the part, because the stored response at this index is the whole of the same representation.
        case isCoveredByWhole(Int)
    }

    package let action: Action
    /// The indices of older stored responses to remove, because the origin has replaced their representation.
    package let displaced: [Int]

    /// A stored response and its part of the representation, or `nil` for the whole.
    package typealias Stored = (response: StoredResponse, part: StoredPart?)

    /// `new` is a 206 or an incomplete 200, with its fields as stored. `part` has the received bytes: for a 206, its
    /// `Content-Range` up to the point of interruption. The request selects all of `stored` by `Vary`.
    package init(of new: StoredResponse, part: StoredPart, with stored: [Stored]) {
        guard let validator = new.strongValidator, new.status.isOfRepresentation else {
            action = .standsAlone
            displaced = []
            return
        }
        var displaced: [Int] = []
        var members: [Int] = []
        var whole: Int?
        for (index, candidate) in stored.enumerated() where candidate.response.status.isOfRepresentation {
            // Without a strong validator, the candidate may belong to the same representation or to another.
            guard let other = candidate.response.strongValidator else { continue }
            // RFC 9111 §4: the response with the latest Date is the most recent.
            let isOlder = candidate.response.date <= new.date
            guard other == validator else {
                if isOlder { displaced.append(index) }
                continue
            }
            // Bytes of two codings do not fit together, even with equal validators.
            guard candidate.response.fields.hasSameCoding(as: new.fields) else { continue }
            if let held = candidate.part, !held.agrees(with: part) {
                // The origin used one validator for two lengths. The newer response is more likely to be right.
                if isOlder { displaced.append(index) }
                continue
            }
            // RFC 9110 §14.1.2: ranges count encoded bytes, but a decoded body has different bytes.
            guard candidate.response.hasIntactBody, !candidate.response.isBodyDecoded, !new.isBodyDecoded else {
                continue
            }
            if let held = candidate.part, !held.isComplete {
                members.append(index)
            } else if candidate.part != nil || candidate.response.status == .ok {
                whole = whole ?? index
            }
        }
        self.displaced = displaced
        if let whole {
            action = .isCoveredByWhole(whole)
        } else if let combined = CombinedPart(of: new, part: part, with: stored, among: members) {
            action = .combines(combined)
        } else {
            action = .standsAlone
        }
    }
}

extension StoredResponse {
    /// The validator that identifies the representation of the body.
    package var strongValidator: StrongValidator? { StrongValidator(fields, responseTime: responseTime) }
}

extension HTTPResponse.Status {
    /// Whether the body is the representation or a part of it. The body of an error is neither.
    fileprivate var isOfRepresentation: Bool { self == .ok || self == .partialContent }
}
