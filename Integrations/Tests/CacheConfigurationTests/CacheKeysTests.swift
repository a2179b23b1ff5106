import CacheConfiguration
import CacheLoader
import Configuration
import HTTPCaching
import Testing

/// The cases of the keys that `cache.policy`, `loader.policy` and `tier.policy` share.
func policyCases<Root>(
    _ policy: @escaping @Sendable (Root) -> CachePolicy, isShared: Bool = true
) -> [ConfigurationCase<Root>] {
    let lifetimes: [(String, CachePolicy.LifetimeOverride)] = [
        ("doNotStore", .doNotStore), ("immutable", .immutable), ("fixed 90s", .fixed(.seconds(90))),
        ("forced 1h", .forced(.seconds(3600))),
    ]
    let modes: [(String, CachePolicy.Mode)] = [
        ("cacheFirst", .cacheFirst), ("revalidateAlways", .revalidateAlways), ("remoteOnly", .remoteOnly),
        ("cacheOnly", .cacheOnly),
    ]
    return modes.map { name, mode in .init("policy.mode", name) { policy($0).mode == mode } }
        + lifetimes.map { name, lifetime in
            .init("policy.lifetimeOverride", name) { policy($0).lifetimeOverride == lifetime }
        } + [
            .init("policy.defaultLifetime", "30s") { policy($0).defaultLifetime == .seconds(30) },
            .init("policy.heuristicFraction", "0.25") { policy($0).heuristicFraction == 0.25 },
            .init("policy.heuristicLimit", "1d") { policy($0).heuristicLimit == .seconds(86_400) },
            .init("policy.isShared", "\(isShared)") { policy($0).isShared == isShared },
            .init("policy.targetedFields", "My-Cache-Control, CDN-Cache-Control", json: list) {
                policy($0).targetedFields == ["My-Cache-Control", "CDN-Cache-Control"]
            },
        ]
}

private let list = #"["My-Cache-Control", "CDN-Cache-Control"]"#

/// The cases of the keys that `cache.policy` and `loader.policy` share.
private func requestPolicyCases<Root>(_ policy: @escaping @Sendable (Root) -> CachePolicy) -> [ConfigurationCase<Root>]
{
    policyCases(policy) + [
        .init("policy.staleIfError", "5m") { policy($0).staleIfError == .seconds(300) },
        .init("policy.staleWhenDisconnected", "0s") { policy($0).staleWhenDisconnected == .zero },
        .init("policy.contentKeys", "true") { policy($0).contentKeys },
        .init("policy.verifiesDigests", "true") { policy($0).verifiesDigests },
        .init("policy.usesDictionaries", "true") { policy($0).usesDictionaries },
    ]
}

