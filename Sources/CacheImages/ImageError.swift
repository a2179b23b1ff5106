/// A failure to decode an image.
@nonexhaustive
public enum ImageError: Error, Hashable, Sendable {
    /// The bytes are no image that the decoder can read. `reason` comes from the decoder.
    case malformed(reason: String)
    /// The image has more pixels than the decoder accepts, before or after resizing.
    case tooLarge(width: Int, height: Int, maxPixels: Int)
}

extension ImageError: CustomStringConvertible {
    /// The reason, or the size and its limit.
    public var description: String {
        switch self {
        case .malformed(let reason): "the bytes are no image: \(reason)"
        case .tooLarge(let width, let height, let maxPixels):
            "an image of \(width) by \(height) pixels is larger than \(maxPixels) pixels"
        }
    }
}
