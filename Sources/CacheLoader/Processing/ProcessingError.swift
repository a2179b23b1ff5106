/// Why a processor of this library made nothing of the bytes. Other processors throw what they like.
@nonexhaustive
public enum ProcessingError: Error, Hashable, Sendable {
    /// The response names a charset that is not supported.
    case unknownCharset(String)
    /// The bytes are no text in the charset that the response, its byte order mark or the default names.
    case malformedText(charset: String)
    /// The bytes are no JSON, or no value of the type. The path leads to the place, as in `entries[3].title`; it is empty
    /// at the top.
    case malformedJSON(type: String, path: String, reason: String)
    /// The bytes are no image that the decoder can read; the reason is the decoder's.
    case malformedImage(reason: String)
    /// The image, or what it was to become, has more pixels than the decoder accepts.
    case imageTooLarge(width: Int, height: Int, maxPixels: Int)
}

extension ProcessingError: CustomStringConvertible {
    /// What happened.
    public var description: String {
        switch self {
        case .unknownCharset(let name): "the charset \(name.prefix(100).debugDescription) is not supported"
        case .malformedText(let charset): "the bytes are no text in \(charset)"
        case .malformedJSON(let type, let path, let reason):
            "the bytes are no JSON of a \(type)\(path.isEmpty ? "" : ", at \(path)"): \(reason)"
        case .malformedImage(let reason): "the bytes are no image: \(reason)"
        case .imageTooLarge(let width, let height, let maxPixels):
            "an image of \(width) by \(height) pixels is larger than \(maxPixels) pixels"
        }
    }
}
