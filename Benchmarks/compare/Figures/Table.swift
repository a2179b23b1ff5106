import Foundation

/// The results of a run as Markdown.
struct Table {
    let comparisons: [Comparison]
    let facts: [Fact]
    let omissions: [Omission]

    var markdown: String {
        var lines = [
            "| work | ours | against | theirs | ours : theirs | quartiles | least–most | aim |",
            "|---|---:|---|---:|---:|---:|---:|---|",
        ]
        lines += rows
        if !facts.isEmpty {
            lines += ["", "| figure | value |", "|---|---:|"] + facts.map { "| \($0.name) | \($0.value) |" }
        }
        if !omissions.isEmpty {
            lines += [""] + omissions.map { "- left out: \($0.work): \($0.reason)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The rows of the comparisons, without the header.
    var rows: [String] { comparisons.flatMap(rows(of:)) }

    private func rows(of comparison: Comparison) -> [String] {
        guard let ours = comparison.sides.first, let time = Spread(ours.rounds) else { return [] }
        let start = "| \(comparison.work) | \(Self.time(time.median)) |"
        let others = comparison.sides.dropFirst()
        guard !others.isEmpty else {
            return ["\(start) | | | \(Self.range(time, Self.time)) | \(Self.verdict(ours.aim, time.median)) |"]
        }
        return others.compactMap { other in
            guard let theirs = Spread(other.rounds), let ratio = Spread(comparison.ratios(to: other)) else {
                return nil
            }
            return """
                \(start) \(other.name) | \(Self.time(theirs.median)) | \(Self.ratio(ratio.median)) \
                | \(Self.range(ratio, Self.ratio)) | \(Self.verdict(other.aim, ratio.median)) |
                """
        }
    }

    private static func range(_ spread: Spread, _ text: (Double) -> String) -> String {
        "\(text(spread.lowerQuartile))–\(text(spread.upperQuartile)) | \(text(spread.least))–\(text(spread.greatest))"
    }

    private static func verdict(_ aim: Comparison.Aim?, _ value: Double) -> String {
        switch aim {
        case .ratio(let limit): "≤ \(ratio(limit)) \(value <= limit ? "✓" : "✗")"
        case .nanoseconds(let limit): "≤ \(time(limit)) \(value <= limit ? "✓" : "✗")"
        case nil: ""
        }
    }

    private static func ratio(_ value: Double) -> String { String(format: value < 0.1 ? "%.4f" : "%.2f", value) }

    /// Formats a time with about three significant digits.
    static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1_000: String(format: "%.0f ns", nanoseconds)
        case ..<10_000: String(format: "%.2f µs", nanoseconds / 1e3)
        case ..<1_000_000: String(format: "%.1f µs", nanoseconds / 1e3)
        case ..<1_000_000_000: String(format: "%.2f ms", nanoseconds / 1e6)
        default: String(format: "%.2f s", nanoseconds / 1e9)
        }
    }
}
