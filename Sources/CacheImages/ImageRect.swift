/// A rectangle. Its origin is the top left corner; y grows downwards.
public struct ImageRect: Hashable, Sendable {
    /// The position of the left side.
    public var x: Double
    /// The position of the top.
    public var y: Double
    /// The distance from the left to the right side.
    public var width: Double
    /// The distance from the top to the bottom.
    public var height: Double

    /// Creates a rectangle.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates a rectangle of this size at the origin.
    public init(_ size: ImageSize) {
        self.init(x: 0, y: 0, width: size.width, height: size.height)
    }

    /// The width and the height.
    public var size: ImageSize { ImageSize(width: width, height: height) }

    var isFinite: Bool { x.isFinite && y.isFinite && width.isFinite && height.isFinite }
}

extension ImageRect: CustomStringConvertible {
    /// The values x, y, width and height, as in `12,0,100,75`. Equal rectangles have equal descriptions.
    public var description: String { [x, y, width, height].map(\.shortText).joined(separator: ",") }
}
