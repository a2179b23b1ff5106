/// The crop, the size and the quality of a decoded image.
public struct ImageVariant: Hashable, Sendable {
    /// The interpolation of pixels between those of the image.
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

    /// The display area in points, each of ``scale`` pixels. If `nil` or with a side of 0, the image is not resized.
    public var displaySize: ImageSize?
    /// The part of the image to use, in fractions of its sides. `nil`, an empty rectangle and the unit rectangle mean
    /// the whole image. Parts outside the image are ignored.
    public var crop: ImageRect?
    /// How the image is placed in the area; ``ImageContentMode/scaleToFill`` by default.
    public var mode: ImageContentMode
    /// How the output treats the excess; cut off or left empty by default.
    public var excess: ImageExcess
    /// The interpolation of pixels between those of the image; ``Interpolation/high`` by default.
    public var interpolation: Interpolation
    /// The pixels for each point of ``displaySize``; 1 by default.
    public var scale: Double

    /// Creates a variant; ``placement(of:)`` reports invalid values.
    public init(
        displaySize: ImageSize? = nil, crop: ImageRect? = nil, mode: ImageContentMode = .scaleToFill,
        excess: ImageExcess = [], interpolation: Interpolation = .high, scale: Double = 1
    ) {
        self.displaySize = displaySize
        self.crop = crop
        self.mode = mode
        self.excess = excess
        self.interpolation = interpolation
        self.scale = scale
    }

    /// The image without crop or resizing.
    public static let original = ImageVariant()

    /// Every field by its name, for a ``ProcessorID``; omits a size and a crop without effect.
    var parameters: [String: String] {
        var parameters = [
            "mode": mode.rawValue, "excess": "\(excess.rawValue)", "interpolation": interpolation.rawValue,
            "scale": scale.shortText,
        ]
        if let displaySize, displaySize.resizes { parameters["size"] = displaySize.description }
        if let crop, crop.crops { parameters["crop"] = crop.description }
        return parameters
    }
}

extension ImageSize {
    /// Whether a display size has an effect. A side that is not a number has one: an error.
    var resizes: Bool { width != 0 && height != 0 }
}

extension ImageRect {
    /// Whether a unit rectangle excludes a part of the image. An invalid rectangle has an effect, too: an error.
    var crops: Bool {
        width != 0 && height != 0 && self != ImageRect(x: 0, y: 0, width: 1, height: 1)
    }
}
