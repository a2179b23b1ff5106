/// Width and height, in pixels or in whatever else is said.
public struct ImageSize: Hashable, Sendable {
    /// From side to side.
    public var width: Double
    /// From top to bottom.
    public var height: Double

    /// Creates a size.
    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    var isFinite: Bool { width.isFinite && height.isFinite }
}

extension ImageSize: CustomStringConvertible {
    /// As in `100x75`; equal for equal sizes.
    public var description: String { "\(width.shortText)x\(height.shortText)" }
}

extension Double {
    /// The shortest text for this number, the same for 0 and -0 and in every locale.
    var shortText: String {
        Int64(exactly: self).map { "\($0)" } ?? "\(self)"
    }
}
