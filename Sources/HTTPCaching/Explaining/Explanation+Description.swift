internal import HTTPTypes

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
        for field in conditionalFields { text.add("sends", "\(field.name): \(field.value)") }
        for (index, candidate) in candidates.enumerated() {
            text.lines.append("")
            candidate.describe(in: &text, title: "stored response \(index + 1) of \(candidates.count)", url)
        }
        return text.lines.joined(separator: "\n")
    }

    private var outcomeText: String {
        let form = isNotModified ? ", with a 304" : ""
        return switch outcome {
        case .hit: "hit: the stored response answers\(form)"
        case .staleHit: "stale-hit: the stored response answers\(form), stale as it is"
        case .staleWhileRevalidating:
            "stale-while-revalidating: the stored response answers\(form), and is validated meanwhile"
        case .validate: "validate: the origin is asked whether what is stored is still good"
        case .resume: "resume: the origin is asked for the rest of what is stored"
        case .forward: "forward: the origin is asked"
        case .unsatisfiable: "unsatisfiable: a 504, for the origin must not be asked"
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
            "lifetime", lifetimeSource == .unstated ? "0 s, for none is stated" : "\(lifetime) s from \(lifetimeSource)"
        )
        text.add("age", "\(age.total) s = \(age.onArrival) s on arrival + \(age.residentTime) s in the store")
        if age.onArrival > 0 {
            text.add(
                "arrival",
                "\(age.onArrival) s = max(\(age.apparent) s since Date, Age of \(age.field) s"
                    + " + \(age.responseDelay) s under way)")
        }
        text.add("state", stateText)
        if let entityTag { text.add("validator", "ETag \(entityTag) (\(isEntityTagWeak ? "weak" : "strong"))") }
        if let lastModified { text.add("validator", "Last-Modified \(lastModified)") }
        if entityTag == nil, lastModified == nil { text.add("validator", "none") }
        text.add("directives", directives.joined(separator: ", "))
        if let part {
            text.add(
                "part",
                "bytes \(part.first)-\(part.last) of \(part.completeLength.map(String.init) ?? "unknown length")")
        }
        text.add("body", hasBody ? "\(byteCount) bytes" : "gone")
    }

    private var stateText: String {
        if let freshFor { return "fresh for \(freshFor) s" }
        return staleBy.map { "stale by \($0) s" } ?? "stale, for the clock is of no use"
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
