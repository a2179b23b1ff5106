/// The part of an image that a decoder draws, and its position in the output.
///
/// All values are whole pixels.
public struct ImagePlacement: Hashable, Sendable {
    /// The drawn part of the image; never empty, never outside the image.
    public let source: ImageRect
    /// The position and size of the drawn part in the output; never empty, never outside the output.
    public let destination: ImageRect
    /// The size of the output. Pixels outside the destination stay transparent.
    public let output: ImageSize
}

/// An image or a variant that cannot be placed.
@nonexhaustive
public enum ImageGeometryError: Error, Hashable, Sendable {
    /// A side of the image is shorter than one pixel, longer than 2³² pixels, or not a number.
    case invalidImageSize(ImageSize)
    /// A side of the area is negative, longer than ``ImageVariant/maxSide`` pixels, or not a number.
    case invalidDisplaySize(ImageSize)
    /// The scale is not a positive, finite number.
    case invalidScale(Double)
    /// A side of the crop is negative, or one of its values is not a number.
    case invalidCrop(ImageRect)
    /// The crop is outside the image.
    case cropOutsideImage(ImageRect)
}

extension ImageGeometryError: CustomStringConvertible {
    /// Describes the problem.
    public var description: String {
        switch self {
        case .invalidImageSize(let size): "an image cannot have the size \(size)"
        case .invalidDisplaySize(let size): "an image cannot be shown at the size \(size)"
        case .invalidScale(let scale): "an image cannot be shown at the scale \(scale.shortText)"
        case .invalidCrop(let crop): "\(crop) is no part of an image"
        case .cropOutsideImage(let crop): "the part \(crop) is outside the image"
        }
    }
}
