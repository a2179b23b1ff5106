/// Draws the latencies of single operations, a line for each side: median, 99th and 99.9th percentile.
struct LatencyChart {
    private struct Line {
        let label: String
        let latencies: Latencies
        let color: String
    }

    let comparisons: [Comparison]

    /// The chart, or `nil` without measured single operations.
    var svg: String? {
        let lines = comparisons.flatMap { comparison in
            comparison.sides.enumerated().compactMap { number, side in
                side.latencies.map { latencies in
                    Line(
                        label: number == 0 ? comparison.work : side.name, latencies: latencies,
                        color: Drawing.colors[number == 0 ? 0 : 1])
                }
            }
        }
        let (left, top, pitch) = (360.0, 60.0, 18.0)
        let bottom = top + pitch * Double(lines.count)
        let values = lines.flatMap { [$0.latencies.p50, $0.latencies.p999] }
        guard let scale = LogScale(values, from: left, to: 880) else { return nil }
        var drawing = Drawing(width: 900, height: bottom + 40)
        drawing.text("Time of single operations: ● median   ○ 99 %   | 99.9 %   (red: ours)", 20, 28, isBold: true)
        for decade in scale.decades {
            let value = Self.power(decade)
            let x = scale.position(value)
            drawing.line([(x, top - 8), (x, bottom)], "#dddddd")
            drawing.text(Table.time(value), x, bottom + 20, .middle)
        }
        for (number, line) in lines.enumerated() {
            let y = top + pitch * (Double(number) + 0.4)
            let (p50, p99, p999) = (
                scale.position(line.latencies.p50), scale.position(line.latencies.p99),
                scale.position(line.latencies.p999)
            )
            drawing.text(line.label, left - 12, y + 4, .end)
            drawing.line([(p50, y), (p999, y)], line.color)
            drawing.line([(p999, y - 5), (p999, y + 5)], line.color, width: 2)
            drawing.dot(p50, y, line.color, radius: 4)
            drawing.dot(p99, y, line.color, radius: 3.5, isFilled: false)
        }
        return drawing.svg
    }

    static func power(_ exponent: Int) -> Double {
        (0..<abs(exponent)).reduce(1) { value, _ in exponent < 0 ? value / 10 : value * 10 }
    }
}
