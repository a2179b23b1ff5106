public import CacheLoader
public import Configuration
internal import HTTPCaching

extension HTTPCache.Configuration {
    /// Creates the configuration of a cache from the keys that begin with `cache.`, such as `cache.policy.isShared`.
    ///
    /// `Configuration.md` of the package lists the keys.
    ///
    /// - Parameters:
    ///   - reader: Reads the values.
    ///   - defaults: The values of absent keys.
    /// - Throws: ``ConfigurationError`` for the first unusable value.
    public init(reader: ConfigReader, defaults: Self = Self()) async throws(ConfigurationError) {
        self = try await Self.keys.applied(to: defaults, scope: "cache", reader)
    }

    package static let keys: [ConfigurationKey<Self>] =
        CachePolicy.keys.map { .init("policy", \.policy, $0) }
        + [
            .init("partition", \.partition, .anyText),
            .init("maxBodyBytes", \.maxBodyBytes, .unlimitedBytes),
            .init("abandonedBytes", \.abandonedBytes, .unlimitedBytes),
            .init("clearsSiteData", \.clearsSiteData, .flag),
            .init("processWait", \.processWait, .duration),
            .init("logOptions", \.logOptions, .logOptions),
        ] + CacheStatusOptions.keys.map { .init("cacheStatus", \.cacheStatus, $0) }
}

extension ResourceLoader.Configuration {
    /// Creates the configuration of a loader from the keys that begin with `loader.`, such as `loader.timeout`.
    ///
    /// `Configuration.md` of the package lists the keys.
    ///
    /// - Parameters:
    ///   - reader: Reads the values.
    ///   - defaults: The values of absent keys.
    /// - Throws: ``ConfigurationError`` for the first unusable value.
    public init(reader: ConfigReader, defaults: Self = Self()) async throws(ConfigurationError) {
        self = try await Self.keys.applied(to: defaults, scope: "loader", reader)
    }

    package static let keys: [ConfigurationKey<Self>] =
        CachePolicy.keys.map { .init("policy", \.policy, $0) }
        + [
            .init("partition", \.partition, .anyText),
            .init("maxBodyBytes", \.maxBodyBytes, .unlimitedBytes),
            .init("maxDecodedBytes", \.maxDecodedBytes, .unlimitedBytes),
            .init("maxRedirects", \.maxRedirects, .count(from: 0)),
            .init("retry.maxAttempts", \.retry.maxAttempts, .count(from: 1)),
            .init("retry.baseDelay", \.retry.baseDelay, .duration),
            .init("retry.maxDelay", \.retry.maxDelay, .duration),
            .init("retry.jitter", \.retry.jitter, .share),
            .init("retry.maxRetryAfter", \.retry.maxRetryAfter, .duration),
            .init("negativeCaching.lifetime", \.negativeCaching.lifetime, some: .duration),
            .init("negativeCaching.maxAttempts", \.negativeCaching.maxAttempts, .count(from: 1)),
            .init("lanes.urgent", \.lanes.urgent, .count(from: 0)),
            .init("lanes.background", \.lanes.background, .count(from: 0)),
            .init("lanes.perHost", \.lanes.perHost, .count(from: 0)),
            .init("timeout", \.timeout, .unlimited(.positiveDuration)),
            .init("memoryLimit", \.memoryLimit, .unlimited(.bytes)),
            .init("loadsFiles", \.loadsFiles, .flag),
            .init("decodesContent", \.decodesContent, .flag),
            .init("contentTypes", \.contentTypes, some: .contentTypes),
            .init("acceptsMissingContentType", \.acceptsMissingContentType, .flag),
            .init("processWait", \.processWait, .duration),
            .init("logOptions", \.logOptions, .logOptions),
        ] + CacheStatusOptions.keys.map { .init("cacheStatus", \.cacheStatus, $0) }
}

extension CacheStatusOptions {
    /// The keys of the field `Cache-Status`. Each value switches the field on, except `enabled` with `false`.
    fileprivate static let keys: [ConfigurationKey<Self?>] = [
        .init("name", .nonEmptyText) {
            $0 = $0 ?? Self(); $0?.name = $1
        },
        .init("hasKey", .flag) {
            $0 = $0 ?? Self(); $0?.hasKey = $1
        },
        .init("hasDetail", .flag) {
            $0 = $0 ?? Self(); $0?.hasDetail = $1
        },
        .init("enabled", .flag) { $0 = $1 ? $0 ?? Self() : nil },
    ]
}

extension AcceptedValue<Int64> {
    /// A number of bytes, or the largest one.
    fileprivate static let unlimitedBytes = Self("\(Self.bytes.description), or unlimited", .textOrInteger) { raw in
        raw.text == "unlimited" ? .max : Self.bytes.convert(raw)
    }
}

extension AcceptedValue<LogOptions> {
    private static let options: KeyValuePairs<String, LogOptions> = [
        "requests": .requests, "responses": .responses, "errors": .errors, "misses": .misses, "eviction": .eviction,
        "pressure": .pressure, "all": .all,
    ]

    fileprivate static let logOptions = Self("a list of \(options.map(\.key).joined(separator: ", "))", .list) { raw in
        let names = AcceptedValue<[LogOptions]>.list(of: "") { name in options.first { $0.key == name }?.value }
        return names.convert(raw).map { LogOptions($0) }
    }
}

extension AcceptedValue<[MediaRange]> {
    fileprivate static let contentTypes = Self("a list of media ranges such as image/*, which is not empty", .list) {
        raw in
        let ranges = Self.list(of: "", convert: { MediaRange($0) }).convert(raw)
        return ranges?.isEmpty == true ? nil : ranges
    }
}
