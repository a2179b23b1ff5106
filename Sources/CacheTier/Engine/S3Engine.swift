internal import ByteText
public import CacheFoundation
public import CacheLoader
internal import Crypto

/// A server that speaks the REST protocol of S3, with Signature Version 4.
public struct S3Engine: TierEngine {
    private let requests: ObjectRequests

    /// Creates an engine. Sends no request.
    ///
    /// - Parameters:
    ///   - url: The bucket with an optional prefix, such as `https://s3.eu-west-1.amazonaws.com/bucket/prefix`, or with
    ///     the bucket in the host. The path may contain only letters, digits, `-`, `.`, `_`, `~` and slashes.
    ///   - region: The region for the signatures, such as `eu-west-1`.
    ///   - credentials: Called before each request, so it should keep the credentials.
    ///   - conditionalWrites: Whether the server honours `If-None-Match: *` in a `PUT`, as S3 does since 2024.
    ///   - transport: Carries the requests. Should not share connections with origins, which may be busy.
    ///   - clock: The time of signatures before the first response. The system clock by default.
    /// - Throws: ``TierError/invalidURL(_:)``.
    public init(
        _ url: String, region: String, credentials: @escaping S3Credentials.Provider, conditionalWrites: Bool = true,
        transport: any HTTPTransport, clock: @escaping @Sendable () -> Date = { Date() }
    ) throws(TierError) {
        requests = try ObjectRequests(url, conditionalWrites, transport: transport, clock: clock) {
            (request, content, now) throws(TierEngineError) in
            let present: S3Credentials
            do {
                present = try await credentials()
            } catch {
                throw .refused("there are no credentials for the engine: \(error)")
            }
            let hash = SHA256.hash(data: content).hexadecimal
            let time = SignatureV4.text(of: now)
            request.headerFields[.amazonContentDigest] = hash
            request.headerFields[.amazonDate] = time
            if let token = present.sessionToken { request.headerFields[.amazonSecurityToken] = token }
            request.headerFields[.authorization] = SignatureV4(credentials: present, region: region)
                .authorization(for: request, payloadHash: hash, time: time)
        }
        // S3 signs the encoded path. Every encoding leaves these bytes unchanged.
        let isPlain = requests.folder.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "/") }
        guard isPlain else { throw .invalidURL(ObjectRequests.withoutSecrets(url)) }
    }

    /// 500 milliseconds: S3 answers a small request in 20 to 200.
    public var deadline: Duration { .milliseconds(500) }

    /// Whether the server honours the condition, as far as known.
    public var hasConditionalWrites: Bool { requests.hasConditionalWrites }

    /// Requests an object.
    public func object(named name: String) async throws(TierEngineError) -> TierObject {
        try await requests.object(named: name)
    }

    /// Writes an object.
    public func put(_ bytes: Data, as name: String, onlyIfAbsent: Bool) async throws(TierEngineError) -> Bool {
        try await requests.put(bytes, as: name, onlyIfAbsent: onlyIfAbsent)
    }

    /// Deletes an object.
    public func delete(_ name: String) async throws(TierEngineError) { try await requests.delete(name) }
}

extension S3Engine: CustomStringConvertible, CustomReflectable {
    /// The host of the engine, without credentials.
    public var description: String { "S3Engine(\(requests.authority))" }
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
