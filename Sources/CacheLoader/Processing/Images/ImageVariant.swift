/// What is made of an image: which part of it, how large, and how well.
public struct ImageVariant: Hashable, Sendable {
    /// How pixels are found that lie between those of the image.
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

    /// The area that the image is shown in, in points: ``scale`` times as many pixels. `nil` or a side of 0: the image is
    /// not resized.
    public var displaySize: ImageSize?
    /// The part of the image that is used, in fractions of its sides. All of it, if this is `nil`, empty, or reaches
    /// from 0 to 1. What of it is outside the image does not count.
    public var crop: ImageRect?
    /// How image and area are brought together; ``ImageContentMode/scaleToFill`` by default.
    public var mode: ImageContentMode
    /// What becomes of the excess; it is cut off or left empty by default.
    public var excess: ImageExcess
    /// How pixels between those of the image are found; well by default.
    public var interpolation: Interpolation
    /// Pixels for each point of ``displaySize``; 1 by default.
    public var scale: Double

    /// Creates a variant; what is wrong with it shows in ``placement(of:)``.
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

    /// The image as it is.
    public static let original = ImageVariant()

    /// Every field by its name, for a ``ProcessorID``; without a size and a crop where these do nothing.
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
    /// Whether a display size of this asks for anything. A side that is no number does: for an error.
    var resizes: Bool { width != 0 && height != 0 }
}

extension ImageRect {
    /// Whether a unit rectangle of this leaves anything out. One that is no rectangle does: it asks for an error.
    var crops: Bool {
        width != 0 && height != 0 && self != ImageRect(x: 0, y: 0, width: 1, height: 1)
    }
}
