/// Draws operations per second over the number of entries, a line for each operation, bold for this package.
struct GrowthChart {
    private struct Line {
        let name: String
        let isOurs: Bool
        let color: String
        let points: [(entries: Double, throughput: Double)]
    }

    let comparisons: [Comparison]

    /// The chart, or `nil` without an operation at two sizes.
    var svg: String? {
        let lines = lines.filter { $0.points.count > 1 }
        let (left, right, top, bottom) = (90.0, 620.0, 60.0, 440.0)
        let points = lines.flatMap(\.points)
        guard let across = LogScale(points.map(\.entries), from: left, to: right),
            let up = LogScale(points.map(\.throughput), from: bottom, to: top)
        else { return nil }
        var drawing = Drawing(width: 900, height: 500)
        drawing.text(
            "Operations in a second over the number of entries: ● ours   ○ the same work in C", 20, 28, isBold: true)
        for decade in across.decades {
            let x = across.position(LatencyChart.power(decade))
            drawing.line([(x, top), (x, bottom)], "#dddddd")
            drawing.text(Self.text(decade), x, bottom + 20, .middle)
        }
        for decade in up.decades {
            let y = up.position(LatencyChart.power(decade))
            drawing.line([(left, y), (right, y)], "#dddddd")
            drawing.text(Self.text(decade), left - 10, y + 4, .end)
        }
        drawing.text("entries", (left + right) / 2, bottom + 44, .middle)
        for (number, line) in lines.enumerated() {
            let places = line.points.map { (x: across.position($0.entries), y: up.position($0.throughput)) }
            drawing.line(places, line.color, width: line.isOurs ? 2 : 0.7)
            for place in places { drawing.dot(place.x, place.y, line.color, radius: 4, isFilled: line.isOurs) }
            let y = top + 20 * Double(number)
            drawing.dot(right + 40, y - 4, line.color, radius: 4, isFilled: line.isOurs)
            drawing.text(line.name + (line.isOurs ? "" : ", C"), right + 54, y)
        }
        return drawing.svg
    }

    private var lines: [Line] {
        var names: [String] = []
        for case let growth? in comparisons.map(\.growth) where !names.contains(growth.line) {
            names.append(growth.line)
        }
        return names.enumerated().flatMap { number, name in
            let color = Drawing.colors[number % Drawing.colors.count]
            let of = comparisons.filter { $0.growth?.line == name }
            let ours = Line(name: name, isOurs: true, color: color, points: of.compactMap { Self.point($0, 0) })
            // For some operations the other side is a smaller store of this package.
            let others = of.filter { $0.sides.count > 1 && !$0.sides[1].name.hasPrefix("ours") }
            let theirs = Line(name: name, isOurs: false, color: color, points: others.compactMap { Self.point($0, 1) })
            return [ours, theirs]
        }
    }

    private static func point(_ comparison: Comparison, _ side: Int) -> (entries: Double, throughput: Double)? {
        guard let growth = comparison.growth, let time = Spread(comparison.sides[side].rounds) else { return nil }
        return (Double(growth.entries), 1e9 / time.median)
    }

    private static func text(_ decade: Int) -> String {
        switch decade {
        case 9...: "10^\(decade)"
        case 6...: "\(Int(LatencyChart.power(decade - 6))) million"
        case 0...: "\(Int(LatencyChart.power(decade)))"
        default: "10^\(decade)"
        }
    }
}
