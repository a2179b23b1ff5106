public import HTTPTypes

/// What a processor may know of a response besides its bytes.
public struct ProcessingContext: Hashable, Sendable {
    /// The URL that the bytes are from, after redirects.
    public var url: String
    /// The fields of the response.
    public var headerFields: HTTPFields

    /// Creates a context.
    public init(url: String, headerFields: HTTPFields = [:]) {
        self.url = url
        self.headerFields = headerFields
    }

    /// The value of `Content-Type`, parameters included; of several the last, as browsers have it.
    public var contentType: String? { headerFields[values: .contentType].last }
}
