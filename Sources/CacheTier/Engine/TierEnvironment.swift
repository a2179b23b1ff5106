internal import CacheFoundation
public import CacheLoader

extension TierKeys {
    /// Creates the keys of a tier from the secret in `CACHESTORE_TIER_KEY`, as `cachestore` does.
    ///
    /// - Parameter environment: The variables, such as `ProcessInfo.processInfo.environment`.
    /// - Throws: ``TierError/environment(_:)`` unless the value has at least 64 hexadecimal digits.
    public init(environment: [String: String]) throws(TierError) {
        guard let secret = environment["CACHESTORE_TIER_KEY"].flatMap(Self.bytes) else {
            throw .environment("CACHESTORE_TIER_KEY needs the secret of the tier: 64 hexadecimal digits or more")
        }
        try self.init(secret: secret)
    }

    /// The bytes of hexadecimal digits. `nil` for other text and for fewer than 32 bytes.
    private static func bytes(_ digits: String) -> Data? {
        let values = digits.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard values.count == digits.utf8.count, values.count % 2 == 0, values.count >= 64 else { return nil }
        return Data(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}

extension TierEngine {
    /// Returns the engine for the URL in a text, as the option `--tier` of `cachestore` does.
    ///
    /// `s3+https://HOST/BUCKET` is an engine that speaks S3. Its credentials come from `AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, its region from `AWS_REGION` or `AWS_DEFAULT_REGION`. The
    /// default region is `us-east-1`. Any other URL is an engine with plain `GET`, `PUT` and `DELETE`.
    ///
    /// - Parameters:
    ///   - text: The URL of the folder, with or without `s3+`.
    ///   - environment: The variables, such as `ProcessInfo.processInfo.environment`.
    ///   - transport: Carries the requests. Should not share connections with origins, which may be busy.
    /// - Throws: ``TierError/invalidURL(_:)``, or ``TierError/environment(_:)`` without credentials for S3.
    public static func named(
        _ text: String, environment: [String: String], transport: any HTTPTransport
    ) throws(TierError) -> TierEngine {
        guard text.hasPrefix("s3+") else { return try .plain(text, transport: transport) }
        guard let credentials = S3Credentials(environment: environment) else {
            throw .environment("a tier on S3 needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        }
        let region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1"
        return try .s3(
            String(text.dropFirst(3)), region: region, credentials: { credentials }, transport: transport)
    }
}
