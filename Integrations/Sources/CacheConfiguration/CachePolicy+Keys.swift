internal import CacheLoader
internal import HTTPCaching
internal import HTTPTypes

extension CachePolicy {
    static let keys: [ConfigurationKey<Self>] =
        tierKeys + [
            .init("staleIfError", \.staleIfError, some: .longDuration),
            .init("staleWhenDisconnected", \.staleWhenDisconnected, .longDuration),
            .init("contentKeys", \.contentKeys, .flag),
            .init("verifiesDigests", \.verifiesDigests, .flag),
            .init("usesDictionaries", \.usesDictionaries, .flag),
        ]

    /// The keys that a tier also has: it never serves stale on error, and knows neither content nor dictionaries.
    static let tierKeys: [ConfigurationKey<Self>] = [
        .init(
            "mode", \.mode,
            .choice([
                "http": .http, "cacheFirst": .cacheFirst, "revalidateAlways": .revalidateAlways,
                "remoteOnly": .remoteOnly, "cacheOnly": .cacheOnly,
            ])),
        .init("lifetimeOverride", \.lifetimeOverride, .lifetimeOverride),
        .init("defaultLifetime", \.defaultLifetime, .duration),
        .init("heuristicFraction", \.heuristicFraction, .share),
        .init("heuristicLimit", \.heuristicLimit, .duration),
        .init("isShared", \.isShared, .flag),
        .init("targetedFields", \.targetedFields, .targetedFields),
    ]
}

extension AcceptedValue<CachePolicy.LifetimeOverride> {
    fileprivate static let lifetimeOverride = Self(
        "serverPolicy, doNotStore, immutable, or a duration after fixed or forced, such as fixed 1h", .text
    ) { raw in
        let words = raw.text?.split(separator: " ").map(String.init) ?? []
        switch (words.first, words.count) {
        case ("serverPolicy", 1): return .serverPolicy
        case ("doNotStore", 1): return .doNotStore
        case ("immutable", 1): return .immutable
        case ("fixed", 2): return Duration(text: words[1]).map { .fixed($0) }
        case ("forced", 2): return Duration(text: words[1]).map { .forced($0) }
        default: return nil
        }
    }
}

extension AcceptedValue<[String]> {
    fileprivate static let targetedFields = Self.list(
        of: "field names such as CDN-Cache-Control, without Cache-Control and Expires"
    ) { (name: String) -> String? in
        guard let name = HTTPField.Name(name), !["cache-control", "expires"].contains(name.canonicalName) else {
            return nil
        }
        return name.rawName
    }
}
