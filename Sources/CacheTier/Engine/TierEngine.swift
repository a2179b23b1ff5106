internal import ByteText
internal import CacheFoundation
public import CacheLoader
internal import Crypto
internal import HTTPCaching
public import HTTPTypes

/// The HTTP server that keeps the objects of a tier, and the dialect that it speaks.
///
/// Any server with `GET`, `PUT` and `DELETE` of objects by name is an engine. Its responses must have `Date` and
/// `Last-Modified`, because these are the clock of the tier. The engine's retention, replication and quotas apply to
/// the objects.
public struct TierEngine: Sendable {
    /// Returns the credentials for the next request, for example after a rotation.
    public typealias CredentialsProvider = @Sendable () async throws -> S3Credentials

    private enum Dialect: Sendable {
        case plain(HTTPFields)
        case s3(region: String, CredentialsProvider)
    }

    private let scheme: String
    private let authority: String
    /// Begins with a slash and does not end with one.
    private let folder: String
    private let dialect: Dialect
    /// Whether the engine supports conditional writes.
    let hasConditionalWrites: Bool
    private let transport: any HTTPTransport

    private init(
        _ url: String, _ dialect: Dialect, hasConditionalWrites: Bool, _ transport: any HTTPTransport
    ) throws(TierError) {
        let parts = url.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count >= 2, parts[0] == "http:" || parts[0] == "https:", url.contains("://"),
            !parts[1].contains("@"), url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !url.contains("?"), !url.contains("#")
        else { throw .invalidURL(Self.withoutSecrets(url)) }
        scheme = String(parts[0].dropLast())
        // Without the default port, as in the Host field, because the signature covers it.
        let port = scheme == "https" ? ":443" : ":80"
        authority = String(parts[1].hasSuffix(port) ? parts[1].dropLast(port.count) : parts[1])
        folder = parts.dropFirst(2).map { "/\($0)" }.joined()
        self.dialect = dialect
        self.hasConditionalWrites = hasConditionalWrites
        self.transport = transport
    }

    /// Returns an engine with plain `GET`, `PUT` and `DELETE`, such as nginx with its DAV module.
    ///
    /// - Parameters:
    ///   - url: The folder of the tier: an http or https URL.
    ///   - fields: Fields that each request carries, such as `Authorization`.
    ///   - conditionalWrites: Whether the engine honours `If-None-Match: *` in a `PUT` (RFC 9110 §13.1.2). nginx does
    ///     not.
    ///   - transport: Carries the requests. Should not share connections with origins, which may be busy.
    /// - Throws: ``TierError/invalidURL(_:)``.
    public static func plain(
        _ url: String, fields: HTTPFields = [:], conditionalWrites: Bool = false, transport: any HTTPTransport
    ) throws(TierError) -> TierEngine {
        try TierEngine(url, .plain(fields), hasConditionalWrites: conditionalWrites, transport)
    }

    /// Returns an engine that speaks the REST protocol of S3, with Signature Version 4.
    ///
    /// - Parameters:
    ///   - url: The bucket with an optional prefix, such as `https://s3.eu-west-1.amazonaws.com/bucket/prefix`, or with
    ///     the bucket in the host. The path may contain only letters, digits, `-`, `.`, `_`, `~` and slashes.
    ///   - region: The region for the signatures, such as `eu-west-1`.
    ///   - credentials: Called before each request.
    ///   - conditionalWrites: Whether the engine honours `If-None-Match: *` in a `PUT`, as S3 does since 2024. An engine
    ///     that ignores or refuses the field is recognized automatically.
    ///   - transport: Carries the requests. Should not share connections with origins, which may be busy.
    /// - Throws: ``TierError/invalidURL(_:)``.
    public static func s3(
        _ url: String, region: String, credentials: @escaping CredentialsProvider, conditionalWrites: Bool = true,
        transport: any HTTPTransport
    ) throws(TierError) -> TierEngine {
        let engine = try TierEngine(
            url, .s3(region: region, credentials), hasConditionalWrites: conditionalWrites, transport)
        // S3 signs the encoded path. Every encoding leaves these bytes unchanged.
        let isPlain = engine.folder.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): true
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "-._~/".utf8.contains(byte)
            }
        }
        guard isPlain else { throw .invalidURL(withoutSecrets(url)) }
        return engine
    }

    /// Returns the URL without user, query and fragment, which may contain secrets.
    private static func withoutSecrets(_ url: String) -> String {
        let host = url.lastIndex(of: "@").map { url[url.index(after: $0)...] } ?? url[...]
        return String(host.prefix { $0 != "?" && $0 != "#" })
    }

    /// Sends a request for an object. Returns when the head of the response has arrived.
    ///
    /// - Parameters:
    ///   - name: The name of the object: letters, digits, slashes and hyphens.
    ///   - content: The object to write.
    ///   - fields: Additional fields, which are not signed.
    ///   - now: The time of the signature.
    func send(
        _ method: HTTPRequest.Method, _ name: String, content: Data? = nil, fields: HTTPFields = [:], now: HTTPDate
    ) async throws(TransportError) -> TransportResponse {
        var request = HTTPRequest(method: method, scheme: scheme, authority: authority, path: "\(folder)/\(name)")
        if case .plain(let fields) = dialect { request.headerFields = fields }
        if method == .put { request.headerFields[.contentType] = "application/octet-stream" }
        switch dialect {
        case .plain: break
        case .s3(let region, let provider):
            let credentials: S3Credentials
            do {
                credentials = try await provider()
            } catch {
                throw TransportError(.other, message: "there are no credentials for the engine")
            }
            let hash = SHA256.hash(data: content ?? Data()).hexadecimal
            let time = SignatureV4.text(of: now)
            request.headerFields[.amazonContentDigest] = hash
            request.headerFields[.amazonDate] = time
            if let token = credentials.sessionToken { request.headerFields[.amazonSecurityToken] = token }
            request.headerFields[.authorization] = SignatureV4(credentials: credentials, region: region)
                .authorization(for: request, payloadHash: hash, time: time)
        }
        // No Date: nginx would use the Date of a PUT as the time of the file, which is the clock of the tier.
        request.headerFields += fields
        return try await transport.send(transport.prepare(request), content: content.map { RequestContent($0) })
    }
}

extension TierEngine: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The host of the engine, without fields and credentials.
    public var description: String { "TierEngine(\(authority))" }
    /// The host of the engine, without fields and credentials.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPField.Name {
    fileprivate static let amazonContentDigest = constant("x-amz-content-sha256")
    fileprivate static let amazonDate = constant("x-amz-date")
    fileprivate static let amazonSecurityToken = constant("x-amz-security-token")

    private static func constant(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is a token") }
        return name
    }
}
