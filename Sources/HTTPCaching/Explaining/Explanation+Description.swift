extension Explanation: CustomStringConvertible {
    /// Several lines of plain text: the outcome and its rule, then each stored response with its arithmetic.
    ///
    /// Field values appear unchanged, including control characters.
    public var description: String {
        var text = LabelledLines()
        text.lines.append("\(method.rawValue) \(url)")
        text.add("outcome", outcomeText)
        text.add("rule", rule.description)
        text.add("reason", forwardReason.map { "\($0) (RFC 9211 §2.2)" } ?? "")
        for field in conditionalFields { text.add("sends", "\(field.name): \(field.text)") }
        for (index, candidate) in candidates.enumerated() {
            text.lines.append("")
            candidate.describe(in: &text, title: "stored response \(index + 1) of \(candidates.count)", url)
        }
        return text.lines.joined(separator: "\n")
    }

    private var outcomeText: String {
        let form = isNotModified ? " with a 304" : ""
        return switch outcome {
        case .hit: "hit: the stored response answers\(form)"
        case .staleHit: "stale-hit: the stored response answers\(form) while stale"
        case .staleWhileRevalidating:
            "stale-while-revalidating: the stored response answers\(form) during its validation"
        case .validate: "validate: the cache asks the origin whether the stored response is valid"
        case .resume: "resume: the cache requests the rest of the stored part"
        case .forward: "forward: the cache sends the request to the origin"
        case .unsatisfiable: "unsatisfiable: a 504, because the cache must not contact the origin"
        }
    }
}

extension Explanation.Candidate {
    fileprivate func describe(in text: inout LabelledLines, title: String, _ requested: String) {
        let choice = isChosen ? "chosen" : isSelected ? "not chosen" : "not selected"
        text.lines.append("\(title): status \(status), \(choice)")
        if url != requested { text.add("stored as", url) }
        for line in variant { text.add("variant", line) }
        for difference in differences {
            text.add("differs", difference.name)
            text.add("", "stored  \(difference.stored ?? "(absent)")")
            text.add("", "now     \(difference.present ?? "(absent)")")
        }
        text.add(
            "lifetime",
            lifetimeSource == .unstated
                ? "0 s, because the response states none" : "\(lifetime) s from \(lifetimeSource)"
        )
        text.add("age", "\(age.total) s = \(age.onArrival) s on arrival + \(age.residentTime) s in the store")
        if age.onArrival > 0 {
            text.add(
                "arrival",
                "\(age.onArrival) s = max(\(age.apparent) s since Date, \(age.field) s in Age"
                    + " + \(age.responseDelay) s response delay)")
        }
        text.add("state", stateText)
        if let entityTag { text.add("validator", "ETag \(entityTag) (\(isEntityTagWeak ? "weak" : "strong"))") }
        if let lastModified { text.add("validator", "Last-Modified \(lastModified)") }
        if entityTag == nil, lastModified == nil { text.add("validator", "none") }
        text.add("directives", directives.joined(separator: ", "))
        if let part {
            let length = part.completeLength.map(String.init) ?? "unknown length"
            text.add("part", "bytes \(part.bytes.lowerBound)-\(part.bytes.upperBound - 1) of \(length)")
        }
        text.add("body", hasBody ? "\(byteCount) bytes" : "missing")
    }

    private var stateText: String {
        if let freshFor { return "fresh for \(freshFor) s" }
        return staleBy.map { "stale by \($0) s" } ?? "stale, because the clock is unusable"
    }
}

/// Lines of text, each with a label at the start.
private struct LabelledLines {
    private static let width = 12

    var lines: [String] = []

    /// Adds a line unless `text` is empty.
    mutating func add(_ label: String, _ text: String) {
        guard !text.isEmpty else { return }
        lines.append(label + String(repeating: " ", count: Self.width - label.count) + text)
    }
}
