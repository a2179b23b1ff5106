public import CacheStore
public import Configuration

extension ResponseStore.Configuration {
    /// Creates the configuration of a store from the keys that begin with `store.`, such as `store.maxBytes`.
    ///
    /// ```swift
    /// let reader = ConfigReader(provider: EnvironmentVariablesProvider())
    /// let store = try ResponseStore(
    ///     directory: directory, configuration: await ResponseStore.Configuration(reader: reader))
    /// ```
    ///
    /// `Configuration.md` of the package lists the keys.
    ///
    /// - Parameters:
    ///   - reader: Reads the values. Several stores have a scope each, such as `reader.scoped(to: "images")`.
    ///   - defaults: The values of absent keys.
    /// - Throws: ``ConfigurationError`` for the first unusable value.
    public init(reader: ConfigReader, defaults: Self = Self()) async throws(ConfigurationError) {
        self = try await Self.keys.applied(to: defaults, scope: "store", reader)
    }

    package static let keys: [ConfigurationKey<Self>] = [
        ConfigurationKey("maxBytes", .unlimited(.bytes)) { configuration, maxBytes in
            var limits = configuration.limits ?? Limits()
            limits.maxBytes = maxBytes
            limits.maxEntryBytes = Limits(maxBytes: maxBytes).maxEntryBytes
            configuration.limits = limits
        },
        limit("maxEntries", \.maxEntries, .unlimited(.count(from: 0))),
        limit("maxEntryBytes", \.maxEntryBytes, .unlimited(.bytes)),
        limit("maxPartitionBytes", \.maxPartitionBytes, .unlimited(.bytes)),
        limit("maxIdleTime", \.maxIdleTime, .unlimited(.duration)),
        limit("maxAge", \.maxAge, .unlimited(.duration)),
        limit("minFreeBytes", \.minFreeBytes, .unlimited(.bytes)),
        limit("lowWaterMark", \.lowWaterMark, .share),
        .init(
            "evictionPolicy", \.evictionPolicy,
            some: .choice(["leastRecentlyUsed": .leastRecentlyUsed, "valueAware": .valueAware])),
        .init("recordsRequests", \.recordsRequests, some: .flag),
        .init(
            "verification", \.verification,
            .choice(["firstRead": .firstRead, "everyRead": .everyRead, "never": .never])),
        .init("durability", \.durability, .choice(["relaxed": .relaxed, "durable": .durable])),
        .init("secureDelete", \.secureDelete, .flag),
        .init("isReadOnly", \.isReadOnly, .flag),
        .init("acceptsForeignDirectory", \.acceptsForeignDirectory, .flag),
        .init("readerCount", \.readerCount, .count(from: 1)),
        .init("hotKeyCount", \.hotKeyCount, .count(from: 0)),
        .init("openBodyCount", \.openBodyCount, .count(from: 0)),
        .init("cacheByteCount", \.cacheByteCount, .bytes),
        .init("busyTimeout", \.busyTimeout, .duration),
        .init("queryTimeout", \.queryTimeout, .unlimited(.duration)),
        .init("accessInterval", \.accessInterval, .duration),
        .init("logsEviction", \.logsEviction, .flag),
    ]

    private static func limit<Value>(
        _ name: String, _ path: any WritableKeyPath<Limits, Value> & Sendable, _ kind: AcceptedValue<Value>
    ) -> ConfigurationKey<Self> {
        ConfigurationKey(name, kind) { configuration, value in
            var limits = configuration.limits ?? Limits()
            limits[keyPath: path] = value
            configuration.limits = limits
        }
    }
}
