/// The part of a cache key that distinguishes the QUERY requests for one URL: their content and its metadata (RFC 10008
/// §2.7).
///
/// The response to a QUERY represents an *equivalent resource*, which a GET would retrieve (RFC 10008 §2.2). So a cache
/// stores the response under the URL together with this key, and decides about the request like about a GET:
///
/// ```swift
/// guard let query = QueryKey(request, content: content) else { return try await forward(request, content) }
/// let key = url + "#" + SHA256.hash(data: query.bytes).description
/// var get = request
/// get.method = .get
/// let decision = ReuseDecision(for: get, candidates: responses[key, default: []], …)
/// ```
///
/// Never store the response to a QUERY under its URL alone. The decisions of this module refuse the method QUERY.
///
/// Every byte of the content matters. RFC 10008 §2.7 also allows a cache to normalise the content; this type does not.
///
/// Creating a key takes one pass over the content.
public struct QueryKey: Hashable, Sendable {
    /// The most bytes of content with a key: 64 KiB. A cache must read the whole content before it knows the key.
    public static let maxContentByteCount = 65_536

    /// Bytes that are equal only for equal queries. They contain the whole content, so store a digest of them.
    public let bytes: [UInt8]

    /// Creates the key of a QUERY request, or `nil` when the response must not be stored.
    ///
    /// Returns `nil` for another method, for content of more than ``maxContentByteCount`` bytes, and for a request
    /// without `Content-Type`, which "is incorrect by definition" (RFC 10008 §2.1).
    ///
    /// - Parameters:
    ///   - request: The request, with the fields that describe its content.
    ///   - content: The content as sent.
    public init?(_ request: HTTPRequest, content: some Collection<UInt8>) {
        let fields = request.headerFields
        guard request.method == .query, content.count <= Self.maxContentByteCount,
            fields[.contentType].map({ !$0.isEmpty }) ?? false
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(content.count + 128)
        // A field value contains no line feed. So the empty line marks the end of the metadata, and no content can look
        // like metadata.
        for name in [HTTPField.Name.contentType, .contentEncoding, .contentLanguage] {
            for field in fields where field.name == name {
                bytes.append(contentsOf: "\(name.canonicalName):".utf8)
                field.withUnsafeBytesOfValue { bytes.append(contentsOf: $0) }
                bytes.append(UInt8(ascii: "\n"))
            }
        }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: content)
        self.bytes = bytes
    }
}
