/// Draws the median times of some work, a line for each side.
struct MedianChart {
    let title: String
    /// The names of the work, in this order.
    let works: [String]

    /// The charts of the README, by the names of their files.
    static let all = [
        "reads": MedianChart(
            title: "Reading: the median of an operation",
            works: [
                "lookup, hit, hot keys", "lookup, hit", "lookup, miss", "hit, 16 KiB, hot keys", "hit, 1 KiB",
                "hit, 16 KiB",
                "hit, 256 KiB", "hit, 4 MiB",
                "lookup, hit, among 1 million",
            ]),
        "writes": MedianChart(
            title: "Writing: the median of an operation",
            works: [
                "put, new, 1 KiB", "put, new, 16 KiB", "put, new, 256 KiB", "put, new, 4 MiB", "304 freshen",
                "evict half of 10,000, per entry",
            ]),
        "caches": MedianChart(
            title: "Beside other caches: the median of an operation",
            works: ["get, 16 KiB", "put, 16 KiB", "open, 1000 entries", "evict half of 1000, per entry"]),
    ]

    /// Returns the chart, or `nil` when none of the work was measured.
    func svg(_ comparisons: [Comparison]) -> String? {
        let measured = works.compactMap { work in comparisons.first { $0.work == work } }
        let lines = measured.flatMap { comparison in
            comparison.sides.enumerated().compactMap { number, side in
                Spread(side.rounds).map { (comparison.work, side.name, number == 0, $0.median) }
            }
        }
        let (left, top, pitch) = (360.0, 60.0, 20.0)
        let bottom = top + pitch * Double(lines.count)
        guard let scale = LogScale(lines.map(\.3), from: left, to: 820) else { return nil }
        var drawing = Drawing(width: 900, height: bottom + 40)
        drawing.text("\(title) (red: ours)", 20, 28, isBold: true)
        for decade in scale.decades {
            let value = LatencyChart.power(decade)
            let x = scale.position(value)
            drawing.line([(x, top - 8), (x, bottom)], "#dddddd")
            drawing.text(Table.time(value), x, bottom + 20, .middle)
        }
        for (number, (work, side, isOurs, median)) in lines.enumerated() {
            let y = top + pitch * (Double(number) + 0.5)
            let x = scale.position(median)
            let color = Drawing.colors[isOurs ? 0 : 1]
            drawing.text(isOurs ? work : side, left - 12, y + 4, .end, isBold: isOurs)
            drawing.dot(x, y, color, radius: 5)
            drawing.text(Table.time(median), x + 10, y + 4)
        }
        return drawing.svg
    }
}
