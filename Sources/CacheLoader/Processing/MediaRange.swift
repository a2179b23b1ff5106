/// One media type, or many: `image/png`, `image/*` or `*/*` (RFC 9110 §12.5.1).
public struct MediaRange: Hashable, Sendable {
    /// In lower case; `nil` for every type.
    private let type: String?
    /// In lower case; `nil` for every subtype.
    private let subtype: String?

    /// Reads a range, in any case. Parameters are ignored.
    ///
    /// - Returns: `nil` when the text is none, as `*/png` is.
    public init?(_ text: String) {
        // "*" is a token: a range has the form of a type.
        guard let parsed = MediaType(text), parsed.type != "*" || parsed.subtype == "*" else { return nil }
        type = parsed.type == "*" ? nil : parsed.type
        subtype = parsed.subtype == "*" ? nil : parsed.subtype
    }

    func contains(_ mediaType: MediaType) -> Bool {
        (type == nil || type == mediaType.type) && (subtype == nil || subtype == mediaType.subtype)
    }
}

extension MediaRange: ExpressibleByStringLiteral {
    /// Creates the range that a source file names. A text that is none is a programmer's mistake, and stops the program.
    public init(stringLiteral text: String) {
        guard let range = MediaRange(text) else {
            preconditionFailure("\(text.debugDescription) is no media range")
        }
        self = range
    }
}

extension MediaRange: CustomStringConvertible {
    /// The range in lower case, without parameters.
    public var description: String { "\(type ?? "*")/\(subtype ?? "*")" }
}
