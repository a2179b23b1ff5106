/// A failure to decode or to place an image.
@nonexhaustive
public enum ImageError: Error, Hashable, Sendable {
    /// The bytes are no image that the decoder can read. `reason` comes from the decoder.
    case malformed(reason: String)
    /// The image has more pixels than the decoder accepts, before or after resizing.
    case tooLarge(width: Int, height: Int, maxPixels: Int)
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

extension ImageError: CustomStringConvertible {
    /// Describes the problem.
    public var description: String {
        switch self {
        case .malformed(let reason): "the bytes are no image: \(reason)"
        case .tooLarge(let width, let height, let maxPixels):
            "an image of \(width) by \(height) pixels is larger than \(maxPixels) pixels"
        case .invalidImageSize(let size): "an image cannot have the size \(size)"
        case .invalidDisplaySize(let size): "an image cannot be shown at the size \(size)"
        case .invalidScale(let scale): "an image cannot be shown at the scale \(scale.shortText)"
        case .invalidCrop(let crop): "\(crop) is no part of an image"
        case .cropOutsideImage(let crop): "the part \(crop) is outside the image"
        }
    }
}
