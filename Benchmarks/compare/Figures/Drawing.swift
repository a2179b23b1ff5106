import Foundation

/// An SVG drawing with its origin at the top left.
struct Drawing {
    private let width: Double
    private let height: Double
    private var elements: [String] = []

    static let colors = ["#c7432b", "#33658a", "#758e4f", "#f0a202", "#6c4f8e", "#444444"]

    init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    enum Anchor: String {
        case start, middle, end
    }

    mutating func text(_ text: String, _ x: Double, _ y: Double, _ anchor: Anchor = .start, isBold: Bool = false) {
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        let weight = isBold ? " font-weight=\"bold\"" : ""
        elements.append(
            "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor.rawValue)\"\(weight)>\(escaped)</text>"
        )
    }

    mutating func line(_ points: [(x: Double, y: Double)], _ color: String, width: Double = 1) {
        let list = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
        elements.append(
            "<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"\(Self.number(width))\"/>")
    }

    mutating func dot(_ x: Double, _ y: Double, _ color: String, radius: Double, isFilled: Bool = true) {
        elements.append(
            """
            <circle cx="\(Self.number(x))" cy="\(Self.number(y))" r="\(Self.number(radius))" \
            fill="\(isFilled ? color : "white")" stroke="\(color)"/>
            """)
    }

    var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.number(width)) \(Self.number(height))" \
        font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">
        <rect width="100%" height="100%" fill="white"/>
        \(elements.joined(separator: "\n"))
        </svg>

        """
    }

    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
