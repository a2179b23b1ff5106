/// The reason why a processor of this library failed. Other processors may throw other errors.
@nonexhaustive
public enum ProcessingError: Error, Hashable, Sendable {
    /// The response names an unsupported charset.
    case unknownCharset(String)
    /// The bytes are not valid in the charset of the response, its byte order mark or the default.
    case malformedText(charset: String)
    /// The bytes are not JSON, or not a value of the type. The path names the position, as in `entries[3].title`. At
    /// the top level the path is empty.
    case malformedJSON(type: String, path: String, reason: String)
}

extension ProcessingError: CustomStringConvertible {
    /// Describes the error.
    public var description: String {
        switch self {
        case .unknownCharset(let name): "the charset \(name.prefix(100).debugDescription) is not supported"
        case .malformedText(let charset): "the bytes are no text in \(charset)"
        case .malformedJSON(let type, let path, let reason):
            "the bytes are no JSON of a \(type)\(path.isEmpty ? "" : ", at \(path)"): \(reason)"
        }
    }
}
