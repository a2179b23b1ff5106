public import CacheLoader
public import CacheTier
public import Configuration
internal import HTTPCaching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SharedTier {
    /// Creates a tier from the keys that begin with `tier.`: the engine from `tier.url`, its keys from `tier.keyFile`
    /// or `tier.key`, and its configuration. Returns `nil` if `tier.url` is absent or empty. Sends no request.
    ///
    /// ```swift
    /// var transport: any HTTPTransport = DefaultTransport()
    /// if let tier = try await SharedTier(reader: reader, transport: DefaultTransport()) {
    ///     transport = TieredTransport(tier: tier, origin: transport)
    /// }
    /// ```
    ///
    /// `Configuration.md` of the package lists the keys.
    ///
    /// - Parameters:
    ///   - reader: Reads the values.
    ///   - transport: Carries the requests to the engine. Should not share connections with origins, which may be busy.
    ///   - defaults: The values of absent keys.
    ///   - environment: The variables `AWS_…` for an engine on S3. Also `CACHESTORE_TIER_KEY_FILE` and
    ///     `CACHESTORE_TIER_KEY`, if the reader has no keys of the tier. The environment of the process by default.
    /// - Throws: ``ConfigurationError`` for the first unusable value. It contains no secret.
    public convenience init?(
        reader: ConfigReader, transport: any HTTPTransport, defaults: Configuration = Configuration(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(ConfigurationError) {
        let settings = try await TierSettings.keys.applied(
            to: TierSettings(configuration: defaults), scope: "tier", reader)
        guard !settings.url.isEmpty else { return nil }
        self.init(
            engine: try settings.engine(environment, transport), keys: try settings.tierKeys(environment),
            configuration: settings.configuration)
    }
}

extension SharedTier.Configuration {
    /// Creates the configuration of a tier from the keys that begin with `tier.`, such as `tier.deadline`, for your own
    /// engine.
    ///
    /// - Parameters:
    ///   - reader: Reads the values.
    ///   - defaults: The values of absent keys.
    /// - Throws: ``ConfigurationError`` for the first unusable value.
    public init(reader: ConfigReader, defaults: Self = Self()) async throws(ConfigurationError) {
        self = try await Self.keys.applied(to: defaults, scope: "tier", reader)
    }

    package static let keys: [ConfigurationKey<Self>] =
        CachePolicy.tierKeys.map { .init("policy", \.policy, $0) }
        + [
            .init("name", \.name, .nonEmptyText),
            .init("partition", \.partition, .anyText),
            .init("sharesHeuristically", \.sharesHeuristically, .flag),
            .init("deadline", \.deadline, some: .deadline),
            .init("bodyDeadline", \.bodyDeadline, .positiveDuration),
            .init("writeDeadline", \.writeDeadline, .positiveDuration),
            .init("removalDelay", \.removalDelay, .duration),
            .init("writers", \.writers, .count(from: 1)),
            .init("retention", \.retention, some: .positiveDuration),
            .init("maxBodyBytes", \.maxBodyBytes, .bytes),
            .init("maxPendingBytes", \.maxPendingBytes, .bytes),
        ]
}

/// The values of all keys of a tier.
package struct TierSettings: Sendable {
    fileprivate var url = ""
    fileprivate var keyFile = ""
    fileprivate var key = ""
    fileprivate var configuration: SharedTier.Configuration

    private static let secret = AcceptedValue<String>(
        "the secret of the tier: 64 hexadecimal digits or more", .secret, convert: \.text)

    package static let keys: [ConfigurationKey<Self>] =
        [
            .init("url", \.url, .anyText),
            .init("keyFile", \.keyFile, .anyText),
            .init("key", \.key, secret),
        ] + SharedTier.Configuration.keys.map { .init("", \.configuration, $0) }

    fileprivate func engine(
        _ environment: [String: String], _ transport: any HTTPTransport
    ) throws(ConfigurationError) -> any TierEngine {
        do throws(TierError) {
            return try SharedTier.engine(named: url, environment: environment, transport: transport)
        } catch {
            throw .tier(key: "tier.url", error)
        }
    }

    fileprivate func tierKeys(_ environment: [String: String]) throws(ConfigurationError) -> TierKeys {
        if keyFile.isEmpty, !key.isEmpty {
            guard let keys = try? TierKeys(environment: ["CACHESTORE_TIER_KEY": key]) else {
                throw .invalidValue(key: "tier.key", accepted: Self.secret.description)
            }
            return keys
        }
        let variables = ["CACHESTORE_TIER_KEY_FILE", "CACHESTORE_TIER_KEY"]
        guard !keyFile.isEmpty || variables.contains(where: { environment[$0]?.isEmpty == false }) else {
            throw .invalidValue(key: "tier.keyFile", accepted: "the path of the file with the keys of the tier")
        }
        do throws(TierError) {
            return try keyFile.isEmpty ? TierKeys(environment: environment) : TierKeys(contentsOfFile: keyFile)
        } catch {
            throw .tier(key: "tier.keyFile", error)
        }
    }
}
