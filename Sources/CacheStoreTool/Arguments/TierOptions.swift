import ArgumentParser
import CacheLoader
import CacheTier
import Foundation

/// The shared-tier options of a command that loads.
struct TierOptions: ParsableArguments {
    @Option(name: .customLong("tier"), help: TierURL.help)
    var option: String?

    @OptionGroup var partition: TierPartition
    @OptionGroup var deadline: TierDeadline

    private var url: String? { option ?? TierURL.ofEnvironment }

    func validate() throws {
        guard url == nil else { return }
        if partition.name != nil { throw ValidationError("--tier-partition needs --tier") }
        if deadline.seconds != nil { throw ValidationError("--tier-deadline needs --tier") }
    }

    /// The tier, or `nil` without option and variable. Throws ``TierError`` for a missing secret or an invalid URL.
    func tier(_ connections: ConnectionOptions, idleTimeout: Duration) throws -> SharedTier? {
        try url.map { try SharedTier.named($0, connections, idleTimeout: idleTimeout, partition, deadline) }
    }
}

/// The required tier of a command, and the connections to its engine.
struct TierURL: ParsableArguments {
    fileprivate static let help = ArgumentHelp(
        "A cache that machines share: the URL of its folder, or s3+https://HOST/BUCKET. CACHESTORE_TIER_KEY has its secret.",
        discussion: "Without it: the URL in CACHESTORE_TIER.", valueName: "url")

    fileprivate static var ofEnvironment: String? { Environment["CACHESTORE_TIER"] }

    @Option(name: .customLong("tier"), help: Self.help)
    var option: String?

    @OptionGroup var connections: ConnectionOptions

    func validate() throws {
        _ = try url()
    }

    private func url() throws -> String {
        guard let url = option ?? Self.ofEnvironment else {
            throw ValidationError("name the tier with --tier, or in the variable CACHESTORE_TIER")
        }
        return url
    }

    /// Returns the tier. Throws the same errors as ``TierOptions/tier(_:idleTimeout:)``.
    func tier(_ partition: TierPartition? = nil, _ deadline: TierDeadline? = nil) throws -> SharedTier {
        connections.warn()
        return try SharedTier.named(url(), connections, idleTimeout: .seconds(60), partition, deadline)
    }
}

/// The partition of a shared tier.
struct TierPartition: ParsableArguments {
    @Option(
        name: .customLong("tier-partition"),
        help: ArgumentHelp("The partition of the shared tier, such as a tenant.", valueName: "name"))
    var name: String?
}

/// The longest wait for a shared tier.
struct TierDeadline: ParsableArguments {
    @Option(
        name: .customLong("tier-deadline"),
        help: ArgumentHelp(
            "Wait for an answer of the shared tier for as many seconds; 0.1 by default, 0.5 on S3.",
            valueName: "seconds"))
    var seconds: Double?

    func validate() throws {
        if let seconds, !(seconds > 0 && seconds <= 3600) {
            throw ValidationError("--tier-deadline needs a number of seconds between 0 and 3600")
        }
    }
}

extension SharedTier {
    /// Returns the tier at a URL, with the secret from the environment.
    fileprivate static func named(
        _ url: String, _ connections: ConnectionOptions, idleTimeout: Duration, _ partition: TierPartition?,
        _ deadline: TierDeadline?
    ) throws -> SharedTier {
        // The deadline of the tier includes waiting for a connection.
        let transport = try connections.transport(perHost: 32, idleTimeout: idleTimeout)
        let environment = ProcessInfo.processInfo.environment
        var configuration = Configuration()
        if let name = partition?.name { configuration.partition = name }
        if let seconds = deadline?.seconds { configuration.deadline = .seconds(seconds) }
        return SharedTier(
            engine: try SharedTier.engine(named: url, environment: environment, transport: transport),
            keys: try TierKeys(environment: environment), configuration: configuration)
    }
}
