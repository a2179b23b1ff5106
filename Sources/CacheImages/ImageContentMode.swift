/// How an image is placed in its display area if the two differ in size.
public enum ImageContentMode: String, Sendable, CaseIterable {
    /// Stretches the whole image over the whole area, without keeping the proportions.
    case scaleToFill
    /// Shows the whole image in the middle of the area, as large as the area allows.
    case aspectFit
    /// Covers the whole area with the largest middle part of the image that has the proportions of the area.
    case aspectFill
    /// Keeps the size; the middle of the image is in the middle of the area.
    case center
    /// Keeps the size; aligns the image with the middle of the top.
    case top
    /// Keeps the size; aligns the image with the middle of the bottom.
    case bottom
    /// Keeps the size; aligns the image with the middle of the left side.
    case left
    /// Keeps the size; aligns the image with the middle of the right side.
    case right
    /// Keeps the size; aligns the image with the top left corner.
    case topLeft
    /// Keeps the size; aligns the image with the top right corner.
    case topRight
    /// Keeps the size; aligns the image with the bottom left corner.
    case bottomLeft
    /// Keeps the size; aligns the image with the bottom right corner.
    case bottomRight
}

/// How the output treats the excess if the image and the area have different proportions.
public struct ImageExcess: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates a set of options.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Only with ``ImageContentMode/aspectFit``: the output has the size of the fitted image, without empty margins.
    public static let fitCropsExcess = ImageExcess(rawValue: 1 << 0)
    /// Only with ``ImageContentMode/aspectFill``: the output is the whole image, larger than the area in one direction.
    public static let fillLeavesExcess = ImageExcess(rawValue: 1 << 1)
}
