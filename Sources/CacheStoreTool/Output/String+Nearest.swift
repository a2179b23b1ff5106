extension String {
    /// Returns the candidate with the smallest edit distance, if that is small for the length of the text.
    package func nearest(of candidates: [String]) -> String? {
        let text = lowercased()
        let limit = Swift.max(1, text.count / 3)
        let nearest = candidates.map { (candidate: $0, distance: text.distance(to: $0.lowercased())) }
            .min { $0.distance < $1.distance }
        return nearest.flatMap { $0.distance <= limit ? $0.candidate : nil }
    }

    /// The Damerau-Levenshtein distance: the letters to add, remove, replace or swap with a neighbour.
    private func distance(to other: String) -> Int {
        let (left, right) = (Array(self), Array(other))
        var rows = [Array(0...right.count)]
        for i in 0..<left.count {
            var row = [i + 1]
            for j in 0..<right.count {
                var best = Swift.min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = Swift.min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
