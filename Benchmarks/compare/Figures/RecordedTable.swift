/// The comparisons in the table of an earlier run.
struct RecordedTable {
    let comparisons: [Comparison]

    /// Reads the rows of all tables in a Markdown text. Each side has one round: its median.
    init(_ markdown: String) {
        var works: [String] = []
        var sides: [String: [Comparison.Side]] = [:]
        for line in markdown.split(separator: "\n") where line.hasPrefix("|") {
            let cells = line.dropFirst().split(separator: "|", omittingEmptySubsequences: false).map(Self.trimmed)
            // The third column of other tables is a time.
            guard cells.count > 4, let ours = Self.nanoseconds(cells[1]), Self.nanoseconds(cells[2]) == nil else {
                continue
            }
            if sides[cells[0]] == nil {
                works.append(cells[0])
                sides[cells[0]] = [Self.side("ours", ours)]
            }
            if let theirs = Self.nanoseconds(cells[3]) {
                sides[cells[0]]?.append(Self.side(cells[2], theirs))
            }
        }
        comparisons = works.map { Comparison(work: $0, growth: nil, sides: sides[$0] ?? []) }
    }

    private static func side(_ name: String, _ nanoseconds: Double) -> Comparison.Side {
        Comparison.Side(name: name, rounds: [nanoseconds], latencies: nil, aim: nil)
    }

    private static func trimmed(_ cell: Substring) -> String {
        String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// Parses a time in the format of ``Table/time(_:)``.
    private static func nanoseconds(_ text: String) -> Double? {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let value = Double(parts[0]),
            let unit = ["ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9][parts[1]]
        else { return nil }
        return value * unit
    }
}
