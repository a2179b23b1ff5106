package import CacheLoader
import Foundation
import HTTPTypes

/// An explanation as JSON. Omits absent values: a hit, for example, has no reason to ask the origin.
package struct ExplanationReport: Encodable, Sendable {
    let method: String
    let url: String
    let date: String
    let outcome: String
    let section: String
    let phrase: String
    let reason: String?
    let notModified: Bool
    let sends: [String]
    let candidates: [Candidate]

    package init(_ explanation: Explanation) {
        method = explanation.method.rawValue
        url = explanation.url
        date = Date(explanation.date).formatted(.iso8601)
        outcome = explanation.outcome.rawValue
        section = explanation.rule.section
        phrase = explanation.rule.phrase
        reason = explanation.forwardReason
        notModified = explanation.isNotModified
        sends = explanation.conditionalFields.map { "\($0.name): \($0.text)" }
        candidates = explanation.candidates.map(Candidate.init)
    }

    package struct Candidate: Encodable, Sendable {
        let url: String
        let status: Int
        let chosen: Bool
        let selected: Bool
        let differences: [Difference]
        let variant: [String]
        let lifetime: Int64
        let lifetimeSource: String
        let age: Int64
        let ageOnArrival: Int64
        let apparentAge: Int64
        let ageField: Int64
        let responseDelay: Int64
        let residentTime: Int64
        let fresh: Bool
        let freshFor: Int64?
        let staleBy: Int64?
        let etag: String?
        let weakEtag: Bool
        let lastModified: String?
        let directives: [String]
        let part: Part?
        let byteSize: Int64
        let body: Bool

        package init(_ candidate: Explanation.Candidate) {
            url = candidate.url
            status = candidate.status
            chosen = candidate.isChosen
            selected = candidate.isSelected
            differences = candidate.differences.map {
                Difference(name: $0.name, stored: $0.stored, present: $0.present)
            }
            variant = candidate.variant
            lifetime = candidate.lifetime
            lifetimeSource = "\(candidate.lifetimeSource)"
            age = candidate.age.total
            ageOnArrival = candidate.age.onArrival
            apparentAge = candidate.age.apparent
            ageField = candidate.age.field
            responseDelay = candidate.age.responseDelay
            residentTime = candidate.age.residentTime
            fresh = candidate.isFresh
            freshFor = candidate.freshFor
            staleBy = candidate.staleBy
            etag = candidate.entityTag
            weakEtag = candidate.isEntityTagWeak
            lastModified = candidate.lastModified
            directives = candidate.directives
            part = candidate.part.map {
                Part(first: $0.bytes.lowerBound, last: $0.bytes.upperBound - 1, completeLength: $0.completeLength)
            }
            byteSize = candidate.byteCount
            body = candidate.hasBody
        }
    }

    /// A nominated field; omits an absent value.
    package struct Difference: Encodable, Sendable {
        let name: String
        let stored: String?
        let present: String?
    }

    package struct Part: Encodable, Sendable {
        let first: Int64
        let last: Int64
        let completeLength: Int64?
    }
}
