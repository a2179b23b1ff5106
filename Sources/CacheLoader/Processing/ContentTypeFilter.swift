public import HTTPTypes

/// The types of content that a program takes; an answer of another type is none to it.
///
/// ```swift
/// let images = ContentTypeFilter(["image/*"])
/// ```
public struct ContentTypeFilter: Hashable, Sendable {
    /// What is taken. Nothing is, when this is empty.
    public var ranges: [MediaRange]
    /// Whether content without a readable `Content-Type` is taken, whatever the ranges say; it is not by default.
    ///
    /// RFC 9110 §8.3: such content may be taken for `application/octet-stream`, or examined to see what it is.
    public var acceptsMissing: Bool

    /// Creates a filter.
    public init(_ ranges: [MediaRange], acceptsMissing: Bool = false) {
        self.ranges = ranges
        self.acceptsMissing = acceptsMissing
    }

    /// Whether content with these fields is taken. Case and parameters of `Content-Type` do not matter; of several fields
    /// the last counts, as in browsers.
    public func accepts(_ headerFields: HTTPFields) -> Bool {
        accepts(contentType: headerFields[values: .contentType].last)
    }

    /// Whether content with this value of `Content-Type` is taken; `nil` stands for a field that is missing.
    public func accepts(contentType: String?) -> Bool {
        guard let mediaType = MediaType(contentType) else { return acceptsMissing }
        return ranges.contains { $0.contains(mediaType) }
    }
}
