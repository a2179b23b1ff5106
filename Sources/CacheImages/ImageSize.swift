/// A width and a height, in pixels unless documented otherwise.
public struct ImageSize: Hashable, Sendable {
    /// The distance from the left to the right side.
    public var width: Double
    /// The distance from the top to the bottom.
    public var height: Double

    /// Creates a size.
    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    var isFinite: Bool { width.isFinite && height.isFinite }
}

extension ImageSize: CustomStringConvertible {
    /// The size, as in `100x75`. Equal sizes have equal descriptions.
    public var description: String { "\(width.shortText)x\(height.shortText)" }
}

extension Double {
    /// The shortest text for this number; equal for 0 and -0 and in all locales.
    var shortText: String {
        Int64(exactly: self).map { "\($0)" } ?? "\(self)"
    }
}
