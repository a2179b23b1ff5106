/// The placement of an image in a display area of another size.
public enum ImageContentMode: String, Sendable, CaseIterable {
    /// Stretches the whole image over the whole area and ignores its proportions.
    case scaleToFill
    /// Shows the whole image in the middle of the area, as large as the area allows.
    case aspectFit
    /// Covers the area with the largest centered part of the image that has the proportions of the area.
    case aspectFill
    /// Keeps the size and centers the image.
    case center
    /// Keeps the size and aligns the image with the middle of the top.
    case top
    /// Keeps the size and aligns the image with the middle of the bottom.
    case bottom
    /// Keeps the size and aligns the image with the middle of the left side.
    case left
    /// Keeps the size and aligns the image with the middle of the right side.
    case right
    /// Keeps the size and aligns the image with the top left corner.
    case topLeft
    /// Keeps the size and aligns the image with the top right corner.
    case topRight
    /// Keeps the size and aligns the image with the bottom left corner.
    case bottomLeft
    /// Keeps the size and aligns the image with the bottom right corner.
    case bottomRight
}

/// The treatment of margins and overhang if the image and the area have different proportions.
public struct ImageExcess: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates a set of options.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// With ``ImageContentMode/aspectFit`` only: the output has the size of the fitted image, without empty margins.
    public static let fitCropsExcess = ImageExcess(rawValue: 1 << 0)
    /// With ``ImageContentMode/aspectFill`` only: the output is the whole image, which exceeds the area in one
    /// direction.
    public static let fillLeavesExcess = ImageExcess(rawValue: 1 << 1)
}
