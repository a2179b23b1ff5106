/// The crop, the size, the orientation, the colors and the quality of a decoded image.
public struct ImageVariant: Hashable, Sendable {
    /// The interpolation between pixels of the image.
    @nonexhaustive
    public enum Interpolation: String, Sendable, CaseIterable {
        /// The nearest pixel.
        case none
        /// Fast.
        case low
        /// Better.
        case medium
        /// Best, and slowest.
        case high
    }

    /// The upward side of the stored pixels.
    @nonexhaustive
    public enum Orientation: String, Sendable, CaseIterable {
        /// Follows the EXIF orientation of the image.
        case upright
        /// Keeps the stored pixels and ignores the EXIF orientation.
        case stored
    }

    /// The color space of the decoded pixels.
    @nonexhaustive
    public enum ColorSpace: String, Sendable, CaseIterable {
        /// The color space of the image.
        case image
        /// sRGB: the colors of any screen, also in a program without color management.
        case sRGB
        /// Display P3: the colors of wide screens.
        case displayP3
    }

    /// The display area in points, each of ``scale`` pixels. `nil` or a side of 0 disables resizing.
    public var displaySize: ImageSize?
    /// The part of the image to use, in fractions of its sides. `nil`, an empty rectangle and the unit rectangle mean
    /// the whole image. Ignores parts outside the image.
    public var crop: ImageRect?
    /// The placement in the area, ``ImageContentMode/scaleToFill`` by default.
    public var mode: ImageContentMode
    /// The treatment of margins and overhang. By default margins stay and overhang is cut off.
    public var excess: ImageExcess
    /// The interpolation between pixels of the image, ``Interpolation/high`` by default.
    public var interpolation: Interpolation
    /// The pixels for each point of ``displaySize``, 1 by default.
    public var scale: Double
    /// The upward side of the stored pixels, ``Orientation/upright`` by default. Crop and size apply to the image in
    /// this orientation.
    public var orientation: Orientation
    /// The color space of the decoded pixels, ``ColorSpace/image`` by default.
    public var colorSpace: ColorSpace

    /// Creates a variant. ``placement(of:)`` reports invalid values.
    public init(
        displaySize: ImageSize? = nil, crop: ImageRect? = nil, mode: ImageContentMode = .scaleToFill,
        excess: ImageExcess = [], interpolation: Interpolation = .high, scale: Double = 1,
        orientation: Orientation = .upright, colorSpace: ColorSpace = .image
    ) {
        self.displaySize = displaySize
        self.crop = crop
        self.mode = mode
        self.excess = excess
        self.interpolation = interpolation
        self.scale = scale
        self.orientation = orientation
        self.colorSpace = colorSpace
    }

    /// The image without crop or resizing.
    public static let original = ImageVariant()

    /// Every field by its name, for a ``ProcessorID``. Omits a size and a crop that have no effect.
    var parameters: [String: String] {
        var parameters = [
            "mode": mode.rawValue, "excess": "\(excess.rawValue)", "interpolation": interpolation.rawValue,
            "scale": scale.shortText, "orientation": orientation.rawValue, "colors": colorSpace.rawValue,
        ]
        if let displaySize, displaySize.resizes { parameters["size"] = displaySize.description }
        if let crop, crop.crops { parameters["crop"] = crop.description }
        return parameters
    }
}

extension ImageHeader {
    /// Returns the size of the image in pixels, in the orientation of a variant.
    public func size(in orientation: ImageVariant.Orientation) -> ImageSize {
        // The header has the sides of the upright image.
        let isTurned = orientation == .stored && (5...8).contains(self.orientation)
        return ImageSize(width: Double(isTurned ? height : width), height: Double(isTurned ? width : height))
    }
}

extension ImageSize {
    /// Whether a display size has an effect. A side that is not a number counts, so that placing throws an error.
    var resizes: Bool { width != 0 && height != 0 }
}

extension ImageRect {
    /// Whether a unit rectangle excludes a part of the image. An invalid rectangle counts, so that placing throws an
    /// error.
    var crops: Bool {
        width != 0 && height != 0 && self != ImageRect(x: 0, y: 0, width: 1, height: 1)
    }
}
