import ArgumentParser
import CacheLoader
import CacheTier
import Foundation

/// The shared tier of a command.
struct TierOptions: ParsableArguments {
    @Option(
        name: .customLong("tier"),
        help: ArgumentHelp(
            "A cache that machines share: the URL of its folder, or s3+https://HOST/BUCKET. CACHESTORE_TIER_KEY has its secret.",
            valueName: "url"))
    var url: String?

    @Option(
        name: .customLong("tier-partition"),
        help: ArgumentHelp("The partition of the shared tier, such as a tenant.", valueName: "name"))
    var partition = ""

    @Option(
        name: .customLong("tier-deadline"),
        help: ArgumentHelp(
            "Ask the origin if the shared tier does not answer in as many seconds.", valueName: "seconds"))
    var deadline = 0.5

    func validate() throws {
        if !(deadline > 0 && deadline <= 3600) {
            throw ValidationError("--tier-deadline needs a number of seconds between 0 and 3600")
        }
    }

    /// Fails without the option.
    func requireURL() throws {
        if url == nil { throw ValidationError("--tier needs the URL of the shared tier") }
    }

    /// Returns the tier; `nil` without the option.
    ///
    /// - Parameter transport: Carries the requests to the engine.
    /// - Throws: ``Failure`` without a secret, or for a URL that is none.
    func tier(_ transport: any HTTPTransport) throws -> SharedTier? {
        guard let url else { return nil }
        let environment = ProcessInfo.processInfo.environment
        guard let secret = environment["CACHESTORE_TIER_KEY"].flatMap(Self.bytes) else {
            throw Failure(.broken, "CACHESTORE_TIER_KEY needs the secret of the tier: 64 hexadecimal digits or more")
        }
        var configuration = SharedTier.Configuration()
        configuration.partition = partition
        configuration.deadline = .seconds(deadline)
        configuration.bodyDeadline = max(configuration.bodyDeadline, .seconds(deadline))
        return SharedTier(
            engine: try Self.engine(url, environment, transport), keys: try TierKeys(secret: secret),
            configuration: configuration)
    }

    private static func engine(
        _ url: String, _ environment: [String: String], _ transport: any HTTPTransport
    ) throws -> TierEngine {
        guard url.hasPrefix("s3+") else { return try .plain(url, transport: transport) }
        guard let credentials = S3Credentials(environment: environment) else {
            throw Failure(.broken, "a tier on S3 needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        }
        let region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1"
        return try .s3(
            String(url.dropFirst(3)), region: region, credentials: { credentials }, transport: transport)
    }

    /// The bytes of hexadecimal digits; `nil` for another text, or fewer than 32 bytes.
    private static func bytes(_ digits: String) -> Data? {
        let values = digits.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard values.count == digits.utf8.count, values.count % 2 == 0, values.count >= 64 else { return nil }
        return Data(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}
