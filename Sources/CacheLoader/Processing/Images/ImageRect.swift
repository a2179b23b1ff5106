/// A rectangle. The origin is its top left corner; y grows downwards.
public struct ImageRect: Hashable, Sendable {
    /// Where its left side is.
    public var x: Double
    /// Where its top is.
    public var y: Double
    /// From its left to its right side.
    public var width: Double
    /// From its top to its bottom.
    public var height: Double

    /// Creates a rectangle.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates a rectangle of this size in the top left corner.
    public init(_ size: ImageSize) {
        self.init(x: 0, y: 0, width: size.width, height: size.height)
    }

    /// Width and height.
    public var size: ImageSize { ImageSize(width: width, height: height) }

    var isFinite: Bool { x.isFinite && y.isFinite && width.isFinite && height.isFinite }
}

extension ImageRect: CustomStringConvertible {
    /// As in `12,0,100,75`: x, y, width, height; equal for equal rectangles.
    public var description: String { [x, y, width, height].map(\.shortText).joined(separator: ",") }
}
