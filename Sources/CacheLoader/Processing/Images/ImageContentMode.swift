/// How an image and the area that it is shown in are brought together when they differ in size.
public enum ImageContentMode: String, Sendable, CaseIterable {
    /// The whole image over the whole area, whatever that does to its proportions.
    case scaleToFill
    /// The whole image, as large as the area allows, in its middle.
    case aspectFit
    /// The whole area, covered by as much of the middle of the image as its proportions allow.
    case aspectFill
    /// Pixel by pixel, the middle of the image in the middle of the area.
    case center
    /// Pixel by pixel, in the middle at the top.
    case top
    /// Pixel by pixel, in the middle at the bottom.
    case bottom
    /// Pixel by pixel, in the middle of the left side.
    case left
    /// Pixel by pixel, in the middle of the right side.
    case right
    /// Pixel by pixel, in the top left corner.
    case topLeft
    /// Pixel by pixel, in the top right corner.
    case topRight
    /// Pixel by pixel, in the bottom left corner.
    case bottomLeft
    /// Pixel by pixel, in the bottom right corner.
    case bottomRight
}

/// What becomes of the excess where an image and its area have not the same proportions.
public struct ImageExcess: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates a set of options.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// With ``ImageContentMode/aspectFit``, and with no other mode: the output is as large as the image in it, without the
    /// empty margins.
    public static let fitCropsExcess = ImageExcess(rawValue: 1 << 0)
    /// With ``ImageContentMode/aspectFill``, and with no other mode: the output is the whole image, and larger than the area
    /// in one direction.
    public static let fillLeavesExcess = ImageExcess(rawValue: 1 << 1)
}
