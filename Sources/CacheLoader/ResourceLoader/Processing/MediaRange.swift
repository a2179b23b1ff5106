/// One or many media types: `image/png`, `image/*` or `*/*` (RFC 9110 §12.5.1).
public struct MediaRange: Hashable, Sendable {
    /// The type in lower case, or `nil` for every type.
    private let type: String?
    /// The subtype in lower case, or `nil` for every subtype.
    private let subtype: String?

    /// Parses a range, in any case. Ignores parameters.
    ///
    /// - Returns: `nil` for text that is not a range, such as `*/png`.
    public init?(_ text: String) {
        // "*" is a token, so a range has the syntax of a media type.
        guard let parsed = MediaType(text), parsed.type != "*" || parsed.subtype == "*" else { return nil }
        type = parsed.type == "*" ? nil : parsed.type
        subtype = parsed.subtype == "*" ? nil : parsed.subtype
    }

    func contains(_ mediaType: MediaType) -> Bool {
        (type == nil || type == mediaType.type) && (subtype == nil || subtype == mediaType.subtype)
    }
}

extension MediaRange: ExpressibleByStringLiteral {
    /// Creates the range of a literal. A literal that is not a range is a programmer's mistake and stops the program.
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

/// The content types that a program accepts.
package struct ContentTypeFilter: Hashable, Sendable {
    /// The accepted types; if empty, the filter accepts no type.
    package let ranges: [MediaRange]
    /// Whether the filter accepts content without a readable `Content-Type`, regardless of the ranges.
    package let acceptsMissing: Bool

    package init(_ ranges: [MediaRange], acceptsMissing: Bool = false) {
        self.ranges = ranges
        self.acceptsMissing = acceptsMissing
    }

    /// Ignores the case and the parameters of `Content-Type`. Of several fields the last counts, as in browsers.
    package func accepts(_ headerFields: HTTPFields) -> Bool {
        accepts(contentType: headerFields[values: .contentType].last)
    }

    /// `nil` means that `Content-Type` is missing.
    package func accepts(contentType: String?) -> Bool {
        guard let mediaType = MediaType(contentType) else { return acceptsMissing }
        return ranges.contains { $0.contains(mediaType) }
    }
}
