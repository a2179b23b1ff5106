import CacheConfiguration
import CacheStore
import Configuration
import Testing

@Suite("ResponseStore.Configuration(reader:)")
struct StoreKeysTests {
    private static let cases: [ConfigurationCase<ResponseStore.Configuration>] = [
        .init("maxBytes", "2GB") { $0.limits?.maxBytes == 2_000_000_000 && $0.limits?.maxEntryBytes == 250_000_000 },
        .init("maxEntries", "7") { $0.limits?.maxEntries == 7 && $0.limits?.maxBytes == 512 << 20 },
        .init("maxEntryBytes", "3MiB") { $0.limits?.maxEntryBytes == 3 << 20 },
        .init("maxPartitionBytes", "5M") { $0.limits?.maxPartitionBytes == 5 << 20 },
        .init("maxIdleTime", "1h") { $0.limits?.maxIdleTime == .seconds(3600) && $0.limits?.maxBytes == 512 << 20 },
        .init("maxAge", "2m") { $0.limits?.maxAge == .seconds(120) },
        .init("minFreeBytes", "2GB") { $0.limits?.minFreeBytes == 2_000_000_000 },
        .init("lowWaterMark", "0.5") { $0.limits?.lowWaterMark == 0.5 },
        .init("evictionPolicy", "valueAware") { $0.evictionPolicy == .valueAware },
        .init("evictionPolicy", "leastRecentlyUsed") { $0.evictionPolicy == .leastRecentlyUsed },
        .init("recordsRequests", "true") { $0.recordsRequests == true },
        .init("recordsRequests", "false") { $0.recordsRequests == false },
        .init("verification", "everyRead") { if case .everyRead = $0.verification { true } else { false } },
        .init("verification", "never") { if case .never = $0.verification { true } else { false } },
        .init("durability", "durable") { if case .durable = $0.durability { true } else { false } },
        .init("secureDelete", "true") { $0.secureDelete },
        .init("isReadOnly", "true") { $0.isReadOnly },
        .init("acceptsForeignDirectory", "true") { $0.acceptsForeignDirectory },
        .init("readerCount", "9") { $0.readerCount == 9 },
        .init("hotKeyCount", "0") { $0.hotKeyCount == 0 },
        .init("openBodyCount", "1") { $0.openBodyCount == 1 },
        .init("cacheByteCount", "65536") { $0.cacheByteCount == 65_536 },
        .init("busyTimeout", "250ms") { $0.busyTimeout == .milliseconds(250) },
        .init("queryTimeout", "unlimited") { $0.queryTimeout == nil },
        .init("queryTimeout", "2m") { $0.queryTimeout == .seconds(120) },
        .init("accessInterval", "1h") { $0.accessInterval == .seconds(3600) },
        .init("logsEviction", "true") { $0.logsEviction },
    ]

    @Test("Each key sets its property, from the environment and from a file", arguments: cases)
    func effect(_ each: ConfigurationCase<ResponseStore.Configuration>) async throws {
        try await each.check("store", default: ResponseStore.Configuration()) { try await .init(reader: $0) }
    }

    @Test("Each key has a case")
    func complete() {
        #expect(Set(Self.cases.map(\.key)) == Set(ResponseStore.Configuration.keys.map(\.name)))
    }

    @Test("Absent keys keep the limits of the defaults, or none")
    func defaults() async throws {
        var defaults = ResponseStore.Configuration()
        defaults.limits = Limits(maxBytes: 800, maxEntries: 5, lowWaterMark: 0.4)
        defaults.readerCount = 7
        let empty = ConfigReader.environment([:])
        let absent = try await ResponseStore.Configuration(reader: empty, defaults: defaults)
        #expect(absent.limits == defaults.limits)
        #expect(absent.readerCount == 7)
        let larger = ConfigReader.environment(["store.maxBytes": "1600"])
        #expect(
            try await ResponseStore.Configuration(reader: larger, defaults: defaults).limits
                == Limits(maxBytes: 1600, maxEntries: 5, maxEntryBytes: 200, lowWaterMark: 0.4))
        defaults.limits = nil
        #expect(try await ResponseStore.Configuration(reader: empty, defaults: defaults).limits == nil)
        let entries = ConfigReader.environment(["store.maxEntries": "3"])
        #expect(
            try await ResponseStore.Configuration(reader: entries, defaults: defaults).limits == Limits(maxEntries: 3))
    }

    @Test("unlimited removes a limit", arguments: ["maxBytes", "maxEntries", "maxEntryBytes", "maxPartitionBytes"])
    func unlimited(key: String) async throws {
        var defaults = ResponseStore.Configuration()
        defaults.limits = Limits(maxBytes: 1, maxEntries: 1, maxEntryBytes: 1, maxPartitionBytes: 1)
        let reader = ConfigReader.environment(["store.\(key)": "unlimited"])
        let limits = try #require(try await ResponseStore.Configuration(reader: reader, defaults: defaults).limits)
        #expect((limits.maxBytes == nil) == (key == "maxBytes"))
        #expect((limits.maxEntries == nil) == (key == "maxEntries"))
        // A new limit of the store also replaces the limit of one body.
        #expect((limits.maxEntryBytes == nil) == (key == "maxEntryBytes" || key == "maxBytes"))
        #expect((limits.maxPartitionBytes == nil) == (key == "maxPartitionBytes"))
    }
}
