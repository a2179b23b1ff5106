public import CacheFoundation

/// A response of the origin with an unsuccessful status, such as 404 or 503.
///
/// The body often gives the reason, for example as `application/problem+json` (RFC 9457):
///
/// ```swift
/// do throws(LoadError) {
///     feed = try await loader.load(url)
/// } catch .httpStatus(let error) {
///     problem = try? JSONDecoder().decode(Problem.self, from: error.body)
/// }
/// ```
///
/// An error holds only the start of a long body. It holds no body if a stale response is served instead
/// (``Loaded/failure``). It holds neither fields nor body if ``NegativeCaching`` keeps the load from the origin.
public struct OriginError: Error, Hashable, Sendable {
    /// The limit of ``body`` in bytes: 65,536.
    public static let maxBodyBytes = 65_536

    /// The status.
    public let status: HTTPResponse.Status
    /// The URL of the response, after redirects, normalized.
    public let url: String
    /// The fields of the response. They may contain secrets, such as `Set-Cookie`.
    public let headerFields: HTTPFields
    /// The start of the body, up to ``maxBodyBytes``. With ``ResourceLoader/Configuration/decodesContent`` it has no
    /// content coding, and ``headerFields`` name none.
    public let body: Data
    /// Whether the origin has, or may have, sent more than ``body``: a longer body, or one that broke off.
    public let isBodyTruncated: Bool

    /// Creates an error, for example in a test transport.
    public init(
        status: HTTPResponse.Status, url: String, headerFields: HTTPFields = [:], body: Data = Data(),
        isBodyTruncated: Bool = false
    ) {
        self.status = status
        self.url = url
        self.headerFields = headerFields
        self.body = body
        self.isBodyTruncated = isBodyTruncated
    }
}

extension OriginError: CustomStringConvertible {
    /// The URL and the status code, without the body and the fields.
    public var description: String { "\(url): the origin answered with status \(status.code)" }
}
