internal import CacheFoundation
public import CacheLoader

extension TierKeys {
    /// Creates the keys of a tier from the file that `CACHESTORE_TIER_KEY_FILE` names, or from the secret in
    /// `CACHESTORE_TIER_KEY`, as `cachestore` does.
    ///
    /// - Parameter environment: The variables, such as `ProcessInfo.processInfo.environment`.
    /// - Throws: The error of ``init(contentsOfFile:)``. Without a file, ``TierError/environment(_:)`` unless the
    ///   secret has at least 64 hexadecimal digits.
    public init(environment: [String: String]) throws(TierError) {
        if let path = environment["CACHESTORE_TIER_KEY_FILE"], !path.isEmpty {
            self = try TierKeys(contentsOfFile: path)
            return
        }
        guard let secret = environment["CACHESTORE_TIER_KEY"].flatMap(Self.bytes) else {
            throw .environment(
                """
                CACHESTORE_TIER_KEY needs the secret of the tier: 64 hexadecimal digits or more. \
                CACHESTORE_TIER_KEY_FILE may name a file with the keys instead
                """)
        }
        try self.init(secret: secret)
    }
}

extension SharedTier {
    /// Returns the engine for the URL in a text, as the option `--tier` of `cachestore` does.
    ///
    /// `s3+https://HOST/BUCKET` is an ``S3Engine``. Its region comes from `AWS_REGION` or `AWS_DEFAULT_REGION`, by
    /// default `us-east-1`, and its credentials from ``S3Credentials/standard(environment:transport:)``. Any other URL
    /// is a ``PlainEngine``. An empty variable counts as absent, as in the SDKs of AWS.
    ///
    /// - Parameters:
    ///   - text: The URL of the folder, with or without `s3+`.
    ///   - environment: The variables, such as `ProcessInfo.processInfo.environment`.
    ///   - transport: Carries the requests. Should not share connections with origins, which may be busy.
    /// - Throws: ``TierError/invalidURL(_:)``, or ``TierError/environment(_:)`` for `s3://BUCKET`, which names no host.
    public static func engine(
        named text: String, environment: [String: String], transport: any HTTPTransport
    ) throws(TierError) -> any TierEngine {
        let variables = environment.filter { !$0.value.isEmpty }
        let region = variables["AWS_REGION"] ?? variables["AWS_DEFAULT_REGION"] ?? "us-east-1"
        if text.hasPrefix("s3://") {
            let bucket = text.dropFirst(5).prefix { $0 != "?" && $0 != "#" && $0 != "@" }
            throw .environment(
                "\(text.prefix(5))\(bucket) names no host: write s3+https://s3.\(region).amazonaws.com/\(bucket)")
        }
        guard text.hasPrefix("s3+") else { return try PlainEngine(text, transport: transport) }
        return try S3Engine(
            String(text.dropFirst(3)), region: region,
            credentials: S3Credentials.standard(environment: variables, transport: transport), transport: transport)
    }
}
