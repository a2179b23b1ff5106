/// Which pixels of an image go where: what a decoder has to draw.
///
/// All of it is in whole pixels.
public struct ImagePlacement: Hashable, Sendable {
    /// The part of the image that is drawn; never empty, never outside the image.
    public let source: ImageRect
    /// Where it is drawn, and how large; never empty, never outside the output.
    public let destination: ImageRect
    /// The size of the output. What the destination leaves of it stays transparent.
    public let output: ImageSize
}

/// Why an image cannot be placed.
@nonexhaustive
public enum ImageGeometryError: Error, Hashable, Sendable {
    /// A side of the image is smaller than one pixel, longer than 2³² pixels, or no number.
    case invalidImageSize(ImageSize)
    /// A side of the area is negative, no number, or longer than ``ImageVariant/maxSide`` pixels.
    case invalidDisplaySize(ImageSize)
    /// The scale is not positive, or no number.
    case invalidScale(Double)
    /// A side of the part to use is negative, or something about it no number.
    case invalidCrop(ImageRect)
    /// No part of the image is in the part to use.
    case cropOutsideImage(ImageRect)
}

extension ImageGeometryError: CustomStringConvertible {
    /// What is wrong.
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
