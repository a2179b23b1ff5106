public import HTTPTypes

/// The information about a response that a processor receives in addition to the bytes.
public struct ProcessingContext: Hashable, Sendable {
    /// The URL of the bytes, after redirects.
    public var url: String
    /// The fields of the response.
    public var headerFields: HTTPFields

    /// Creates a context.
    public init(url: String, headerFields: HTTPFields = [:]) {
        self.url = url
        self.headerFields = headerFields
    }

    /// The value of `Content-Type` with its parameters. Of several fields the last counts, as in browsers.
    public var contentType: String? { headerFields[values: .contentType].last }
}
