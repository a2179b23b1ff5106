package import HTTPTypes

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
