public import HTTPTypes

/// The content types that a program accepts. The loader rejects a response of another type.
///
/// ```swift
/// let images = ContentTypeFilter(["image/*"])
/// ```
public struct ContentTypeFilter: Hashable, Sendable {
    /// The accepted types; if empty, the filter accepts no type.
    public var ranges: [MediaRange]
    /// Whether the filter accepts content without a readable `Content-Type`, regardless of the ranges; `false` by
    /// default.
    ///
    /// RFC 9110 §8.3: a recipient may assume `application/octet-stream` for such content, or examine the content.
    public var acceptsMissing: Bool

    /// Creates a filter.
    public init(_ ranges: [MediaRange], acceptsMissing: Bool = false) {
        self.ranges = ranges
        self.acceptsMissing = acceptsMissing
    }

    /// Returns whether the filter accepts content with these fields. Ignores the case and the parameters of
    /// `Content-Type`. Of several fields the last counts, as in browsers.
    public func accepts(_ headerFields: HTTPFields) -> Bool {
        accepts(contentType: headerFields[values: .contentType].last)
    }

    /// Returns whether the filter accepts content with this value of `Content-Type`; `nil` means that the field is
    /// missing.
    public func accepts(contentType: String?) -> Bool {
        guard let mediaType = MediaType(contentType) else { return acceptsMissing }
        return ranges.contains { $0.contains(mediaType) }
    }
}
