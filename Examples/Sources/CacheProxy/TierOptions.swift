internal import ArgumentParser
internal import CacheLoader
internal import CacheTier
internal import Foundation
internal import HTTPCaching

/// The options of `cachestore` for the shared tier behind the store.
///
/// Duplicated here, because a product for both programs would make ArgumentParser a dependency of every app.
/// `CacheTier` interprets them: `SharedTier.engine(named:environment:transport:)` and `TierKeys.init(environment:)`.
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
    var partition: String?

    @Option(
        name: .customLong("tier-deadline"),
        help: ArgumentHelp(
            "Wait for an answer of the shared tier for as many seconds; 0.1 by default, 0.5 on S3.",
            valueName: "seconds"))
    var deadline: Double?

    func validate() throws {
        if let deadline, !(deadline > 0 && deadline <= 3600) {
            throw ValidationError("--tier-deadline needs a number of seconds between 0 and 3600")
        }
        guard url == nil else { return }
        if partition != nil { throw ValidationError("--tier-partition needs --tier") }
        if deadline != nil { throw ValidationError("--tier-deadline needs --tier") }
    }

    /// Returns the tier, or `nil` without the option.
    func tier(_ transport: any HTTPTransport, rules: CachePolicy) throws -> SharedTier? {
        guard let url else { return nil }
        let environment = ProcessInfo.processInfo.environment
        var configuration = SharedTier.Configuration()
        if let partition { configuration.partition = partition }
        configuration.policy.targetedFields = rules.targetedFields
        if let deadline { configuration.deadline = .seconds(deadline) }
        return SharedTier(
            engine: try SharedTier.engine(named: url, environment: environment, transport: transport),
            keys: try TierKeys(environment: environment), configuration: configuration)
    }
}
