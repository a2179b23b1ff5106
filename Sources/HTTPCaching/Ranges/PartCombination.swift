internal import HTTPTypes

/// What becomes of a newly received part among what is stored for the same request (RFC 9110 §15.3.7.3, RFC 9111 §3.4).
package struct PartCombination: Hashable, Sendable {
    /// What to do with the new part.
    package enum Action: Hashable, Sendable {
        /// It is stored as what it is: nothing that is stored touches it, or nobody can tell that both are of one
        /// representation.
        case standsAlone
        /// It and some stored ones become one.
        case combines(CombinedPart)
        /// The stored response at this place is the whole of the same representation: the part adds nothing.
        case isCoveredByWhole(Int)
    }

    /// What to do with the new part.
    package let action: Action
    /// The places of stored responses that are of another representation and older: the origin has replaced it, and they
    /// are to go.
    package let displaced: [Int]

    /// A stored response and the part of the representation that it has; `nil` for all of it.
    package typealias Stored = (response: StoredResponse, part: StoredPart?)

    /// Finds what the part `part` of `new` goes with.
    ///
    /// - Parameters:
    ///   - new: A 206 or a 200 that broke off, with its fields as stored.
    ///   - part: What of it has arrived. For a 206 its `Content-Range`, up to where it broke off.
    ///   - stored: What is stored for the key and selected by the request: `Vary` has been looked at.
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
            // Without a strong validator it may be of the same representation or not.
            guard let other = candidate.response.strongValidator else { continue }
            let isOlder = candidate.response.recency <= new.recency
            guard other == validator else {
                if isOlder { displaced.append(index) }
                continue
            }
            if let held = candidate.part, !held.agrees(with: part) {
                // One validator for two lengths: the origin has broken its word, and the newer one is the better guess.
                if isOlder { displaced.append(index) }
                continue
            }
            // RFC 9110 §14.1.2: ranges count encoded bytes, and a decoded body has others.
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
    /// What tells which representation the body is of.
    var strongValidator: StrongValidator? { StrongValidator(fields, responseTime: responseTime) }

    /// RFC 9111 §4: the most recent response is that with the latest `Date`.
    fileprivate var recency: HTTPDate {
        fields.first { $0.name == .date }.flatMap { HTTPDate($0, now: responseTime) } ?? responseTime
    }
}

extension HTTPResponse.Status {
    /// Whether the body is the representation, or a part of it. That of an error is neither.
    fileprivate var isOfRepresentation: Bool { self == .ok || self == .partialContent }
}
