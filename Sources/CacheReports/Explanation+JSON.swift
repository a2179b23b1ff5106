package import CacheLoader
import Foundation
import HTTPTypes

extension Explanation {
    /// The explanation without absent values. A hit, for example, has no reason to forward the request.
    package var json: JSON {
        .object(omittingNulls: [
            "method": .text(method.rawValue),
            "url": .text(url),
            "date": .text(Date(date).formatted(.iso8601)),
            "outcome": .text(outcome.rawValue),
            "section": .text(rule.section),
            "phrase": .text(rule.phrase),
            "reason": .optional(forwardReason),
            "not_modified": .bool(isNotModified),
            "sends": .array(conditionalFields.map { .text("\($0.name): \($0.text)") }),
            "candidates": .array(candidates.map(\.json)),
        ])
    }
}

extension Explanation.Candidate {
    /// The stored response without absent values.
    package var json: JSON {
        let differences = differences.map {
            JSON.object(omittingNulls: [
                "name": .text($0.name), "stored": .optional($0.stored), "present": .optional($0.present),
            ])
        }
        let part = part.map {
            JSON.object(omittingNulls: [
                "first": .integer($0.bytes.lowerBound), "last": .integer($0.bytes.upperBound - 1),
                "complete_length": .optional($0.completeLength),
            ])
        }
        return .object(omittingNulls: [
            "url": .text(url),
            "status": .integer(status),
            "chosen": .bool(isChosen),
            "selected": .bool(isSelected),
            "differences": .array(differences),
            "variant": .array(variant.map(JSON.text)),
            "lifetime": .integer(lifetime),
            "lifetime_source": .text("\(lifetimeSource)"),
            "age": .integer(age.total),
            "age_on_arrival": .integer(age.onArrival),
            "apparent_age": .integer(age.apparent),
            "age_field": .integer(age.field),
            "response_delay": .integer(age.responseDelay),
            "resident_time": .integer(age.residentTime),
            "fresh": .bool(isFresh),
            "fresh_for": .optional(freshFor),
            "stale_by": .optional(staleBy),
            "etag": .optional(entityTag),
            "weak_etag": .bool(isEntityTagWeak),
            "last_modified": .optional(lastModified),
            "directives": .array(directives.map(JSON.text)),
            "part": part ?? .null,
            "byte_size": .integer(byteCount),
            "body": .bool(hasBody),
        ])
    }
}