private func logCases<Root>(_ options: @escaping @Sendable (Root) -> LogOptions) -> [ConfigurationCase<Root>] {
    let single: [(String, LogOptions)] = [
        ("requests", .requests), ("responses", .responses), ("misses", .misses), ("eviction", .eviction),
        ("pressure", .pressure), ("all", .all),
    ]
    return single.map { name, option in
        .init("logOptions", name, json: #"["\#(name)"]"#) { options($0) == option }
    } + [
        .init("logOptions", "errors,misses", json: #"["errors", "misses"]"#) { options($0) == [.errors, .misses] },
        .init("logOptions", "", json: "[]") { options($0) == [] },
    ]
}

@Suite("HTTPCache.Configuration(reader:)")
struct CacheKeysTests {
    private static let cases: [ConfigurationCase<HTTPCache.Configuration>] =
        requestPolicyCases(\.policy) + logCases(\.logOptions) + [
            .init("policy.staleIfError", "unlimited") { $0.policy.staleIfError == .seconds(Int64.max) },
            .init("partition", "tenant") { $0.partition == "tenant" },
            .init("maxBodyBytes", "10MB") { $0.maxBodyBytes == 10_000_000 },
            .init("maxBodyBytes", "unlimited") { $0.maxBodyBytes == .max },
            .init("abandonedBytes", "0") { $0.abandonedBytes == 0 },
            .init("clearsSiteData", "true") { $0.clearsSiteData },
            .init("processWait", "0s") { $0.processWait == .zero },
            .init("cacheStatus.name", "edge") { $0.cacheStatus == CacheStatusOptions(name: "edge") },
            .init("cacheStatus.hasKey", "true") { $0.cacheStatus == CacheStatusOptions(hasKey: true) },
            .init("cacheStatus.hasDetail", "true") { $0.cacheStatus == CacheStatusOptions(hasDetail: true) },
            .init("cacheStatus.enabled", "false") { $0.cacheStatus == nil },
        ]

    @Test("Each key sets its property, from the environment and from a file", arguments: cases)
    func effect(_ each: ConfigurationCase<HTTPCache.Configuration>) async throws {
        try await each.check("cache", default: HTTPCache.Configuration()) { try await .init(reader: $0) }
    }

    @Test("Each key has a case")
    func complete() {
        #expect(Set(Self.cases.map(\.key)) == Set(HTTPCache.Configuration.keys.map(\.name)))
    }

    @Test("Absent keys keep the defaults")
    func defaults() async throws {
        var defaults = HTTPCache.Configuration()
        defaults.policy = CachePolicy(heuristicFraction: 0.3, isShared: true, targetedFields: ["CDN-Cache-Control"])
        defaults.maxBodyBytes = .max
        let reader = ConfigReader.environment(["cache.policy.heuristicFraction": "0.2"])
        let configuration = try await HTTPCache.Configuration(reader: reader, defaults: defaults)
        defaults.policy.heuristicFraction = 0.2
        #expect(configuration.policy == defaults.policy)
        #expect(configuration.maxBodyBytes == .max)
    }
}

@Suite("ResourceLoader.Configuration(reader:)")
struct LoaderKeysTests {
    private static let cases: [ConfigurationCase<ResourceLoader.Configuration>] =
        requestPolicyCases(\.policy) + logCases(\.logOptions) + [
            .init("partition", "tenant") { $0.partition == "tenant" },
            .init("maxBodyBytes", "10MB") { $0.maxBodyBytes == 10_000_000 },
            .init("maxDecodedBytes", "1MiB") { $0.maxDecodedBytes == 1 << 20 },
            .init("maxRedirects", "0") { $0.maxRedirects == 0 },
            .init("retry.maxAttempts", "1") { $0.retry == RetryPolicy(maxAttempts: 1) },
            .init("retry.baseDelay", "2s") { $0.retry == RetryPolicy(baseDelay: .seconds(2)) },
            .init("retry.maxDelay", "2m") { $0.retry == RetryPolicy(maxDelay: .seconds(120)) },
            .init("retry.jitter", "1") { $0.retry == RetryPolicy(jitter: 1) },
            .init("retry.maxRetryAfter", "1h") { $0.retry == RetryPolicy(maxRetryAfter: .seconds(3600)) },
            .init("negativeCaching.lifetime", "1m") { $0.negativeCaching == NegativeCaching(lifetime: .seconds(60)) },
            .init("negativeCaching.maxAttempts", "1") { $0.negativeCaching == NegativeCaching(maxAttempts: 1) },
            .init("lanes.urgent", "64") { $0.lanes == LaneWidths(urgent: 64) },
            .init("lanes.background", "0") { $0.lanes == LaneWidths(background: 0) },
            .init("lanes.perHost", "32") { $0.lanes == LaneWidths(perHost: 32) },
            .init("timeout", "10s") { $0.timeout == .seconds(10) },
            .init("timeout", "unlimited") { $0.timeout == nil },
            .init("memoryLimit", "64MiB") { $0.memoryLimit == 64 << 20 },
            .init("memoryLimit", "unlimited") { $0.memoryLimit == nil },
            .init("loadsFiles", "true") { $0.loadsFiles },
            .init("decodesContent", "false") { !$0.decodesContent },
            .init("contentTypes", "image/*,text/html", json: #"["image/*", "text/html"]"#) {
                $0.contentTypes == ["image/*", "text/html"]
            },
            .init("acceptsMissingContentType", "true") { $0.acceptsMissingContentType },
            .init("processWait", "0s") { $0.processWait == .zero },
            .init("cacheStatus.name", "edge") { $0.cacheStatus == CacheStatusOptions(name: "edge") },
            .init("cacheStatus.hasKey", "true") { $0.cacheStatus == CacheStatusOptions(hasKey: true) },
            .init("cacheStatus.hasDetail", "true") { $0.cacheStatus == CacheStatusOptions(hasDetail: true) },
            .init("cacheStatus.enabled", "true") { $0.cacheStatus == CacheStatusOptions() },
        ]

    @Test("Each key sets its property, from the environment and from a file", arguments: cases)
    func effect(_ each: ConfigurationCase<ResourceLoader.Configuration>) async throws {
        try await each.check("loader", default: ResourceLoader.Configuration()) { try await .init(reader: $0) }
    }

    @Test("Each key has a case")
    func complete() {
        #expect(Set(Self.cases.map(\.key)) == Set(ResourceLoader.Configuration.keys.map(\.name)))
    }

    @Test("Absent keys keep the defaults")
    func defaults() async throws {
        var defaults = ResourceLoader.Configuration()
        defaults.lanes = LaneWidths(urgent: 20, background: 5, perHost: 10)
        let reader = ConfigReader.environment(["loader.lanes.urgent": "30"])
        let configuration = try await ResourceLoader.Configuration(reader: reader, defaults: defaults)
        #expect(configuration.lanes == LaneWidths(urgent: 30, background: 5, perHost: 10))
        #expect(configuration.policy.staleIfError == .seconds(Int64.max))
    }

    @Test("cacheStatus.enabled with false outweighs the other keys of the field")
    func disabledStatus() async throws {
        let reader = ConfigReader.environment(["loader.cacheStatus.name": "edge", "loader.cacheStatus.enabled": "no"])
        #expect(try await ResourceLoader.Configuration(reader: reader).cacheStatus == nil)
    }
}
